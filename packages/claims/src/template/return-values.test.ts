import { expect, test } from 'vitest'
import { isLazy, returnValuesOf } from './return-values.ts'
import type { Manifest } from './types.ts'

const manifest = (annotations?: unknown): Manifest => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a', annotations },
})
const returning = (text: string): Manifest => manifest({ 'claim.controller/return': text })

test('pairs are split at commas, semicolons and newlines, and trimmed', () => {
  expect(returnValuesOf([returning(' a = 1 ,b=2;c=3\n\nd = x y \n')])).toEqual({ a: '1', b: '2', c: '3', d: 'x y' })
})

test('text without a key or without = is skipped, and a value may contain = or be empty', () => {
  expect(returnValuesOf([returning('a,=b,;url=http://h/?q=1,empty=')])).toEqual({ url: 'http://h/?q=1', empty: '' })
})

test('of equal keys the last of all objects wins', () => {
  expect(returnValuesOf([returning('a=1,a=2,b=1'), manifest(), returning('b=2')])).toEqual({ a: '2', b: '2' })
})

test('a key named like a property of all objects is an ordinary key', () => {
  const values = returnValuesOf([returning('__proto__=1,constructor=2')])
  expect(Object.entries(values)).toEqual([
    ['__proto__', '1'],
    ['constructor', '2'],
  ])
  expect(Object.getPrototypeOf(values)).toBe(Object.prototype)
})

test.each([
  [{ 'claim.controller/lazy-provisionning': 'true' }, true],
  [{ 'claim.controller/lazy.provisionning': 'true' }, true],
  [{ 'claim.controller/lazy-provisionning': 'false' }, false],
  [{ 'claim.controller/lazy-provisionning': 'false', 'claim.controller/lazy.provisionning': 'true' }, true],
  [{}, false],
  [undefined, false],
  [null, false],
])('the annotations %o make an object lazy: %o', (annotations, expected) => {
  expect(isLazy(manifest(annotations))).toBe(expected)
})
