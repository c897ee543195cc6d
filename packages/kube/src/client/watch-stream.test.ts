import { getEventListeners } from 'node:events'
import { describe, expect, test } from 'vitest'
import type { WatchEvent } from './api.ts'
import { ConnectionError } from '../errors/errors.ts'
import { defineKind } from '../model/kind.ts'
import type { KubeObject } from '../model/object.ts'
import { FedBody } from '../testing/scripted-transport.ts'
import { settle, VirtualClock } from '../testing/virtual-clock.ts'
import type { TransportResponse } from '../transport/transport.ts'
import { WatchStream } from './watch-stream.ts'
import type { WatchStreamOptions } from './watch-stream.ts'

const Note = defineKind({ apiVersion: 'example.dev/v1', kind: 'Note' })
const line = (name: string): string =>
  `${JSON.stringify({ type: 'ADDED', object: { metadata: { name, resourceVersion: '1' } } })}\n`
const names = (batch: readonly WatchEvent<KubeObject>[] | undefined): unknown[] =>
  (batch ?? []).map((event) => event.type !== 'BOOKMARK' && event.object.metadata.name)

interface Started {
  readonly body: FedBody
  readonly clock: VirtualClock
  readonly stream: WatchStream<KubeObject>
  readonly signals: AbortSignal[]
}

function start(options: Partial<WatchStreamOptions<KubeObject>> = {}): Started {
  const body = new FedBody()
  const clock = new VirtualClock()
  const signals: AbortSignal[] = []
  const open = (signal: AbortSignal): Promise<TransportResponse> => {
    signals.push(signal)
    return Promise.resolve(body.response())
  }
  return { body, clock, signals, stream: new WatchStream({ kind: Note, clock, open, ...options }) }
}

