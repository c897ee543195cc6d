import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decode } from './decode.testing.ts'
import { defineKind, metadataOf } from '../model/kind.ts'
import { MetadataListDecoder } from './metadata-list-decoder.ts'
import type { KubeObject, ListMeta, ManagedFieldsEntry, ObjectMeta } from '../model/object.ts'
import {
  encodeBytes,
  encodeEnvelope,
  encodeInteger,
  encodeListMeta,
  encodeMetadataList,
  encodeVarint,
} from './protobuf/encoder.testing.ts'

const Note = metadataOf(defineKind({ apiVersion: 'example.dev/v1', kind: 'Note' }))
const listMeta: ListMeta = { resourceVersion: '7' }
const time = '2026-11-16T02:00:00Z'
const plain = (index: number): ObjectMeta => ({
  name: `note-${index}`,
  namespace: 'default',
  uid: `u${index}`,
  resourceVersion: String(index),
  creationTimestamp: time,
})
const managedBy = (manager: string): ManagedFieldsEntry => ({
  manager,
  operation: 'Update',
  apiVersion: 'v1',
  time,
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:data': { '.': {}, 'k:{"name":"a]b"}': {} } },
  subresource: 'status',
})
/** All fields of metadata. */
const full: ObjectMeta = {
  ...plain(1),
  generateName: 'note-',
  selfLink: '/old',
  generation: 300,
  deletionTimestamp: '2026-11-17T00:00:01Z',
  deletionGracePeriodSeconds: 0,
  labels: { app: 'web', '': '' },
  annotations: { 'example.dev/größe': 'grüße 🦀', long: 'x'.repeat(40_000) },
  ownerReferences: [
    { apiVersion: 'v1', kind: 'Pod', name: 'a', uid: 'u', controller: true, blockOwnerDeletion: false },
    { apiVersion: '', kind: '', name: '', uid: '' },
  ],
  finalizers: ['example.dev/one', 'example.dev/two'],
  managedFields: [managedBy('me'), {}, managedBy('you')],
}

const expected = (items: readonly ObjectMeta[]): KubeObject[] =>
  items.map((metadata) => ({ apiVersion: 'example.dev/v1', kind: 'Note', metadata }))

