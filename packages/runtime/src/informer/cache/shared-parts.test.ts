import fc from 'fast-check'
import { expect, test } from 'vitest'
import { withSharedParts } from './shared-parts.ts'

test('equal parts are the same objects afterwards, and the rest stays', () => {
  const reference = { name: 'a', spec: { list: [{ x: 1 }, { y: 2 }], map: { k: 'v' } } }
  const value = { name: 'b', spec: { list: [{ x: 1 }, { y: 3 }], map: { k: 'v' } } }
  const shared = withSharedParts(value, reference)
  expect(shared).toEqual({ name: 'b', spec: { list: [{ x: 1 }, { y: 3 }], map: { k: 'v' } } })
  expect(shared.spec.list[0]).toBe(reference.spec.list[0])
  expect(shared.spec.map).toBe(reference.spec.map)
  expect(withSharedParts(structuredClone(reference), reference)).toBe(reference)
})

test('a part that only one of them has is kept or left out', () => {
  expect(withSharedParts({ a: 1 }, { a: 1, b: 2 })).toEqual({ a: 1 })
  expect(withSharedParts({ a: 1, b: undefined }, { a: 1 })).toStrictEqual({ a: 1, b: undefined })
  expect(withSharedParts([1, 2], [1])).toEqual([1, 2])
  expect(withSharedParts({ constructor: 1 }, {})).toEqual({ constructor: 1 })
})

test('the result always equals the value, and neither argument changes', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (value, reference) => {
      const before = JSON.stringify([value, reference])
      expect(JSON.stringify(withSharedParts(value, reference))).toBe(JSON.stringify(value))
      expect(JSON.stringify(withSharedParts(value, structuredClone(value)))).toBe(JSON.stringify(value))
      expect(JSON.stringify([value, reference])).toBe(before)
    }),
  )
})
