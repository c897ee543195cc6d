import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { lastElementComma } from './json-items.ts'
import { decode } from './decode.testing.ts'
import { defineKind, metadataOf } from '../model/kind.ts'
import { ListDecoder } from './list-decoder.ts'
import type { KubeObject } from '../model/object.ts'

const Note = defineKind({ apiVersion: 'example.dev/v1', kind: 'Note' })
const metadata = { resourceVersion: '7' }
const note = (index: number, more: object = {}): object => ({
  metadata: { name: `note-${index}`, uid: `u${index}` },
  ...more,
})

const decodeText = (decoder: ListDecoder<KubeObject>, text: string, size?: number): KubeObject[] =>
  decode(decoder, Buffer.from(text), size)

const expected = (items: readonly object[]): object[] =>
  items.map((item) => ({ ...item, apiVersion: 'example.dev/v1', kind: 'Note' }))

describe('ListDecoder', () => {
  test('a list can be split at every byte', () => {
    const items = [note(1, { data: { text: 'grüße 🦀\n"{[' } }), note(2), note(3, { data: {} })]
    const text = JSON.stringify({ kind: 'NoteList', apiVersion: 'example.dev/v1', metadata, items })
    for (const size of [1, 2, 3, 7, 64]) {
      const decoder = new ListDecoder(Note)
      expect(decodeText(decoder, text, size)).toEqual(expected(items))
      expect([decoder.failure, decoder.metadata]).toEqual([undefined, metadata])
    }
  })

  test('items are returned long before the list is complete', () => {
    const items = Array.from({ length: 1000 }, (_, index) => note(index, { data: 'x'.repeat(1000) }))
    const bytes = Buffer.from(JSON.stringify({ metadata, items }))
    const decoder = new ListDecoder(Note)
    const half = decoder.push(bytes.subarray(0, bytes.length / 2)).length
    expect(half).toBeGreaterThan(400)
    expect(decoder.metadata).toBeUndefined()
    expect(half + decoder.push(bytes.subarray(bytes.length / 2)).length + decoder.end().length).toBe(1000)
  })

  // The format of custom resources: keys in alphabetical order, the metadata of the list after the items.
  test('the fields of a list may have any order', () => {
    const items = Array.from({ length: 300 }, (_, index) => ({
      apiVersion: 'example.dev/v1',
      kind: 'Note',
      metadata: { labels: { a: 'b' }, name: `note-${index}` },
      spec: { text: 'x'.repeat(500) },
    }))
    const decoder = new ListDecoder(Note)
    const text = JSON.stringify({ apiVersion: 'example.dev/v1', items, kind: 'NoteList', metadata })
    expect(decodeText(decoder, text, 10_000)).toEqual(items)
    expect(decoder.metadata).toEqual(metadata)
  })

  test('text that looks like the next item does not end an item', () => {
    const inner = Array.from({ length: 50 }, (_, index) => note(index))
    const items = Array.from({ length: 300 }, (_, index) =>
      note(index, { inner, text: '},{"metadata":{', items: [{ items: inner }] }),
    )
    const decoder = new ListDecoder(Note)
    expect(decodeText(decoder, JSON.stringify({ metadata, items }), 30_000)).toEqual(expected(items))
    const odd = { ...metadata, more: { items: inner } }
    const nested = new ListDecoder(Note)
    expect(decodeText(nested, JSON.stringify({ metadata: odd, items }), 30_000)).toEqual(expected(items))
    expect(nested.metadata).toEqual(odd)
  })

  test('an item may be longer than a parsed piece', () => {
    const items = [100, 70_000, 300_000, 5, 1_000_000, 2, 2].map((size, index) =>
      note(index, { data: '"'.repeat(size) }),
    )
    const decoder = new ListDecoder(Note)
    expect(decodeText(decoder, JSON.stringify({ metadata, items }), 16_384)).toEqual(expected(items))
  })

  test.each([
    ['pretty', JSON.stringify({ metadata, items: [note(1), note(2)] }, null, 2), 2],
    ['empty', JSON.stringify({ metadata, items: [] }), 0],
    ['with items that are null', JSON.stringify({ metadata, items: null }), 0],
    ['with white space around its items', '{"metadata":{"resourceVersion":"7"},"items":[ {} , {}\n]}\n', 2],
  ])('a list that is %s is decoded', (_what, text, count) => {
    const decoder = new ListDecoder(Note)
    expect(decodeText(decoder, text, 5)).toHaveLength(count)
    expect([decoder.failure, decoder.metadata]).toEqual([undefined, metadata])
  })

  test.each([
    ['nothing', ''],
    ['no JSON', 'no healthy upstream'],
    ['no list', '{"kind":"Note","metadata":{}'],
    ['an object without metadata', '{"items":[]}'],
    ['items that are none', '{"metadata":{},"items":{}}'],
    ['a single object', '{"kind":"Note","metadata":{"name":"a","resourceVersion":"7"}}'],
    ['a Status', '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure"}'],
    ['a list that is cut short', JSON.stringify({ metadata, items: [note(1), note(2)] }).slice(0, -4)],
    ['rubbish among the items', JSON.stringify({ metadata, items: Array(3000).fill(note(1)) }).replace('"uid"', 'uid')],
  ])('%s counts as a broken connection', (_what, text) => {
    const decoder = new ListDecoder(Note)
    decodeText(decoder, text, 1000)
    expect(decoder.failure).toMatchObject({ code: 'TENURE_LIST_UNREADABLE', fate: 'retry' })
    expect(decoder.metadata).toBeUndefined()
    expect(decoder.push(Buffer.from('{}'))).toEqual([])
  })

  test('metadata gets the kind of its object and is extracted from full objects', () => {
    const partial = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', ...note(1) }
    const whole = note(2, { spec: { text: 'x' } })
    const items = decodeText(new ListDecoder(metadataOf(Note)), JSON.stringify({ metadata, items: [partial, whole] }))
    expect(items).toEqual(expected([note(1), note(2)]))
  })

  describe('with managedFields that are not needed', () => {
    const managedFields = [{ manager: 'them', fieldsV1: { 'k:{"name":"a]}b"}': {}, 'f:data': { '.': {} } } }]
    const managed = (index: number, more: object = {}): object => ({
      metadata: { name: `note-${index}`, uid: `u${index}`, managedFields },
      ...more,
    })

    test.each([1, 7, 1000, 100_000])('everything else is decoded in chunks of %i bytes', (size) => {
      // With a needed manager, without managers, and with managedFields in other places.
      const items = Array.from({ length: 1000 }, (_, index) => {
        const spec = { text: 'x'.repeat(200), ...(index === 700 && { more: 1, managedFields: [index] }) }
        if (index % 31 === 3) return note(index, { spec })
        const mine = [{ manager: 'me' }, ...managedFields]
        if (index % 31 === 4) return { metadata: { name: `note-${index}`, managedFields: mine }, spec }
        const plain = [{ manager: 'them', fieldsV1: { 'f:data': { '.': {} } } }]
        return { metadata: { name: `note-${index}`, uid: `u${index}`, managedFields: plain }, spec }
      })
      const decoder = new ListDecoder(Note, ['me'])
      const read = decodeText(decoder, JSON.stringify({ metadata, items }), size)
      expect(decoder.failure).toBeUndefined()
      const kept = read.filter((item) => item.metadata?.managedFields)
      expect(kept.length).toBeLessThan(600)
      expect(kept.filter((item) => item.metadata?.managedFields?.[0]?.manager === 'me')).toHaveLength(33)
      expect(read.map(withoutManagedFields)).toEqual(expected(items).map(withoutManagedFields))
      expect(read.every((item) => item.kind === 'Note')).toBe(true)
    })

    test('an item has its original managedFields or none', () => {
      const items = Array.from({ length: 200 }, (_, index) => managed(index, { data: 'x'.repeat(500) }))
      const read = decodeText(new ListDecoder(Note, []), JSON.stringify({ metadata, items }), 5000)
      const kept = read.filter((item) => 'managedFields' in (item.metadata ?? {}))
      expect(new Set(kept.map((item) => JSON.stringify(item.metadata?.managedFields)))).toEqual(
        new Set([JSON.stringify(managedFields)]),
      )
    })

    test('all managedFields are kept by default', () => {
      const items = Array.from({ length: 200 }, (_, index) => managed(index, { data: 'x'.repeat(500) }))
      expect(decodeText(new ListDecoder(Note), JSON.stringify({ metadata, items }), 5000)).toEqual(expected(items))
    })
  })

  test('chunks of any size decode to what JSON.parse returns', () => {
    // No key of one escaped character: JSON.parse may read it as a backslash (nodejs/node#63785).
    const value = fc.jsonValue({ maxDepth: 3 }).filter((json) => !/"\\(?:.|u....)":/.test(JSON.stringify(json)))
    const item = fc.tuple(fc.string(), value, fc.nat(40)).map(([name, spec, times]) => ({
      metadata: { name },
      spec,
      again: Array.from({ length: times }, () => ({ metadata: { name }, spec })),
    }))
    fc.assert(
      fc.property(
        fc.array(item, { maxLength: 12 }),
        fc.integer({ min: 1, max: 5000 }),
        fc.nat(15),
        (few, size, times) => {
          const items = Array.from({ length: times }, () => few).flat()
          const text = JSON.stringify({ metadata, items })
          const decoder = new ListDecoder(Note)
          const read = decodeText(decoder, text, size)
          expect(JSON.stringify(read)).toBe(
            JSON.stringify(items.map((one) => ({ ...one, apiVersion: 'example.dev/v1', kind: 'Note' }))),
          )
          expect(decoder.failure).toBeUndefined()
        },
      ),
      { numRuns: 40 },
    )
  })
})

function withoutManagedFields(item: KubeObject): KubeObject {
  const { managedFields: _, ...metadata } = item.metadata ?? {}
  return { ...item, metadata }
}

describe('lastElementComma', () => {
  test.each([
    ['', -1],
    ['{}', -1],
    ['{},', 2],
    ['{"a":[1,2]},{"b":1', 11],
    ['1,2,[3,4],"5,6', 9],
    [String.raw`"\\",",\",`, 4],
    ['1,2],3,4', 1],
  ])('the last comma of %s is at %i', (text, at) => {
    expect(lastElementComma(Buffer.from(text))).toBe(at)
  })
})