describe('MetadataListDecoder', () => {
  test('a list can be split at every byte', () => {
    const metas = [plain(1), full, {}, plain(2), { name: 'grüße' }, plain(2)]
    const bytes = encodeMetadataList({ resourceVersion: '7', continue: 'more', remainingItemCount: 0 }, metas)
    for (const size of [1, 2, 3, 7, 64, 40_000, Infinity]) {
      const decoder = new MetadataListDecoder(Note)
      expect(decode(decoder, bytes, size)).toStrictEqual(expected(metas))
      expect(decoder.failure).toBeUndefined()
      expect(decoder.metadata).toStrictEqual({ resourceVersion: '7', continue: 'more', remainingItemCount: 0 })
    }
    const [one] = decode(new MetadataListDecoder(Note), bytes)
    expect(Object.keys(one ?? {})).toEqual(['apiVersion', 'kind', 'metadata'])
  })

  test('items are returned long before the list is complete, its metadata only then', () => {
    const metas = Array.from({ length: 1000 }, (_, index) => plain(index))
    const bytes = encodeMetadataList(listMeta, metas)
    const decoder = new MetadataListDecoder(Note)
    const half = decoder.push(bytes.subarray(0, bytes.length / 2)).length
    expect(half).toBeGreaterThan(480)
    expect(decoder.metadata).toBeUndefined()
    expect(half + decoder.push(bytes.subarray(bytes.length / 2)).length + decoder.end().length).toBe(1000)
    expect(decoder.metadata).toEqual(listMeta)
  })

  test('an empty list is decoded', () => {
    const decoder = new MetadataListDecoder(Note)
    expect(decode(decoder, encodeMetadataList(listMeta, []), 3)).toEqual([])
    expect([decoder.failure, decoder.metadata]).toEqual([undefined, listMeta])
  })

  test('items may have any length', () => {
    const metas = [100, 128, 16_370, 16_384, 70_000, 5, 1_000_000, 2].map((length, index) => ({
      ...plain(index),
      annotations: { text: 'ü'.repeat(length), more: 'x'.repeat(length) },
    }))
    const bytes = encodeMetadataList(listMeta, metas)
    expect(decode(new MetadataListDecoder(Note), bytes, 16_384)).toStrictEqual(expected(metas))
  })

  test('only needed managedFields are read', () => {
    const bytes = encodeMetadataList(listMeta, [full, { ...plain(2), managedFields: [managedBy('you')] }, plain(3)])
    const kept = (managedFieldsOf?: readonly string[]): unknown[] =>
      decode(new MetadataListDecoder(Note, managedFieldsOf), bytes).map((item) => item.metadata?.managedFields)
    expect(kept()).toStrictEqual([[managedBy('me'), {}, managedBy('you')], [managedBy('you')], undefined])
    expect(kept(['me'])).toStrictEqual([[managedBy('me')], undefined, undefined])
    expect(kept(['you', 'me'])).toStrictEqual([[managedBy('me'), managedBy('you')], [managedBy('you')], undefined])
    expect(kept([''])).toStrictEqual([[{}], undefined, undefined])
    expect(kept([])).toStrictEqual([undefined, undefined, undefined])
    const [, other] = decode(new MetadataListDecoder(Note, ['me']), bytes)
    expect(other?.metadata).toStrictEqual(plain(2))
  })

  test('unknown fields are skipped, and known ones may have any order', () => {
    const unknown = [encodeInteger(99, 5), encodeBytes(5000, 'x'), Buffer.from([15 * 8 + 5, 1, 2, 3, 4])]
    const entry = Buffer.concat([encodeBytes(2, 'web'), encodeBytes(1, 'app'), ...unknown])
    const seconds = Buffer.concat([encodeInteger(2, 999_999_999), encodeInteger(1, Date.parse(time) / 1000)])
    const fields = [encodeBytes(11, entry), encodeBytes(8, seconds), ...unknown, encodeBytes(1, 'late')]
    const item = Buffer.concat([...unknown, encodeBytes(1, Buffer.concat(fields)), ...unknown])
    const list = Buffer.concat([...unknown, encodeBytes(2, item), encodeBytes(1, encodeListMeta(listMeta))])
    const bytes = encodeEnvelope('v1', 'NoteList', list)
    const decoder = new MetadataListDecoder(Note)
    const late = { name: 'late', labels: { app: 'web' }, creationTimestamp: time }
    expect(decode(decoder, bytes, 5)).toStrictEqual(expected([late]))
    expect(decoder.metadata).toEqual(listMeta)
  })

  test('items share equal strings', () => {
    // Distinguished only by how the bytes are read.
    const metas = ['Ã©', 'é', 'ab', 'ab'].map((namespace) => ({ ...plain(1), namespace, labels: { a: namespace } }))
    expect(decode(new MetadataListDecoder(Note), encodeMetadataList(listMeta, metas))).toStrictEqual(expected(metas))
  })

  test('a list that is cut anywhere counts as a broken connection', () => {
    const metas = [plain(1), { ...full, annotations: { a: 'b' } }, plain(2)]
    const bytes = encodeMetadataList(listMeta, metas)
    // After the list there are only two empty strings, without which it is also complete.
    for (let length = 0; length < bytes.length - 4; length++) {
      const decoder = new MetadataListDecoder(Note)
      const before = decoder.push(bytes.subarray(0, length))
      expect(before).toStrictEqual(expected(metas).slice(0, before.length))
      expect(decoder.end()).toEqual([])
      expect(decoder.failure).toMatchObject({ code: 'TENURE_LIST_UNREADABLE', fate: 'retry' })
      expect(decoder.metadata).toBeUndefined()
      expect(decoder.push(bytes)).toEqual([])
    }
    for (const [missing, isWhole] of [
      [1, false],
      [2, true],
      [3, false],
      [4, true],
    ] as const) {
      const decoder = new MetadataListDecoder(Note)
      decode(decoder, bytes.subarray(0, -missing))
      expect(decoder.failure === undefined).toBe(isWhole)
    }
  })

  const list = (...fields: readonly Buffer[]): Buffer =>
    encodeEnvelope('v1', 'NoteList', Buffer.concat([encodeBytes(1, encodeListMeta(listMeta)), ...fields]))
  const inItem = (...fields: readonly Buffer[]): Buffer => list(encodeBytes(2, encodeBytes(1, Buffer.concat(fields))))

  test.each([
    ['JSON', Buffer.from(JSON.stringify({ metadata: listMeta, items: [] }))],
    ['an envelope without a list', Buffer.concat([Buffer.from('k8s\0'), encodeBytes(1, encodeBytes(2, 'NoteList'))])],
    ['a list without metadata', encodeEnvelope('v1', 'NoteList', encodeBytes(2, encodeBytes(1, encodeBytes(1, 'a'))))],
    ['an item without metadata', list(encodeBytes(2, ''))],
    ['an item that is longer than the list', list(Buffer.from([2 * 8 + 2, 100]))],
    ['an item of an endless length', list(encodeVarint(2 * 8 + 2), encodeVarint(2n ** 62n))],
    ['a number that has no end', list(Buffer.alloc(30, 0xff))],
    ['a field that is longer than its item', inItem(Buffer.from([1 * 8 + 2, 5, 65]))],
    ['a label that is longer than the labels', inItem(encodeBytes(11, Buffer.from([1 * 8 + 2, 50, 65])))],
    ['a time that is none', inItem(encodeBytes(8, encodeInteger(1, 2 ** 52)))],
    ['managedFields that are no JSON', inItem(encodeBytes(17, encodeBytes(7, encodeBytes(1, '{'))))],
    ['a second list', Buffer.concat([list(), encodeVarint(2 * 8 + 2), encodeVarint(5)])],
  ])('%s counts as a broken connection', (_what, bytes) => {
    for (const size of [1, Infinity]) {
      const decoder = new MetadataListDecoder(Note)
      decode(decoder, bytes, size)
      expect(decoder.failure).toMatchObject({ code: 'TENURE_LIST_UNREADABLE', fate: 'retry' })
      expect(decoder.metadata).toBeUndefined()
    }
  })

  test('an item beyond the size limit fails at once', () => {
    const decoder = new MetadataListDecoder(Note)
    const item = Buffer.concat([encodeVarint(2 * 8 + 2), encodeVarint(2 ** 40), Buffer.alloc(100)])
    decoder.push(Buffer.concat([Buffer.from('k8s\0'), encodeVarint(2 * 8 + 2), encodeVarint(2n ** 41n), item]))
    expect(decoder.failure).toBeDefined()
  })

  test('the decoder never throws', () => {
    const good = encodeMetadataList(listMeta, [plain(1), full, plain(2)])
    const change = fc.tuple(fc.nat(good.length - 1), fc.nat(255))
    fc.assert(
      fc.property(
        fc.array(change, { minLength: 1, maxLength: 5 }),
        fc.integer({ min: 1, max: 50_000 }),
        (changes, size) => {
          const bytes = Buffer.from(good)
          for (const [at, byte] of changes) bytes[at] = byte
          const decoder = new MetadataListDecoder(Note)
          decode(decoder, bytes, size)
          expect(Boolean(decoder.failure)).toBe(!decoder.metadata)
        },
      ),
      { numRuns: 300 },
    )
  })

  test('protobuf decodes to the same value as JSON', () => {
    fc.assert(
      fc.property(fc.array(objectMeta, { maxLength: 8 }), fc.integer({ min: 1, max: 2000 }), (metas, size) => {
        const decoder = new MetadataListDecoder(Note)
        const read = decode(decoder, encodeMetadataList(listMeta, metas), size)
        expect(decoder.failure).toBeUndefined()
        expect(read).toStrictEqual(JSON.parse(JSON.stringify(expected(metas.map(withoutEmpty)))))
      }),
      { numRuns: 200 },
    )
  })
})

