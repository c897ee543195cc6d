import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compareResourceVersions, keyOf, refOf, refTo } from './object.ts'

test('a key and a reference convert into each other', () => {
  expect(refOf(keyOf({ namespace: 'a', name: 'b' }))).toEqual({ namespace: 'a', name: 'b' })
  expect(refOf(keyOf({ name: 'node-1' }))).toEqual({ name: 'node-1' })
})

test('an object without a name has no reference', () => {
  expect(refTo({ metadata: { name: 'x' } })).toEqual({ name: 'x' })
  expect(() => refTo({ kind: 'Pod', metadata: { generateName: 'x-' } })).toThrow('Pod has no metadata.name')
})

test('resourceVersions compare as integers, also beyond 2^53', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n }), fc.bigInt({ min: 0n, max: 2n ** 64n }), (a, b) => {
      expect(Math.sign(compareResourceVersions(String(a), String(b)))).toBe(a < b ? -1 : a > b ? 1 : 0)
    }),
  )
})
