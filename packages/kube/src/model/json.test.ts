import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  asArray,
  asJsonObject,
  asString,
  isDeepEqual,
  isJsonObject,
  ownValue,
  setOwnValue,
  valueAtPath,
  withoutField,
} from './json.ts'

/** JSON.parse makes an own `__proto__`; an object literal would set the prototype. */
const PROTO = JSON.parse('{"__proto__":{}}') as Record<string, unknown>

describe('isDeepEqual', () => {
  test.each([
    [1, 1, true],
    [null, null, true],
    [null, undefined, false],
    [null, {}, false],
    [[], {}, false],
    [{}, [], false],
    [[1, [2]], [1, [2]], true],
    [[1, 2], [2, 1], false],
    [[1], [1, undefined], false],
    [{ a: 1, b: { c: [] } }, { b: { c: [] }, a: 1 }, true],
    [{ a: undefined }, {}, true],
    [{}, { a: undefined }, true],
    [{ a: undefined, b: 1 }, { b: 1, c: undefined }, true],
    [{ a: undefined }, { b: 1 }, false],
    [{ a: null }, {}, false],
    [{ a: 1 }, { b: 1 }, false],
    [{ toString: 1 }, {}, false],
    [PROTO, { z: 1 }, false],
    [{ z: 1 }, PROTO, false],
    [PROTO, JSON.parse('{"__proto__":{}}'), true],
  ])('%j and %j compare as %j', (a, b, expected) => {
    expect(isDeepEqual(a, b)).toBe(expected)
  })

  test('a value equals its copy, and two values are equal if their JSON is', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        expect(isDeepEqual(a, JSON.parse(JSON.stringify(a)))).toBe(true)
        expect(isDeepEqual(a, b)).toBe(isDeepEqual(b, a))
        expect(isDeepEqual(a, b) || JSON.stringify(a) !== JSON.stringify(b)).toBe(true)
      }),
    )
  })
})

describe('JSON guards', () => {
  test('only objects that are neither null nor arrays are JSON objects', () => {
    expect([{}, PROTO, null, [], 'x', 1, undefined].map(isJsonObject)).toEqual([
      true,
      true,
      false,
      false,
      false,
      false,
      false,
    ])
  })

  test('values of another type become empty ones', () => {
    expect([asJsonObject([]), asJsonObject({ a: 1 })]).toEqual([{}, { a: 1 }])
    expect([asArray({}), asArray([1])]).toEqual([[], [1]])
    expect([asString(1), asString('x')]).toEqual(['', 'x'])
  })

  test('inherited properties are not values', () => {
    expect([ownValue({}, 'toString'), ownValue({ a: 1 }, 'a'), ownValue(PROTO, '__proto__')]).toEqual([
      undefined,
      1,
      {},
    ])
    expect([valueAtPath({ a: { b: 1 } }, 'a', 'b'), valueAtPath({ a: 1 }, 'a', 'toString')]).toEqual([1, undefined])
  })

  test('a key named __proto__ is set like any other', () => {
    const target: Record<string, unknown> = {}
    setOwnValue(target, '__proto__', { a: 1 })
    setOwnValue(target, 'b', 2)
    expect(JSON.stringify(target)).toBe('{"__proto__":{"a":1},"b":2}')
  })

  test('withoutField keeps an object that lacks the field', () => {
    const object = { a: 1, b: 2 }
    expect(withoutField(object, 'c')).toBe(object)
    expect(withoutField(object, 'a')).toEqual({ b: 2 })
  })
})
