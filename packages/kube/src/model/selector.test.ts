import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FieldMatcher, LabelMatcher, selectionMatcher } from './selector.ts'

describe('LabelMatcher', () => {
  test.each([
    ['', {}, true],
    ['a', { a: '' }, true],
    ['a', {}, false],
    ['!a', {}, true],
    ['!a', { a: '1' }, false],
    ['a=1', { a: '1' }, true],
    ['a==1', { a: '1' }, true],
    ['a = 1 , b!=2', { a: '1' }, true],
    ['a=', { a: '' }, true],
    ['a=', { a: '1' }, false],
    ['a!=1', {}, true],
    ['a!=1', { a: '2' }, true],
    ['a!=1', { a: '1' }, false],
    ['a in (1,2)', { a: '2' }, true],
    ['a in (1, 2)', { a: '3' }, false],
    ['a in ()', { a: '' }, true],
    ['a in (1,)', { a: '' }, true],
    ['a notin (1,2)', {}, true],
    ['a notin (1,2)', { a: '1' }, false],
    ['in in (in)', { in: 'in' }, true],
    ['notin', { notin: '' }, true],
    ['example.dev/a=1,b in (x)', { 'example.dev/a': '1', b: 'x' }, true],
    ['a>5', { a: '6' }, true],
    ['a>5', { a: '5' }, false],
    ['a<5', { a: '-1' }, true],
    ['a<5', { a: 'x' }, false],
    ['a>5', { a: '+6' }, true],
    ['a>5', { a: '9223372036854775808' }, false],
    ['a<9223372036854775807', { a: '-9223372036854775808' }, true],
    ['a<5', {}, false],
    ['toString', {}, false],
  ])('%j matches %j: %j', (selector, labels, expected) => {
    expect(LabelMatcher.parse(selector).matches(labels)).toBe(expected)
    expect(LabelMatcher.parse(selector).matches(Object.keys(labels).length > 0 ? labels : undefined)).toBe(expected)
  })

  test.each([
    '=',
    'a in',
    'a in (',
    'a in (1',
    'a in 1',
    'a b',
    'a,',
    ',a',
    '!',
    '!a=1',
    'a=b=c',
    'a>x',
    'a>-1',
    'a>+1',
    'a>9223372036854775808',
    '-a',
    'a=-b',
    '/a',
    'A.b/',
    'a=b c',
  ])('the label selector %j is rejected', (selector) => {
    expect(() => LabelMatcher.parse(selector)).toThrow(/cannot be parsed.*Write it like/)
  })

  test('the object form has the same meaning as the text', () => {
    const matcher = LabelMatcher.from({
      matchLabels: { app: 'web' },
      matchExpressions: [
        { key: 'tier', operator: 'NotIn', values: ['cache'] },
        { key: 'env', operator: 'In', values: ['prod', 'beta'] },
        { key: 'legacy', operator: 'DoesNotExist' },
        { key: 'x', operator: 'Exists' },
      ],
    })
    expect(String(matcher)).toBe('app=web,env in (beta,prod),!legacy,tier!=cache,x')
    expect(matcher.matches({ app: 'web', env: 'prod', x: '' })).toBe(true)
    expect(matcher.matches({ app: 'web', env: 'prod', x: '', legacy: '' })).toBe(false)
    expect(LabelMatcher.from({}).isEmpty).toBe(true)
  })

  test.each([
    { key: 'a', operator: 'In' },
    { key: 'a', operator: 'Exists', values: ['x'] },
    { key: 'a', operator: 'Like', values: ['x'] },
  ])('the expression %j is rejected', (expression) => {
    expect(() => LabelMatcher.from({ matchExpressions: [expression] })).toThrow(/on "a"/)
  })

  test('a printed selector parses to the same selector', () => {
    const word = fc.constantFrom('a', 'b', 'in', 'notin', 'x.y/z', 'A-1')
    const value = fc.constantFrom('', 'a', 'in', '1', 'v_1.2')
    const values = fc.array(value, { minLength: 1, maxLength: 3 })
    const requirement = fc.oneof(
      word,
      word.map((key) => `!${key}`),
      fc.tuple(word, fc.constantFrom('=', '==', '!='), value).map((parts) => parts.join('')),
      fc
        .tuple(word, fc.constantFrom('in', 'notin'), values)
        .map(([key, op, list]) => `${key} ${op} (${list.join(', ')})`),
      fc.tuple(word, fc.constantFrom('<', '>'), fc.nat()).map((parts) => parts.join('')),
    )
    const labels = fc.dictionary(word, value)
    fc.assert(
      fc.property(fc.array(requirement, { maxLength: 4 }), labels, (requirements, labels) => {
        const matcher = LabelMatcher.parse(requirements.join(','))
        const again = LabelMatcher.parse(String(matcher))
        expect(String(again)).toBe(String(matcher))
        expect(again.matches(labels)).toBe(matcher.matches(labels))
        const each = requirements.every((text) => LabelMatcher.parse(text).matches(labels))
        expect(matcher.matches(labels)).toBe(each)
      }),
    )
  })
})

describe('FieldMatcher', () => {
  const pod = {
    metadata: { name: 'p', namespace: 'a' },
    spec: { nodeName: 'n,1=x\\', hostNetwork: true },
    status: { phase: 'Running', replicas: 3, conditions: [] },
  }

  test.each([
    ['', true],
    ['metadata.name=p', true],
    ['metadata.name==p,status.phase!=Pending', true],
    ['metadata.name=p,status.phase!=Running', false],
    [String.raw`spec.nodeName=n\,1\=x\\`, true],
    ['spec.hostNetwork=true', true],
    ['status.replicas=3,', true],
    ['status.missing=', true],
    ['status.missing!=x', true],
    ['status.phase.deeper=', true],
    ['status.conditions=', true],
    ['spec.unschedulable=false', true],
    ['constructor.name=', true],
  ])('%j matches the pod: %j', (selector, expected) => {
    expect(FieldMatcher.parse(selector).matches(pod)).toBe(expected)
  })

  test.each(['a', 'a=b=c', String.raw`a=\x`, 'a=\\', '=b'])('the field selector %j is rejected', (selector) => {
    expect(() => FieldMatcher.parse(selector)).toThrow(/cannot be parsed.*Write it like/)
  })

  test('a printed field selector parses to the same selector', () => {
    fc.assert(
      fc.property(fc.string(), (value) => {
        const escaped = value.replaceAll(/[\\,=]/g, String.raw`\$&`)
        const matcher = FieldMatcher.parse(`status.value=${escaped},x!=y`)
        expect(String(FieldMatcher.parse(String(matcher)))).toBe(String(matcher))
        expect(matcher.matches({ status: { value } } as object)).toBe(true)
      }),
    )
  })
})

describe('selectionMatcher', () => {
  const object = { metadata: { name: 'x', namespace: 'a', labels: { app: 'web' } } }

  test.each([
    [{}, true],
    [{ namespace: 'a' }, true],
    [{ namespace: 'b' }, false],
    [{ labelSelector: 'app=web', fieldSelector: 'metadata.name=x' }, true],
    [{ labelSelector: 'app=db' }, false],
    [{ fieldSelector: 'metadata.name=y' }, false],
  ])('%j matches the object: %j', (selection, expected) => {
    expect(selectionMatcher(selection)(object)).toBe(expected)
  })

  test('a namespace does not exclude cluster-scoped objects', () => {
    expect(selectionMatcher({ namespace: 'a' })({ metadata: { name: 'node' } })).toBe(true)
  })
})
