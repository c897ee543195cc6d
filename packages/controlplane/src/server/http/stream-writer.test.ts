import { Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { KINDS } from '../../registry/testing/catalog.ts'
import { unstored } from '../../registry/decode/derived-object.ts'
import type { WatchItem, WatchSession } from '../../registry/request.ts'
import type { StoredObject } from '../../storage/types.ts'
import { ListBody } from '../encoding/list-body.ts'
import { WHOLE } from '../encoding/negotiation.ts'
import { sendList, sendWatch } from './stream-writer.ts'
import { WatchFeed } from '../watch/watch-feed.ts'

function stored(name: string, size = 0): StoredObject {
  const metadata = { name, uid: name, resourceVersion: '7', creationTimestamp: '2026-01-01T00:00:00Z' }
  const data = { payload: 'x'.repeat(size) }
  return unstored(name, { kind: 'ConfigMap', apiVersion: 'v1', metadata, data } as StoredObject['object'])
}

/** Accepts a piece each time the test says so. */
class Reader extends Writable {
  readonly pieces: string[] = []
  #taken: (() => void) | undefined
  #waiting: { chunk: Buffer; done: () => void } | undefined

  override _write(chunk: Buffer, _: string, done: () => void): void {
    this.#waiting = { chunk, done }
    this.#taken?.()
  }

  async read(): Promise<string> {
    if (!this.#waiting) await new Promise<void>((resolve) => (this.#taken = resolve))
    const { chunk, done } = this.#waiting ?? { chunk: Buffer.alloc(0), done: () => undefined }
    this.#waiting = undefined
    this.pieces.push(chunk.toString())
    done()
    return chunk.toString()
  }
}

const list = (name: string): ListBody => {
  const items = Array.from({ length: 1000 }, (_, index) => stored(`${name}-${index}`, 1000))
  return new ListBody('{"items":[', items, ({ json }) => json, ']}\n')
}

test('concurrent lists are not mixed, however fast they are read', async () => {
  const [first, second] = [list('first'), list('second')]
  const [slow, fast] = [new Reader(), new Reader()]
  sendList(first, slow)
  sendList(second, fast)
  await slow.read()
  while (!fast.writableEnded) await fast.read()
  // The next list reuses the buffer of the finished one.
  const third = list('third')
  const next = new Reader()
  sendList(third, next)
  await next.read()
  while (!slow.writableEnded) await slow.read()
  while (!next.writableEnded) await next.read()
  expect(slow.pieces.join('')).toBe(first.text())
  expect(fast.pieces.join('')).toBe(second.text())
  expect(next.pieces.join('')).toBe(third.text())
  expect(slow.pieces.length).toBeGreaterThan(2)
})

test('a reader that disconnects in the middle of a list does not affect others', async () => {
  const gone = new Reader()
  sendList(list('gone'), gone)
  await gone.read()
  gone.destroy()
  const whole = list('whole')
  const chunks: Buffer[] = []
  const out = new Writable({
    write(chunk: Buffer, _, done) {
      chunks.push(Buffer.from(chunk))
      done()
    },
  })
  const finished = new Promise<void>((resolve) => out.on('finish', resolve))
  sendList(whole, out)
  await finished
  expect(Buffer.concat(chunks).toString()).toBe(whole.text())
})

class Changes implements WatchSession {
  send: (item: WatchItem) => void = () => undefined
  ended: () => void = () => undefined

  open(send: (item: WatchItem) => void, ended: () => void): void {
    this.send = send
    this.ended = ended
  }

  close(): void {
    this.ended()
  }
}

test('events that arrive while other watches are written are sent once and in order', async () => {
  const options = { definition: KINDS.configMap, representation: WHOLE, includeObject: undefined, now: 0 }
  const watches = Array.from({ length: 600 }, () => {
    const session = new Changes()
    const seen: Buffer[] = []
    const out = new Writable({
      write(chunk: Buffer, _, done) {
        seen.push(chunk)
        done()
      },
    })
    const closed = new Promise<void>((resolve) => out.on('finish', resolve))
    sendWatch(new WatchFeed(session, options), out, () => out.destroy())
    return { session, seen, closed }
  })
  const items = Array.from({ length: 20 }, (_, index): WatchItem => ({ type: 'ADDED', stored: stored(`n-${index}`) }))
  for (const item of items) for (const { session } of watches) session.send(item)
  for (const { session } of watches) session.close()
  await Promise.all(watches.map(({ closed }) => closed))
  const expected = items.map((item) => ('stored' in item ? item.stored.key : ''))
  for (const { seen } of watches) {
    const lines = Buffer.concat(seen).toString().trimEnd().split('\n')
    expect(
      lines.map((line) => (JSON.parse(line) as { object: { metadata: { name: string } } }).object.metadata.name),
    ).toEqual(expected)
  }
  // All watches receive the same bytes in one piece.
  expect(new Set(watches.flatMap(({ seen }) => seen)).size).toBe(1)
})

test('a watch waits for its slow reader', async () => {
  const session = new Changes()
  const options = { definition: KINDS.configMap, representation: WHOLE, includeObject: undefined, now: 0 }
  const out = new Reader({ highWaterMark: 1 })
  sendWatch(new WatchFeed(session, options), out, () => out.destroy())
  session.send({ type: 'ADDED', stored: stored('a') })
  const first = await out.read()
  session.send({ type: 'ADDED', stored: stored('b') })
  session.send({ type: 'ADDED', stored: stored('c') })
  const second = await out.read()
  expect([first, second].map((text) => text.trimEnd().split('\n').length)).toEqual([1, 2])
})
