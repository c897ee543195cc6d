import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { WatchEvent } from '../client/api.ts'
import { ApiError, ConnectionError } from '../errors/errors.ts'
import { defineKind, metadataOf } from '../model/kind.ts'
import type { KubeObject } from '../model/object.ts'
import { WatchDecoder } from './watch-decoder.ts'

interface Note extends KubeObject {
  readonly text?: string
}
const Note = defineKind<Note>({ apiVersion: 'example.dev/v1', kind: 'Note' })

const event = (type: string, text: string, resourceVersion = '1'): object => ({
  type,
  object: { apiVersion: 'example.dev/v1', kind: 'Note', metadata: { name: 'n', resourceVersion }, text },
})
const lines = (...events: readonly unknown[]): Buffer =>
  Buffer.from(events.map((event) => `${typeof event === 'string' ? event : JSON.stringify(event)}\n`).join(''))

function decode(bytes: Uint8Array, cuts: readonly number[] = []): { events: WatchEvent<Note>[]; failure: unknown } {
  const decoder = new WatchDecoder(Note)
  const events: WatchEvent<Note>[] = []
  let start = 0
  for (const cut of [...new Set([...cuts, bytes.length])].toSorted((a, b) => a - b)) {
    // One reused buffer, as a transport may have.
    const chunk = Buffer.from(bytes.subarray(start, cut))
    events.push(...decoder.push(chunk))
    chunk.fill(0)
    start = cut
  }
  events.push(...decoder.end())
  return { events, failure: decoder.failure }
}

const bookmark = (annotations?: object): object => ({
  type: 'BOOKMARK',
  object: { kind: 'Note', metadata: { resourceVersion: '7', annotations } },
})
const limited = (): WatchDecoder<Note> => new WatchDecoder(Note, 100)

