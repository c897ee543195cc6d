import { describe, expect, test } from 'vitest'
import {
  annotationKey,
  dns1035Label,
  dnsLabel,
  dnsSubdomain,
  isDnsSubdomain,
  labelValue,
  maxLengthError,
  pathSegment,
  qualifiedName,
  regexError,
  wildcardSubdomain,
  type NameRule,
} from './names.ts'

const SUBDOMAIN = expect.stringMatching(/^a lowercase RFC 1123 subdomain .*\(e\.g\. 'example\.com', regex used for/)
const LABEL = expect.stringMatching(/^a lowercase RFC 1123 label .*\(e\.g\. 'my-name',  or '123-abc', regex used for/)
const NAME_PART = expect.stringMatching(/^name part must consist of alphanumeric characters, '-', '_' or '\.'/)
const LABEL_VALUE = expect.stringMatching(/^a valid label must be an empty string or consist of alphanumeric/)

const RULES: readonly (readonly [string, NameRule, string, readonly unknown[]])[] = [
  ['dnsSubdomain', dnsSubdomain, 'a.b-c.1', []],
  ['dnsSubdomain', dnsSubdomain, 'a'.repeat(253), []],
  ['dnsSubdomain', dnsSubdomain, 'a'.repeat(254), ['must be no more than 253 characters']],
  ['dnsSubdomain', dnsSubdomain, '', [SUBDOMAIN]],
  ['dnsSubdomain', dnsSubdomain, 'a..b', [SUBDOMAIN]],
  ['dnsSubdomain', dnsSubdomain, 'A', [SUBDOMAIN]],
  ['dnsSubdomain', dnsSubdomain, 'a\n', [SUBDOMAIN]],
  ['dnsLabel', dnsLabel, '1-a', []],
  ['dnsLabel', dnsLabel, 'a.b', ['must not contain dots']],
  ['dnsLabel', dnsLabel, '-a', [LABEL]],
  ['dnsLabel', dnsLabel, 'a'.repeat(64), ['must be no more than 63 characters']],
  ['dns1035Label', dns1035Label, 'a-1', []],
  ['dns1035Label', dns1035Label, '1a', [expect.stringMatching(/^a DNS-1035 label must/)]],
  ['wildcardSubdomain', wildcardSubdomain, '*.example.com', []],
  ['wildcardSubdomain', wildcardSubdomain, 'example.com', [expect.stringMatching(/^a wildcard DNS-1123 subdomain/)]],
  ['pathSegment', pathSegment, 'system:x', []],
  ['pathSegment', pathSegment, '..', ["may not be '..'"]],
  ['pathSegment', pathSegment, 'a/b%', ["may not contain '/'", "may not contain '%'"]],
  ['qualifiedName', qualifiedName, 'example.dev/My_Name.1', []],
  ['qualifiedName', qualifiedName, '/a', ['prefix part must be non-empty']],
  ['qualifiedName', qualifiedName, 'a/', ['name part must be non-empty', NAME_PART]],
  ['qualifiedName', qualifiedName, 'A/b', [expect.stringMatching(/^prefix part a lowercase RFC 1123 subdomain/)]],
  ['qualifiedName', qualifiedName, `${'a'.repeat(254)}/b`, ['prefix part must be no more than 253 bytes']],
  ['qualifiedName', qualifiedName, 'a'.repeat(64), ['name part must be no more than 63 bytes']],
  ['qualifiedName', qualifiedName, 'a/b/c', [expect.stringMatching(/^a valid label key .* \(e\.g\. 'example\.com/)]],
  ['annotationKey', annotationKey, 'Example.DEV/a', []],
  ['labelValue', labelValue, '', []],
  ['labelValue', labelValue, 'a_B.1', []],
  ['labelValue', labelValue, '-a', [LABEL_VALUE]],
  ['labelValue', labelValue, '-'.repeat(64), ['must be no more than 63 bytes', LABEL_VALUE]],
]

describe('name rules', () => {
  test.each(RULES)('%s %# reports the errors of kube-apiserver', (_, rule, value, errors) => {
    expect(rule(value)).toEqual(errors)
  })

  test('isDnsSubdomain agrees with the rule that explains', () => {
    for (const value of ['a', 'a.b', '', 'a.', 'a'.repeat(254)]) {
      expect(isDnsSubdomain(value)).toBe(dnsSubdomain(value).length === 0)
    }
  })

  test('a long invalid name is rejected in linear time', () => {
    expect(dnsSubdomain(`${'a-'.repeat(500_000)}!`)).toHaveLength(2)
    expect(qualifiedName(`${'a.'.repeat(500_000)}!`)).toHaveLength(2)
  })

  test('errors are worded as in apimachinery', () => {
    expect(maxLengthError(5)).toBe('must be no more than 5 characters')
    expect(regexError('m', 'p')).toBe("m (regex used for validation is 'p')")
    expect(regexError('m', 'p', 'a', 'b')).toBe("m (e.g. 'a',  or 'b', regex used for validation is 'p')")
  })
})
