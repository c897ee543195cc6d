import fc from 'fast-check'
import { expect, it } from 'vitest'
import { compareResourceVersions, keyOf, refOf, refTo } from './object.ts'

it('a key names a ref and back', () => {
  expect(refOf(keyOf({ namespace: 'a', name: 'b' }))).toEqual({ namespace: 'a', name: 'b' })
  expect(refOf(keyOf({ name: 'node-1' }))).toEqual({ name: 'node-1' })
})

it('an object without a name has no ref', () => {
  expect(refTo({ metadata: { name: 'x' } })).toEqual({ name: 'x' })
  expect(() => refTo({ kind: 'Pod', metadata: { generateName: 'x-' } })).toThrow('Pod has no metadata.name')
})

it('resourceVersions compare as integers, beyond 2^53 too', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n }), fc.bigInt({ min: 0n, max: 2n ** 64n }), (a, b) => {
      expect(Math.sign(compareResourceVersions(String(a), String(b)))).toBe(a < b ? -1 : a > b ? 1 : 0)
    }),
  )
})
