import type { KubeObject } from '@tenure/kube'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { StatusError } from '../errors.ts'
import { applyJsonPatch, MAX_OPERATIONS } from './json-patch.ts'

const OBJECT = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', finalizers: ['x', 'y'], annotations: { 'a/b~c': '1' } },
  data: { x: '1', nothing: null },
} as unknown as KubeObject

function errorOf(operations: unknown): Pick<StatusError, 'code' | 'reason' | 'message' | 'details'> {
  try {
    applyJsonPatch(OBJECT, operations)
  } catch (error) {
    if (error instanceof StatusError) {
      return { code: error.code, reason: error.reason, message: error.message, details: error.details }
    }
    throw error
  }
  throw new Error('the patch was not refused')
}

const REJECTED = {
  code: 422,
  reason: 'Invalid',
  message: 'the server rejected our request due to an error in our request',
  details: {},
}

const badRequest = (message: string) => ({ code: 400, reason: 'BadRequest', message, details: undefined })

describe('applyJsonPatch', () => {
  test.each([
    ['add', [{ op: 'add', path: '/data/y', value: '2' }], { data: { x: '1', nothing: null, y: '2' } }],
    ['adds in place of a value', [{ op: 'add', path: '/data', value: {} }], { data: {} }],
    ['adds to a list', [{ op: 'add', path: '/metadata/finalizers/1', value: 'n' }], { finalizers: ['x', 'n', 'y'] }],
    ['adds at the end', [{ op: 'add', path: '/metadata/finalizers/-', value: 'n' }], { finalizers: ['x', 'y', 'n'] }],
    [
      'adds after the last item',
      [{ op: 'add', path: '/metadata/finalizers/2', value: 'n' }],
      { finalizers: ['x', 'y', 'n'] },
    ],
    [
      'adds before the last item',
      [{ op: 'add', path: '/metadata/finalizers/-2', value: 'n' }],
      { finalizers: ['x', 'n', 'y'] },
    ],
    ['remove', [{ op: 'remove', path: '/data/x' }], { data: { nothing: null } }],
    ['removes from a list', [{ op: 'remove', path: '/metadata/finalizers/0' }], { finalizers: ['y'] }],
    ['removes the last item', [{ op: 'remove', path: '/metadata/finalizers/-1' }], { finalizers: ['x'] }],
    ['replace', [{ op: 'replace', path: '/data/x', value: '2' }], { data: { x: '2', nothing: null } }],
    [
      'replaces a missing key',
      [{ op: 'replace', path: '/data/y', value: '2' }],
      { data: { x: '1', nothing: null, y: '2' } },
    ],
    ['move', [{ op: 'move', from: '/data/x', path: '/data/y' }], { data: { nothing: null, y: '1' } }],
    ['copy', [{ op: 'copy', from: '/data/x', path: '/data/y' }], { data: { x: '1', nothing: null, y: '1' } }],
    [
      'copies a missing key',
      [{ op: 'copy', from: '/data/q', path: '/data/y' }],
      { data: { x: '1', nothing: null, y: null } },
    ],
    [
      'escapes',
      [{ op: 'replace', path: '/metadata/annotations/a~1b~0c', value: '2' }],
      { annotations: { 'a/b~c': '2' } },
    ],
    ['test', [{ op: 'test', path: '/metadata/finalizers', value: ['x', 'y'] }], {}],
    ['passes a test of a missing key against null', [{ op: 'test', path: '/data/q', value: null }], {}],
    ['passes a test of the whole object', [{ op: 'test', path: '', value: OBJECT }], {}],
    ['treats a missing value as null', [{ op: 'add', path: '/data/y' }], { data: { x: '1', nothing: null, y: null } }],
    ['ignores the first token of a pointer', [{ op: 'remove', path: 'anything/data' }], { data: undefined }],
    ['accepts no operations', [], {}],
    ['null', null, {}],
  ])('a patch %s', (_name, operations, expected) => {
    const { data, finalizers, annotations } = { ...OBJECT, ...OBJECT.metadata, ...expected } as Record<string, unknown>
    const patched = applyJsonPatch(OBJECT, operations) as unknown as Record<string, unknown>
    expect(patched['data']).toEqual(data)
    expect(patched['metadata']).toEqual({ name: 'a', finalizers, annotations })
  })

  test('a patch replaces the whole object', () => {
    expect(applyJsonPatch(OBJECT, [{ op: 'replace', path: '', value: { kind: 'X' } }])).toEqual({ kind: 'X' })
  })

  test.each([
    ['a test that fails', { op: 'test', path: '/data/x', value: '9' }],
    ['a test against a missing container', { op: 'test', path: '/metadata/name/x', value: 3 }],
    ['a missing key', { op: 'remove', path: '/data/q' }],
    ['a missing container', { op: 'add', path: '/nope/q', value: 1 }],
    ['a null container', { op: 'add', path: '/data/nothing/q', value: 1 }],
    ['an unknown operation', { op: 'zap', path: '/data' }],
    ['no operation', { path: '/data' }],
    ['no path', { op: 'add', value: 1 }],
    ['no from', { op: 'move', path: '/data/z' }],
    ['a move of a missing key', { op: 'move', from: '/data/q', path: '/data/z' }],
    ['an add of the whole object', { op: 'add', path: '', value: {} }],
    ['a replacement that is not an object', { op: 'replace', path: '', value: 3 }],
    ['a replacement by a list', { op: 'replace', path: '', value: [] }],
    ['an index beyond the end', { op: 'add', path: '/metadata/finalizers/3', value: 'n' }],
    ['an index before the start', { op: 'remove', path: '/metadata/finalizers/-3' }],
    ['a replacement after the last', { op: 'replace', path: '/metadata/finalizers/2', value: 'n' }],
    ['a removal after the last', { op: 'remove', path: '/metadata/finalizers/-' }],
    ['a malformed index', { op: 'add', path: '/metadata/finalizers/1e0', value: 'n' }],
    ['an inherited key', { op: 'remove', path: '/data/constructor' }],
    ['a path into the prototype', { op: 'add', path: '/data/__proto__/polluted', value: '1' }],
  ])('a patch with %s is refused', (_name, operation) => {
    expect(errorOf([operation])).toEqual(REJECTED)
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
  })

  test.each([
    [{ op: 'x' }, 'object into Go value of type []handlers.jsonPatchOp'],
    ['x', 'string into Go value of type []handlers.jsonPatchOp'],
    [[1], 'number into Go value of type handlers.jsonPatchOp'],
    [[[]], 'array into Go value of type handlers.jsonPatchOp'],
    [[{ op: 'add', path: 1 }], 'number into Go struct field jsonPatchOp.path of type string'],
    [[{ op: true }], 'bool into Go struct field jsonPatchOp.op of type string'],
  ])('a body of %j is not a patch', (operations, what) => {
    expect(errorOf(operations)).toEqual(badRequest(`error decoding patch: json: cannot unmarshal ${what}`))
  })

  test('a patch has at most ten thousand operations', () => {
    const operation = { op: 'test', path: '/data/x', value: '1' }
    expect(
      applyJsonPatch(
        OBJECT,
        Array.from({ length: MAX_OPERATIONS }, () => operation),
      ),
    ).toBe(OBJECT)
    expect(errorOf(Array.from({ length: MAX_OPERATIONS + 1 }, () => operation))).toEqual({
      code: 413,
      reason: 'RequestEntityTooLarge',
      message: 'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
      details: undefined,
    })
  })

  test('copying an object into itself cannot grow it without limit', () => {
    const doubling = Array.from({ length: 100 }, (_, at) => ({ op: 'copy', from: '/data', path: `/data/copy${at}` }))
    expect(errorOf(doubling)).toEqual(REJECTED)
  })

  test('__proto__ is written as an ordinary key', () => {
    const value = JSON.parse('{"__proto__":{"polluted":"1"}}') as unknown
    const patched = applyJsonPatch(OBJECT, [
      { op: 'add', path: '/data', value },
      { op: 'add', path: '/data/__proto__/more', value: '2' },
      { op: 'copy', from: '/data/__proto__', path: '/metadata/__proto__' },
    ])
    expect(JSON.stringify(patched)).toContain('"data":{"__proto__":{"polluted":"1","more":"2"}}')
    expect(JSON.stringify(patched)).toContain('"__proto__":{"polluted":"1","more":"2"}}')
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  test('the given object is never changed', () => {
    const before = JSON.stringify(OBJECT)
    applyJsonPatch(OBJECT, [
      { op: 'add', path: '/data/a', value: '1' },
      { op: 'move', from: '/metadata/finalizers/0', path: '/metadata/finalizers/1' },
      { op: 'remove', path: '/metadata/annotations' },
    ])
    expect(JSON.stringify(OBJECT)).toBe(before)
  })

  test('any JSON is applied or refused with a StatusError', () => {
    const path = fc.constantFrom(
      '',
      '/',
      '/data',
      '/data/x',
      '/metadata/finalizers/0',
      '/metadata/finalizers/-',
      '/__proto__',
    )
    const operation = fc.record(
      {
        op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test', 'other'),
        path: fc.oneof(path, fc.string()),
        from: fc.oneof(path, fc.string()),
        value: fc.jsonValue(),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(fc.oneof(fc.array(operation), fc.jsonValue()), (operations) => {
        let outcome: unknown
        try {
          outcome = applyJsonPatch(OBJECT, operations)
        } catch (error) {
          outcome = error
        }
        expect(outcome instanceof StatusError || !(outcome instanceof Error)).toBe(true)
      }),
    )
  })
})

const many = (operation: (index: number) => object): readonly object[] =>
  Array.from({ length: MAX_OPERATIONS }, (_, index) => operation(index))

describe('a JSON patch of many operations', () => {
  const keys = Array.from({ length: 30_000 }, (_, index) => `k${index}`)
  const items = Array.from({ length: 300_000 }, (_, index) => index)
  const object = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a' },
    data: Object.fromEntries(keys.map((key) => [key, 'x'])),
    items,
  } as unknown as KubeObject

  test('copies a large object once', () => {
    const patched = applyJsonPatch(
      object,
      many((index) => ({ op: 'add', path: `/data/n${index}`, value: 'y' })),
    ) as unknown as { readonly data: object }
    expect(Object.keys(patched.data).length).toBe(40_000)
    expect(Object.keys((object as unknown as { readonly data: object }).data).length).toBe(30_000)
  })

  test('inserts and removes at both ends of a long list without moving it', () => {
    const patched = applyJsonPatch(
      object,
      many((index) =>
        index % 2 === 0 ? { op: 'add', path: '/items/0', value: 'y' } : { op: 'remove', path: '/items/-1' },
      ),
    ) as unknown as { readonly items: readonly unknown[] }
    expect(patched.items.length).toBe(items.length)
    expect([patched.items[0], patched.items[4999], patched.items[5000]]).toEqual(['y', 'y', 0])
    expect(items.length).toBe(300_000)
  })

  test('cannot double a value until it fills the memory', () => {
    const doubling = many((index) => ({ op: 'copy', from: '/data', path: `/data/c${index}` }))
    expect(() => applyJsonPatch(object, doubling)).toThrow('the server rejected our request')
  })
})

const token = fc.constantFrom('a', 'b', '0', '1', '-', '-1')
const path = fc.array(token, { minLength: 1, maxLength: 3 }).map((tokens) => `/${tokens.join('/')}`)
const operation = fc.record({
  op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'copy'),
  path,
  from: path,
  value: fc.constantFrom<unknown>(1, [], {}, [1, 2], { a: { b: [1] } }),
})

test('a patch is its operations one after another, and changes neither the object nor the patch', () => {
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 12 }), (operations) => {
      const object = { a: { a: [1, { b: 2 }], b: [[1], [2]] }, b: [{ a: 1 }, [3]] } as unknown as KubeObject
      const before = JSON.stringify([object, operations])
      // Operations that do not apply are left out, so that long patches are tested.
      const applied: unknown[] = []
      let expected = object
      for (const one of operations) {
        try {
          expected = structuredClone(applyJsonPatch(structuredClone(expected), [one]))
          applied.push(one)
        } catch (error) {
          if (!(error instanceof StatusError)) throw error
        }
      }
      expect(applyJsonPatch(object, applied)).toEqual(expected)
      expect(JSON.stringify([object, operations])).toBe(before)
    }),
    { numRuns: 2000 },
  )
})
