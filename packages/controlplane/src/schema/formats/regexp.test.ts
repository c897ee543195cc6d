import { describe, expect, test } from 'vitest'

import { compileRe2 } from './regexp.ts'

describe('RE2 patterns', () => {
  test.each([
    ['^[a-z]+$', 'abc', true],
    ['(?i)^abc$', 'aBC', true],
    ['a(?i:B)c', 'abc', true],
    ['a(?i:B)C', 'abc', false],
    ['(?i)^[a-c]x$', 'BX', true],
    ['^[[:alpha:]]+$', 'abC', true],
    ['^[[:alpha:]]+$', 'ab1', false],
    ['^\\p{L}+$', 'äö', true],
    ['^\\pN+$', '12', true],
    ['\\Aabc\\z', 'abc', true],
    ['^(?P<name>a)b$', 'ab', true],
    ['^a{2}$', 'aa', true],
    ['^a{,2}$', 'a{,2}', true],
    ['^\\Qa.b\\E$', 'a.b', true],
    ['^\\Qa.b\\E$', 'axb', false],
    ['^.$', '\n', false],
    ['(?s)^.$', '\n', true],
    ['(?m)^b$', 'a\nb', true],
    ['a$', 'a\n', false],
    ['^\\x{41}\\x42$', 'AB', true],
    ['^[\\w.-]+$', 'a.b-c_1', true],
    ['^[]a]+$', ']a', true],
    ['^\\s$', '\u00A0', false],
    ['^https?://', 'https://x', true],
  ])('matching %s on %j returns %s', (pattern, text, expected) => {
    expect(compileRe2(pattern).test(text)).toBe(expected)
  })

  test.each([
    ['(', 'error parsing regexp: missing closing ): `(`'],
    [')', 'error parsing regexp: unexpected ): `)`'],
    ['(?=x)', 'error parsing regexp: invalid or unsupported Perl syntax: `(?=`'],
    ['a**', 'error parsing regexp: invalid nested repetition operator: `**`'],
    ['*a', 'error parsing regexp: missing argument to repetition operator: `*`'],
    ['[a', 'error parsing regexp: missing closing ]: `[a`'],
    ['[b-a]', 'error parsing regexp: invalid character class range: `b-a`'],
    ['\\8', 'error parsing regexp: invalid escape sequence: `\\8`'],
    ['a{1001}', 'error parsing regexp: invalid repeat count: `{1001}`'],
  ])('the pattern %s is rejected', (pattern, message) => {
    expect(() => compileRe2(pattern)).toThrow(message)
  })

  test.each(['^(a+)+$', '^(a|a)*$', '^([a-z]+)*\\d$', '(?i)^(a+)+$'])('%s takes linear time', (pattern) => {
    const started = performance.now()
    expect(compileRe2(pattern).test(`${'a'.repeat(5000)}!`)).toBe(false)
    expect(performance.now() - started).toBeLessThan(2000)
  })
})