const text = fc.string({ unit: 'binary', maxLength: 200 })
const shortText = fc.oneof(
  fc.constantFrom('', 'a', 'default', '__proto__'),
  fc.string({ unit: 'binary', maxLength: 20 }),
)
/** Not one escaped character: JSON.parse may read such a key as a backslash (nodejs/node#63785). */
const name = shortText.filter((word) => JSON.stringify(word).length === word.length + 2 || word.length > 1)
const texts = fc.dictionary(name, text, { maxKeys: 4 })
const moment = fc
  .integer({ min: -62_000_000_000, max: 200_000_000_000 })
  .map((second) => new Date(second * 1000).toISOString().replace('.000', ''))
const owner = fc.record(
  {
    apiVersion: shortText,
    kind: shortText,
    name: shortText,
    uid: shortText,
    controller: fc.boolean(),
    blockOwnerDeletion: fc.boolean(),
  },
  { requiredKeys: ['apiVersion', 'kind', 'name', 'uid'] },
)
const managedFields = fc.record(
  {
    manager: shortText,
    operation: shortText,
    apiVersion: shortText,
    time: moment,
    fieldsType: shortText,
    fieldsV1: fc.dictionary(name, fc.constantFrom({}, { '.': {}, 'f:a': {} })),
    subresource: shortText,
  },
  { requiredKeys: [] },
)
const objectMeta = fc.record(
  {
    name: shortText,
    generateName: shortText,
    namespace: shortText,
    selfLink: shortText,
    uid: shortText,
    resourceVersion: shortText,
    generation: fc.oneof(fc.nat(200), fc.maxSafeNat(), fc.constant(-1)),
    creationTimestamp: moment,
    deletionTimestamp: moment,
    deletionGracePeriodSeconds: fc.nat(400),
    labels: texts,
    annotations: texts,
    ownerReferences: fc.array(owner, { maxLength: 3 }),
    finalizers: fc.array(shortText, { maxLength: 3 }),
    managedFields: fc.array(managedFields, { maxLength: 3 }),
  },
  { requiredKeys: [] },
)

function isGiven([key, value]: [string, unknown]): boolean {
  const isEmpty = typeof value === 'object' && Object.keys(value ?? {}).length === 0
  return key === 'deletionGracePeriodSeconds' || (value !== '' && value !== 0 && !isEmpty)
}

/** Omits empty values like the JSON of a Go server. */
function withoutEmpty(metadata: ObjectMeta): ObjectMeta {
  const managed = metadata.managedFields?.map(({ fieldsV1, ...entry }) => ({
    ...Object.fromEntries(Object.entries(entry).filter(isGiven)),
    ...(fieldsV1 && { fieldsV1 }),
  }))
  return Object.fromEntries(Object.entries({ ...metadata, managedFields: managed ?? [] }).filter(isGiven))
}
