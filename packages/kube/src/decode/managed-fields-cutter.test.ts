import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ManagedFieldsCutter } from './managed-fields-cutter.ts'

const entry = (manager: string, fields: object = { 'f:data': { '.': {} } }): object => ({
  manager,
  operation: 'Update',
  fieldsType: 'FieldsV1',
  fieldsV1: fields,
})
/** The format of Go servers: managedFields last in the metadata, the metadata first in the object. */
const item = (managedFields: readonly object[] | undefined, more: object = {}): object => ({
  metadata: { name: 'a', labels: { app: 'web' }, ...(managedFields && { managedFields }) },
  ...more,
})
const bare = (more: object = {}): object => ({ ...item(undefined), kind: 0, ...more })
const first = [item([entry('them')])]

/** The result of the cutter after it has recognized the Go format. */
function cut(items: readonly object[], managedFieldsOf: readonly string[] = [], text = JSON.stringify(items)): unknown {
  const cutter = new ManagedFieldsCutter(managedFieldsOf)
  expect(cutter.parse(JSON.stringify(first))).toEqual(first)
  return cutter.parse(text)
}

describe('ManagedFieldsCutter', () => {
  test('managedFields of items are omitted', () => {
    const data = { data: { a: '1' } }
    expect(cut([item([entry('a'), entry('b')], data), item(undefined, data), item([]), item([entry('a')])])).toEqual([
      bare(data),
      item(undefined, data),
      bare(),
      bare(),
    ])
  })

  test('an object with a needed entry keeps all entries', () => {
    const mine = item([entry('them'), entry('me')])
    expect(cut([item([entry('them')]), mine, item([entry('them')])], ['me', 'us'])).toEqual([bare(), mine, bare()])
  })

  // JSON can escape these characters in more than one way.
  test.each(['<me>', 'a"b', 'größe', 'a\\b', ''])('nothing is cut if the needed manager is %j', (name) => {
    const items = [item([entry('them')])]
    expect(cut(items, [name])).toEqual(items)
  })

  test.each([
    ['managedFields in its spec', item([entry('a')], { spec: { name: 'x', managedFields: [{ a: 1 }] } })],
    ['managedFields in its spec only', item(undefined, { spec: { name: 'x', managedFields: [{ a: 1 }] } })],
    ['managedFields deep in its spec', item([entry('a')], { spec: { metadata: { name: 'x', managedFields: [1] } } })],
    ['other objects in it', item([entry('a')], { spec: [item([entry('a')]), item([entry('b')], { spec: 1 })] })],
    ['metadata in its metadata', { metadata: { metadata: { name: 'x', managedFields: [1] }, name: 'a' } }],
    ['a kind of its own', item([entry('a')], { kind: 'Note' })],
    ['a bracket and a brace in a name', item([entry('a', { 'k:{"name":"a]}b"}': {} })], { data: {} })],
    ['brackets and braces in a value', item([entry(']}'), entry(']},'), entry(']},[]}')], { ']}': ']}' })],
    ['arrays in its managedFields', item([entry('a', { a: [1], b: [[]], c: { d: [{}] } })], { data: { a: [] } })],
    ['more behind its managedFields', { metadata: { name: 'a', managedFields: [entry('a')], uid: 'u' }, data: {} }],
    ['lists behind its managedFields', { metadata: { name: 'a', managedFields: [entry('a')], finalizers: ['b'] } }],
    ['nothing but managedFields', { metadata: { managedFields: [entry('a')] }, data: {} }],
  ])('an object with %s loses at most its managedFields', (_what, object) => {
    const items = [item([entry('a')]), object, item([entry('a')])]
    expect(dropOwn(cut(items))).toEqual(dropOwn(items))
    const alone = cut([object])
    expect(dropOwn(alone)).toEqual(dropOwn([object]))
  })

  test('managedFields inside a string are kept', () => {
    const data = { text: 'a,"managedFields":[{"manager":"x"}]},"kind":0', '"managedFields":[': '],"managedFields":[]}' }
    expect(cut([item([entry('a')], { data }), item(undefined, { data })])).toEqual([
      bare({ data }),
      item(undefined, { data }),
    ])
  })

  test('an object stays unchanged if a key in its managedFields contains a bracket', () => {
    const odd = item([entry('a', { 'k:{"name":"a]b"}': {}, 'f:c': {} })])
    expect(cut([odd, item([entry('b')])])).toEqual([odd, bare()])
  })

  test('a list in another format disables the cutter', () => {
    for (const other of [
      { kind: 'Note', ...item([entry('a')]) },
      { spec: {}, ...item([entry('a')]) },
    ]) {
      const cutter = new ManagedFieldsCutter([])
      cutter.parse(JSON.stringify([other]))
      expect(cutter.parse(JSON.stringify(first))).toEqual(first)
    }
  })

  test('invalid JSON gives no items, and the next text is parsed', () => {
    const cutter = new ManagedFieldsCutter([])
    expect(cutter.parse('[{')).toBeUndefined()
    cutter.parse(JSON.stringify(first))
    expect(cutter.parse(JSON.stringify(first).slice(0, -3))).toBeUndefined()
    expect(cutter.parse(JSON.stringify(first))).toEqual([bare()])
  })

  test('only managedFields of items are ever lost', () => {
    // No key of one escaped character: JSON.parse may read it as a backslash (nodejs/node#63785).
    const word = fc.constantFrom(
      'managedFields',
      'metadata',
      'a',
      ']}',
      ']',
      '}',
      ',',
      'a"',
      '\\a',
      ',"managedFields":[',
      '}]},"kind":0',
    )
    const value = fc.letrec((tie) => ({
      any: fc.oneof({ maxDepth: 4 }, word, fc.constant(0), tie('list'), tie('object')),
      list: fc.array(tie('any'), { maxLength: 3 }),
      object: fc.dictionary(word, tie('any'), { maxKeys: 3 }),
      ending: fc
        .tuple(tie('object'), tie('list'))
        .map(([object, list]) => ({ ...(object as object), managedFields: list })),
    }))
    const member = fc.oneof(value.object, value.ending) as fc.Arbitrary<object>
    const any = fc.record({ metadata: member, spec: member, data: member }, { requiredKeys: ['metadata'] })
    fc.assert(
      fc.property(fc.array(any, { maxLength: 4 }), (items) => {
        const text = JSON.stringify(items)
        expect(dropOwn(cut(items, [], text))).toEqual(dropOwn(JSON.parse(text)))
      }),
      { numRuns: 1000 },
    )
  })
})

/** Removes the managedFields of the items and the marks of cuts. */
function dropOwn(items: unknown): unknown {
  return (items as readonly { metadata: { managedFields?: unknown }; kind?: unknown }[]).map(({ kind, ...item }) => {
    const { managedFields: _, ...metadata } = item.metadata
    return { ...item, ...(kind !== undefined && kind !== 0 && { kind }), metadata }
  })
}
