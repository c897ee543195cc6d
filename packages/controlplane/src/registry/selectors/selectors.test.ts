import type { KubeObject } from '@tenure/kube'
import { describe, expect, test } from 'vitest'
import { KINDS } from '../testing/catalog.ts'
import { parseFieldSelector } from './field-selector.ts'
import { parseLabelSelector } from './label-selector.ts'

describe('parseLabelSelector', () => {
  test.each([
    ['app=web', { app: 'web' }, true],
    ['app==web,tier!=cache', { app: 'web' }, true],
    ['app in (a, b),env', { app: 'b', env: '' }, true],
    ['app notin (a)', {}, true],
    ['!app', { app: '' }, false],
    ['size>3', { size: '12' }, true],
    ['size<3', { size: 'x' }, false],
    ['app=', { app: '' }, true],
    ['app in ()', { app: '' }, true],
    ['app in (,a)', { app: '' }, true],
    ['constructor=x', {}, false],
  ])('%s on %j gives %s', (selector, labels, expected) => {
    expect(parseLabelSelector(selector)?.(labels)).toBe(expected)
  })

  test('the empty selector selects everything without a test', () => {
    expect(parseLabelSelector('')).toBeUndefined()
    expect(parseLabelSelector('  ')).toBeUndefined()
  })

  // The messages are those of kube-apiserver 1.36.
  test.each([
    ['a === b', "unable to parse requirement: found '=', expected: identifier"],
    ['a in b', "unable to parse requirement: found 'b' expected: '('"],
    [
      'a>b',
      `unable to parse requirement: values[0]: Invalid value: "b": for 'Gt', 'Lt' operators, the value must be an integer`,
    ],
    ['a,', "found '', expected: identifier after ','"],
    ['=a', "found '=', expected: !, identifier, or 'end of string'"],
  ])('%s is refused with: %s', (selector, message) => {
    expect(() => parseLabelSelector(selector)).toThrow(expect.objectContaining({ code: 400, message }))
  })
})

describe('parseFieldSelector', () => {
  const pod = { metadata: { name: 'web', namespace: 'default' }, spec: { nodeName: 'n1' } } as KubeObject

  test.each([
    ['metadata.name=web', true],
    ['metadata.name!=web', false],
    ['metadata.name==web,spec.nodeName=n1', true],
    ['spec.nodeName=', false],
    [String.raw`metadata.name=a\,b`, false],
  ])('%s gives %s', (selector, expected) => {
    expect(parseFieldSelector(selector, KINDS.pod).test?.(pod)).toBe(expected)
  })

  test('a single name is known without reading all objects', () => {
    expect(parseFieldSelector('metadata.name=web', KINDS.pod).name).toBe('web')
    expect(parseFieldSelector('metadata.name!=web', KINDS.pod).name).toBeUndefined()
  })

  test.each([
    ['spec.foo=b', KINDS.pod, 'field label not supported: spec.foo'],
    [
      'spec.foo=b',
      KINDS.configMap,
      '"spec.foo" is not a known field selector: only "metadata.name", "metadata.namespace"',
    ],
    ['abc', KINDS.pod, "invalid selector: 'abc'; can't understand 'abc'"],
    ['a=b=c', KINDS.pod, 'invalid field selector: unescaped character in value: 61'],
  ])('%s is refused', (selector, definition, message) => {
    expect(() => parseFieldSelector(selector, definition)).toThrow(expect.objectContaining({ code: 400, message }))
  })
})
