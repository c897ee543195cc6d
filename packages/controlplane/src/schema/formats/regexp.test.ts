import { describe, expect, test } from 'vitest'

import { compileRe2, estimatedCost } from './regexp.ts'

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

  test.each([
    '^(a+)+$',
    '^(a|a)*$',
    '^([a-z]+)*\\d$',
    '(?i)^(a+)+$',
    '^(a+){20}$',
    '(?m)^(a+)+$',
    '^(\\p{L}+)+$',
    '^(a?){500}a{500}$',
  ])('%s takes linear time', (pattern) => {
    const started = performance.now()
    expect(compileRe2(pattern).test(`${'a'.repeat(5000)}!`)).toBe(false)
    expect(performance.now() - started).toBeLessThan(2000)
  })

  test.each([
    ['a*', 'baaac', ['', 'aaa', '']],
    ['', 'abc', ['', '', '', '']],
    ['a|', 'aba', ['a', 'a']],
    ['(a.*b)|a', 'aaa', ['a', 'a', 'a']],
  ])('all matches of %j in %j are those of Go', (pattern, text, expected) => {
    expect(compileRe2(pattern).findAll(text, () => undefined)).toEqual(expected)
  })

  test.each([
    ['((abcdefghij){100}){100}', 'expression too large'],
    ['((a{10}){10}){11}', 'invalid repeat count'],
    ['(abcdefghij){1000}(abcdefghij){1000}', 'expression too large'],
    ['a'.repeat(20_000), 'expression too large'],
    ['(a|b)'.repeat(3_000), 'expression too large'],
    ['(?i)[\\pL\\pN]'.repeat(1000), 'expression too large'],
    [`${'('.repeat(2000)}a${')'.repeat(2000)}`, 'expression nests too deeply'],
  ])('a pattern that is costly to compile is rejected', (pattern, message) => {
    expect(() => compileRe2(pattern)).toThrow(message)
  })

  test.each([
    '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$',
    '^(([a-z]{1,20})\\.){1,10}[a-z]{2,}$',
    '[[:alpha:]]{2,3}|\\pL{4}',
  ])('the cost of %s is close to the size of its program', (pattern) => {
    const { size } = compileRe2(pattern)
    expect(estimatedCost(pattern)).toBeGreaterThanOrEqual(size)
    expect(estimatedCost(pattern)).toBeLessThan(size * 3 + 150)
  })
})