describe('WatchDecoder', () => {
  test('the events do not depend on where the bytes are split', () => {
    const bytes = lines(event('ADDED', 'grüße 👋🏽 \n "quoted" \u2028'), event('MODIFIED', '日本'), event('DELETED', ''))
    const whole = decode(bytes)
    expect(whole.events.map(({ type }) => type)).toEqual(['ADDED', 'MODIFIED', 'DELETED'])
    expect(whole.events[0]).toEqual(event('ADDED', 'grüße 👋🏽 \n "quoted" \u2028'))
    for (let cut = 0; cut <= bytes.length; cut++) expect(decode(bytes, [cut])).toEqual(whole)
    expect(decode(bytes, [...bytes.keys()])).toEqual(whole)
  })

  test('any events in any chunks are decoded in order', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('ADDED', 'MODIFIED', 'DELETED'), fc.string({ unit: 'binary' })), {
          maxLength: 20,
        }),
        fc.array(fc.nat(4000)),
        (pairs, cuts) => {
          const sent = pairs.map(([type, text], index) => event(type, text, String(index)))
          const bytes = lines(...sent)
          const { events, failure } = decode(
            bytes,
            cuts.map((cut) => cut % (bytes.length + 1)),
          )
          // JSON.stringify escapes half a surrogate pair.
          expect(events).toEqual(sent)
          expect(failure).toBeUndefined()
        },
      ),
      { numRuns: 200 },
    )
  })

  test('each chunk gives one batch', () => {
    const decoder = new WatchDecoder(Note)
    expect(decoder.push(lines(event('ADDED', 'a'), event('ADDED', 'b')))).toHaveLength(2)
    expect(decoder.push(Buffer.from('{"type":"ADD'))).toHaveLength(0)
    expect(decoder.push(Buffer.from('ED","object":{"metadata":{"resourceVersion":"1"}}}\n'))).toHaveLength(1)
  })

  test('a chunk may be a view of a larger Uint8Array', () => {
    const bytes = lines(event('ADDED', 'a'))
    const larger = new Uint8Array(bytes.length + 10).fill(10)
    larger.set(bytes, 5)
    expect(new WatchDecoder(Note).push(larger.subarray(5, 5 + bytes.length))).toEqual([event('ADDED', 'a')])
  })

  test('bookmarks are decoded, with the end of the initial events', () => {
    const { events } = decode(lines(bookmark(), bookmark({ 'k8s.io/initial-events-end': 'true' })))
    expect(events).toEqual([
      { type: 'BOOKMARK', resourceVersion: '7', initialEventsEnd: false },
      { type: 'BOOKMARK', resourceVersion: '7', initialEventsEnd: true },
    ])
  })

  test('metadata gets the kind of its object, and other fields are dropped', () => {
    const decoder = new WatchDecoder(metadataOf(Note))
    const metadata = { name: 'n', resourceVersion: '1' }
    const sent = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata, spec: {} }
    expect(decoder.push(lines({ type: 'ADDED', object: sent }))).toEqual([
      { type: 'ADDED', object: { apiVersion: 'example.dev/v1', kind: 'Note', metadata } },
    ])
  })

  test('unknown fields are kept', () => {
    const sent = {
      type: 'ADDED',
      object: { metadata: { resourceVersion: '1' }, extra: { deep: [1, null] }, ['__proto__']: 1 },
    }
    expect(decode(lines(sent)).events).toEqual([sent])
  })

  test('an in-stream ERROR becomes an ApiError after the events before it', () => {
    const status = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' }
    const { events, failure } = decode(
      lines(event('ADDED', 'a'), { type: 'ERROR', object: status }, event('ADDED', 'b')),
    )
    expect(events).toHaveLength(1)
    expect(failure).toBeInstanceOf(ApiError)
    expect(failure).toMatchObject({ status: 410, reason: 'Expired', fate: 'retry' })
  })

  test.each([
    '<html>',
    '{"type":"ADDED"}',
    '{"type":"ADDED","object":null}',
    '{"type":"ADDED","object":{}}',
    '{"type":"MODIFIED","object":{"metadata":{"name":"n"}}}',
    '{"type":"DELETED","object":{"metadata":{"name":"n","resourceVersion":""}}}',
    '{"type":"NEW","object":{}}',
    'null',
    '[]',
    '3',
  ])('%s counts as a broken connection', (line) => {
    const { events, failure } = decode(lines(event('ADDED', 'a'), line, event('ADDED', 'b')))
    expect(events).toHaveLength(1)
    expect(failure).toBeInstanceOf(ConnectionError)
    expect(failure).toMatchObject({ code: 'TENURE_WATCH_UNREADABLE', fate: 'retry' })
  })

  test('a bookmark without a resourceVersion counts as a broken connection', () => {
    expect(decode(lines({ type: 'BOOKMARK', object: {} })).failure).toBeInstanceOf(ConnectionError)
  })

  test('blank lines are ignored', () => {
    expect(decode(lines('', event('ADDED', 'a'), '  \r')).failure).toBeUndefined()
  })

  test('an end inside an event counts as a broken connection', () => {
    const bytes = lines(event('ADDED', 'a'))
    for (let length = 1; length < bytes.length - 1; length++) {
      const { events, failure } = decode(bytes.subarray(0, length))
      expect(events).toHaveLength(0)
      expect(failure).toMatchObject({ code: 'TENURE_WATCH_CUT', fate: 'retry' })
    }
    // Only the newline is missing: the event is complete.
    expect(decode(bytes.subarray(0, -1))).toEqual({ events: [event('ADDED', 'a')], failure: undefined })
  })

  test('a line that is too long is rejected, complete or still growing', () => {
    const whole = limited()
    whole.push(lines(event('ADDED', 'x'.repeat(200))))
    expect(whole.failure).toMatchObject({ code: 'TENURE_WATCH_LINE_TOO_LONG' })
    const growing = limited()
    for (let count = 0; count < 11; count++) growing.push(Buffer.alloc(10, 'x'))
    expect(growing.failure).toMatchObject({ code: 'TENURE_WATCH_LINE_TOO_LONG' })
    const fitting = limited()
    fitting.push(lines(event('ADDED', '')))
    expect(growing.push(lines(event('ADDED', '')))).toEqual([])
  })
})
