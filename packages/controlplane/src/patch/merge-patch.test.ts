import { isDeepEqual, isJsonObject } from '@tenure/kube/model'
import type { KubeObject } from '@tenure/kube'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { applyMergePatch } from './merge-patch.ts'

const patch = (object: unknown, change: unknown): unknown => applyMergePatch(object as KubeObject, change)

describe('applyMergePatch', () => {
  // The examples of RFC 7386 in which both values are objects.
  test.each([
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ])('patching %j with %j gives %j', (object, change, result) => {
    expect(patch(object, change)).toEqual(result)
  })

  test('nulls are dropped from the objects of a new list and kept as items', () => {
    expect(patch({}, { a: [null, { b: null, c: 1 }] })).toEqual({ a: [null, { c: 1 }] })
  })

  test.each([
    [null, 'Invalid JSON Patch'],
    [[], 'error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}'],
    [3, 'error decoding patch: json: cannot unmarshal number into Go value of type map[string]interface {}'],
    ['x', 'error decoding patch: json: cannot unmarshal string into Go value of type map[string]interface {}'],
  ])('a body of %j is not a patch', (change, message) => {
    expect(() => patch({}, change)).toThrow(expect.objectContaining({ code: 400, reason: 'BadRequest', message }))
  })

  test('__proto__ is an ordinary key', () => {
    const result = patch({ a: {} }, JSON.parse('{"a":{"__proto__":{"polluted":1}},"__proto__":{"polluted":1}}'))
    expect(JSON.stringify(result)).toBe('{"a":{"__proto__":{"polluted":1}},"__proto__":{"polluted":1}}')
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  test('a patch that is nested too deeply is refused', () => {
    let deep: unknown = 1
    for (let i = 0; i < 5_000; i++) deep = { a: deep }
    expect(() => patch({}, deep)).toThrow(expect.objectContaining({ code: 400 }))
  })

  test('untouched parts are shared with the given object', () => {
    const object = { a: { b: 1 }, c: { d: 1 } }
    const result = patch(object, { c: { d: 2 } }) as typeof object
    expect(result.a).toBe(object.a)
    expect(object.c.d).toBe(1)
  })

  test('the patch between two objects turns the first into the second', () => {
    const object = fc.dictionary(fc.string(), withoutNull())
    fc.assert(
      fc.property(object, object, (before, after) => {
        const result = patch(before, difference(before, after))
        expect(isDeepEqual(result, after)).toBe(true)
      }),
    )
  })
})

function withoutNull(): fc.Arbitrary<unknown> {
  return fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 3 }, fc.string(), fc.integer(), fc.boolean(), tie('list'), tie('map')),
    list: fc.array(fc.oneof(fc.string(), fc.integer())),
    map: fc.dictionary(fc.string(), tie('value')),
  })).value
}

/** The merge patch from one object to another. */
function difference(before: Record<string, unknown>, after: Record<string, unknown>): unknown {
  const entries: [string, unknown][] = Object.keys(before)
    .filter((key) => !Object.hasOwn(after, key))
    .map((key) => [key, null])
  for (const [key, value] of Object.entries(after)) {
    const was = Object.hasOwn(before, key) ? before[key] : undefined
    entries.push([key, isJsonObject(value) && isJsonObject(was) ? difference({ ...was }, { ...value }) : value])
  }
  return Object.fromEntries(entries)
}