describe('WatchStream', () => {
  test('batches come in order, and the stream ends with the response', async () => {
    const { body, stream } = start()
    body.push(line('a') + line('b'))
    body.push(line('c').slice(0, 5))
    body.push(line('c').slice(5))
    body.end()
    const seen: unknown[] = []
    for await (const batch of stream) seen.push(names(batch))
    expect(seen).toEqual([['a', 'b'], ['c']])
    expect(await stream.next()).toEqual({ done: true, value: undefined })
  })

  test('the request starts with the first read, and a chunk is pulled only for the next batch', async () => {
    const { body, stream, signals } = start()
    await settle()
    expect(signals).toHaveLength(0)
    for (const name of ['a', 'b', 'c']) body.push(line(name))
    await stream.next()
    await settle()
    expect(body.pulls).toBe(1)
    await stream.next()
    await settle()
    expect(body.pulls).toBe(2)
    await stream.return()
  })

  test('onOpen is called once, before any event', async () => {
    let opened = 0
    const { body, stream } = start({ onOpen: () => opened++ })
    const next = stream.next()
    await settle()
    expect(opened).toBe(1)
    body.push(line('a'))
    expect(names((await next).value)).toEqual(['a'])
    body.end()
    await stream.next()
    expect(opened).toBe(1)
  })

  test('onOpen is not called for a rejected or cancelled watch', async () => {
    let opened = 0
    const onOpen = (): number => opened++
    const refused = start({ onOpen, open: () => Promise.reject(new ConnectionError('TENURE_TEST_LOST', 'refused')) })
    await expect(refused.stream.next()).rejects.toMatchObject({ code: 'TENURE_TEST_LOST' })
    const opening = Promise.withResolvers<TransportResponse>()
    const late = start({ onOpen, open: () => opening.promise })
    const next = late.stream.next()
    await settle()
    await late.stream.return()
    opening.resolve(late.body.response())
    expect((await next).done).toBe(true)
    await settle()
    expect(opened).toBe(0)
  })

  test('concurrent calls of next resolve in order', async () => {
    const { body, stream } = start()
    const results = [stream.next(), stream.next(), stream.next()]
    body.push(line('a'))
    body.push(line('b'))
    body.end()
    const [first, second, third] = await Promise.all(results)
    expect([names(first?.value), names(second?.value), third?.done]).toEqual([['a'], ['b'], true])
  })

  test('leaving the loop cancels the body', async () => {
    const { body, clock, stream, signals } = start({ idleTimeout: 1000 })
    body.push(line('a'))
    for await (const batch of stream) {
      expect(names(batch)).toEqual(['a'])
      break
    }
    expect(body.cancelled).toBe(true)
    expect(signals[0]?.aborted).toBe(true)
    expect(clock.pending).toBe(0)
  })

  test('return ends a pending next', async () => {
    const { body, stream } = start()
    const waiting = stream.next()
    await settle()
    await stream.return()
    expect(await waiting).toEqual({ done: true, value: undefined })
    expect(body.cancelled).toBe(true)
  })

  test.each(['while it waits', 'between two reads', 'before it is read'])(
    'a stream that is aborted %s throws the reason',
    async (when) => {
      const abort = new AbortController()
      const { body, clock, stream } = start({ signal: abort.signal, idleTimeout: 1000 })
      if (when === 'before it is read') abort.abort(new Error('enough'))
      if (when === 'between two reads') {
        body.push(line('a'))
        await stream.next()
        abort.abort(new Error('enough'))
      }
      const waiting = stream.next().catch((error: unknown) => error)
      await settle()
      abort.abort(new Error('enough'))
      expect(await waiting).toMatchObject({ message: 'enough' })
      expect((await stream.next()).done).toBe(true)
      expect(body.cancelled).toBe(when !== 'before it is read')
      expect(clock.pending).toBe(0)
      expect(getEventListeners(abort.signal, 'abort')).toHaveLength(0)
    },
  )

  test('a response that arrives after return is cancelled', async () => {
    const body = new FedBody()
    const opening = Promise.withResolvers<TransportResponse>()
    const { stream } = start({ open: () => opening.promise })
    const waiting = stream.next()
    await settle()
    await stream.return()
    expect((await waiting).done).toBe(true)
    opening.resolve(body.response())
    await settle()
    expect(body.cancelled).toBe(true)
  })

  test('return ends the stream at any moment around the response', async () => {
    for (let turns = 0; turns < 12; turns++) {
      const { body, stream } = start()
      const waiting = stream.next()
      for (let turn = 0; turn < turns; turn++) await Promise.resolve()
      await stream.return()
      expect((await waiting).done).toBe(true)
      await settle()
      expect(body.cancelled || body.pulls === 0).toBe(true)
    }
  })

  test('an idle stream fails, and any byte postpones that', async () => {
    const { body, clock, stream } = start({ idleTimeout: 1000 })
    let failure: unknown
    const waiting = stream.next().catch((error: unknown) => (failure = error))
    for (const letter of line('a').slice(0, 5)) {
      await clock.advance(900)
      body.push(letter)
    }
    await clock.advance(999)
    expect(failure).toBeUndefined()
    await clock.advance(1)
    await waiting
    expect(failure).toBeInstanceOf(ConnectionError)
    expect(failure).toMatchObject({ code: 'TENURE_WATCH_QUIET', fate: 'retry' })
    expect(body.cancelled).toBe(true)
    expect(clock.pending).toBe(0)
  })

  test('a slow reader does not make the stream idle', async () => {
    const { body, clock, stream } = start({ idleTimeout: 1000 })
    body.push(line('a'))
    await stream.next()
    await clock.advance(60_000)
    expect(clock.pending).toBe(0)
    const next = stream.next()
    await clock.advance(999)
    body.push(line('b'))
    expect(names((await next).value)).toEqual(['b'])
    await stream.return()
  })

  test('a stream without a response fails after the idle time-out', async () => {
    const { clock, stream } = start({ idleTimeout: 1000, open: () => new Promise(() => undefined) })
    const waiting = stream.next().catch((error: unknown) => error)
    await clock.advance(1000)
    expect(await waiting).toMatchObject({ code: 'TENURE_WATCH_QUIET' })
  })

  test('events before a failure are returned, then it is thrown once', async () => {
    const { body, stream } = start()
    body.push(`${line('a')}{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}\n${line('b')}`)
    expect(names((await stream.next()).value)).toEqual(['a'])
    await expect(stream.next()).rejects.toMatchObject({ status: 410 })
    expect((await stream.next()).done).toBe(true)
    expect(body.cancelled).toBe(true)
  })

  test('a broken connection and an end inside an event throw', async () => {
    const broken = start()
    broken.body.fail(new ConnectionError('TENURE_TEST_LOST', 'reset'))
    await expect(broken.stream.next()).rejects.toMatchObject({ code: 'TENURE_TEST_LOST' })
    const cut = start()
    cut.body.push(line('a').slice(0, 20))
    cut.body.end()
    await expect(cut.stream.next()).rejects.toMatchObject({ code: 'TENURE_WATCH_CUT' })
  })

  test('a last event without a newline is returned', async () => {
    const { body, stream } = start()
    body.push(line('a').trimEnd())
    body.end()
    expect(names((await stream.next()).value)).toEqual(['a'])
    expect((await stream.next()).done).toBe(true)
  })
})
