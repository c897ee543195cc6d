import { expect, test } from 'vitest'
import { StatusError } from '../errors.ts'
import { checkStoredSize, MAX_STORED_BYTES, refuseIfLarge, refuseOversized } from './object-size.ts'

const check = (object: unknown): void => checkStoredSize(JSON.stringify(object))
/** An object whose JSON has this many bytes. */
const ofBytes = (bytes: number): object => ({ a: 'x'.repeat(bytes - 8) })
const refusal = new StatusError(413, 'RequestEntityTooLarge', 'etcdserver: request is too large')

test('an object can be stored up to exactly the limit', () => {
  expect(JSON.stringify(ofBytes(100))).toHaveLength(100)
  expect(() => check(ofBytes(MAX_STORED_BYTES))).not.toThrow()
  expect(() => check(ofBytes(MAX_STORED_BYTES + 1))).toThrow(refusal)
})

test('bytes count, not characters', () => {
  expect(() => check({ a: 'ü'.repeat(MAX_STORED_BYTES / 2 - 4) })).not.toThrow()
  expect(() => check({ a: 'ü'.repeat(MAX_STORED_BYTES / 2) })).toThrow(refusal)
  expect(() => check({ a: '\u0001'.repeat(MAX_STORED_BYTES / 6) })).toThrow(refusal)
})

test('a value is looked at only if its request was large', () => {
  const tooLarge = ofBytes(MAX_STORED_BYTES + 1)
  expect(() => refuseIfLarge(16 * 1024, tooLarge)).not.toThrow()
  expect(() => refuseIfLarge(16 * 1024 + 1, tooLarge)).toThrow(refusal)
  expect(() => refuseIfLarge(undefined, tooLarge)).toThrow(refusal)
})

test('a value is refused early only if no way of writing it fits', () => {
  const values = [
    [],
    {},
    [null, true, 1, 'a', undefined],
    { a: [], b: {}, c: { d: [{ e: 1 }, {}] }, f: undefined },
    Array.from({ length: 10 }, () => ({ x: [0] })),
  ]
  for (const value of values) {
    // With so much text that the whole is exactly at the limit.
    const rest = JSON.stringify([value, '']).length
    expect(() => refuseOversized([value, 'x'.repeat(MAX_STORED_BYTES - rest)])).not.toThrow()
  }
  expect(() => refuseOversized(ofBytes(MAX_STORED_BYTES + 1))).toThrow(refusal)
  expect(() => refuseOversized(Array.from({ length: MAX_STORED_BYTES }, () => ({})))).toThrow(refusal)
})
