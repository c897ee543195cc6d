import { describe, expect, test } from 'vitest'

import { goJson, goQuote } from '../go-text.ts'
import { base64Error } from './base64.ts'
import { canonicalMicroTime, canonicalTime } from './go-time.ts'

describe('a time', () => {
  test.each([
    ['2024-01-01T01:00:00.9+01:00', '2024-01-01T00:00:00Z'],
    ['2024-02-29T23:59:59Z', '2024-02-29T23:59:59Z'],
    ['0099-01-01T00:00:00Z', '0099-01-01T00:00:00Z'],
  ])('%s is canonical as %s', (text, canonical) => {
    expect(canonicalTime(text)).toBe(canonical)
  })

  test('a MicroTime has exactly six fractional digits', () => {
    expect(canonicalMicroTime('2024-01-01T01:00:00.123456+01:00')).toBe('2024-01-01T00:00:00.123456Z')
    expect(() => canonicalMicroTime('2024-01-01T00:00:00Z')).toThrow('cannot parse "Z" as ".000000"')
  })

  test.each([
    ['x', 'cannot parse "x" as "2006"'],
    ['2024-13-01T00:00:00Z', 'month out of range'],
    ['2023-02-29T00:00:00Z', 'day out of range'],
    ['2024-01-01T00:00:00', 'cannot parse "" as "Z07:00"'],
    ['2024-01-01T00:00:00Zx', 'extra text: "x"'],
  ])('the time %s is rejected', (text, message) => {
    expect(() => canonicalTime(text)).toThrow(message)
  })
})

describe('base64', () => {
  test.each([
    ['YQ==', undefined],
    ['', undefined],
    ['YW\nI=', undefined],
    ['!!!', 0],
    ['YQ', 0],
    ['YWJjZ', 4],
    ['YW!j', 2],
    ['YQ==x', 4],
  ])('%j is corrupt at %s', (text, at) => {
    expect(base64Error(text)).toBe(at === undefined ? undefined : `illegal base64 data at input byte ${at}`)
  })
})

describe('Go text', () => {
  test('text is quoted and marshalled as Go does', () => {
    expect(goQuote('a"b\\\n\u0001é\u200B😀')).toBe('"a\\"b\\\\\\n\\x01é\\u200b😀"')
    expect(goJson({ b: '<&>', a: [1, null] })).toBe('{"a":[1,null],"b":"\\u003c\\u0026\\u003e"}')
  })
})
