import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  canonicalQuantity,
  compareQuantities,
  formatQuantity,
  isQuantity,
  isSameQuantity,
  parseQuantity,
} from './quantity.ts'

describe('canonicalQuantity', () => {
  test.each([
    ['1024Mi', '1Gi'],
    ['1.5Gi', '1536Mi'],
    ['0.5', '500m'],
    ['1000', '1k'],
    ['1500', '1500'],
    ['1500000', '1500k'],
    ['1e3', '1e3'],
    ['12e6', '12e6'],
    ['512Ki', '512Ki'],
    ['0.5Ki', '512'],
    ['-1000m', '-1'],
    ['0', '0'],
    ['0Mi', '0'],
    ['+5', '+5'],
    ['5.', '5.'],
    ['1E3', '1E3'],
    ['1234567.891', '1234567.891'],
    ['1.1Ki', '1126400m'],
    ['92233720368547758070', '92233720368547758070'],
    ['0.1n', '1n'],
    ['100E', '100E'],
  ])('%s becomes %s', (text, canonical) => {
    expect(canonicalQuantity(text)).toBe(canonical)
  })

  test('nothing is finer than a thousandth in a resource list', () => {
    expect(canonicalQuantity('0.1n', true)).toBe('1m')
    expect(canonicalQuantity('0.0001', true)).toBe('1m')
    expect(canonicalQuantity('0.0001')).toBe('100u')
  })

  test.each([
    ['abc', 'quantities must match the regular expression'],
    ['', 'quantities must match the regular expression'],
    ['1..2', 'unable to parse numeric part of quantity'],
    ['1K', "unable to parse quantity's suffix"],
    ['1e', "unable to parse quantity's suffix"],
    ['1e9223372036854775808', "unable to parse quantity's suffix"],
  ])('%j fails with the error of kube-apiserver', (text, message) => {
    expect(() => canonicalQuantity(text)).toThrow(message)
  })

  test('more than 1,000 characters are refused, because long integers take long to compute', () => {
    expect(canonicalQuantity('9'.repeat(1_000))).toBe('9'.repeat(1_000))
    for (const text of ['9'.repeat(1_001), `0.${'9'.repeat(999)}`, `1e${'9'.repeat(999)}`]) {
      expect(() => canonicalQuantity(text)).toThrow('unable to parse numeric part of quantity')
      expect(isQuantity(text)).toBe(false)
    }
  })
})

describe('isSameQuantity', () => {
  test.each([
    ['0.5', '500m', true],
    ['1Gi', '1024Mi', true],
    ['1Ki', '1024', true],
    [1, '1', true],
    [1.5, '1500m', true],
    ['1e3', '1k', true],
    ['0.1', '100m', true],
    ['9007199254740993', '9007199254740992', false],
    ['1', '2', false],
    ['x', 'x', false],
    ['x', '1', false],
    [undefined, undefined, false],
    ['1', {}, false],
  ])('%j and %j compare as %j', (a, b, expected) => {
    expect(isSameQuantity(a, b)).toBe(expected)
    expect(isSameQuantity(b, a)).toBe(expected)
  })

  test('values that are not quantities are recognized, also when asked twice', () => {
    expect(['1', 'x', 'x', 1, null, '1Gi'].map(isQuantity)).toEqual([true, false, false, true, false, true])
  })

  test('a quantity is the same as its canonical form, and the order is that of the values', () => {
    const suffix = fc.constantFrom('', 'm', 'u', 'n', 'k', 'M', 'Ki', 'Mi', 'Gi')
    const quantity = fc.tuple(fc.integer({ min: -1e9, max: 1e9 }), suffix).map((parts) => parts.join(''))
    fc.assert(
      fc.property(quantity, quantity, (a, b) => {
        expect(isSameQuantity(a, canonicalQuantity(a))).toBe(true)
        expect(isSameQuantity(a, formatQuantity(parseQuantity(a)))).toBe(true)
        const order = compareQuantities(parseQuantity(a), parseQuantity(b))
        expect(order === 0).toBe(isSameQuantity(a, b))
        expect(compareQuantities(parseQuantity(b), parseQuantity(a))).toBe(order === 0 ? 0 : -order)
      }),
    )
  })
})
