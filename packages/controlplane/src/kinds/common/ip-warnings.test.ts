import { expect, test } from 'vitest'

import { addressWarnings, networkWarnings } from './ip-warnings.ts'

// kube-apiserver rejects these in new objects and warns only of stored ones.
test('the warning for a stored address gives its canonical form', () => {
  expect(addressWarnings('010.0.0.1', 'a')).toEqual([
    'a: non-standard IP address "010.0.0.1" is invalid: use "10.0.0.1"',
  ])
  expect(addressWarnings('::ffff:1.2.3.4', 'a')).toEqual([
    'a: non-standard IP address "::ffff:1.2.3.4" is invalid: use "1.2.3.4"',
  ])
  expect(['10.0.0.1', 'fe80::1', 'none'].flatMap((text) => addressWarnings(text, 'a'))).toEqual([])
})

test('the warning for a stored CIDR gives its canonical form', () => {
  expect(networkWarnings('10.0.0.1/8', 'a')).toEqual([
    'a: CIDR value "10.0.0.1/8" is ambiguous in this context (should be "10.0.0.0/8" or "10.0.0.1/32"?)',
  ])
  expect(networkWarnings('::ffff:10.0.0.0/104', 'a')).toEqual([
    'a: non-standard CIDR value "::ffff:10.0.0.0/104" is invalid: use "10.0.0.0/8"',
  ])
  expect(['10.0.0.0/8', 'fe80::/10', 'none'].flatMap((text) => networkWarnings(text, 'a'))).toEqual([])
})
