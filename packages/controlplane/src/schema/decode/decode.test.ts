import { readFileSync } from 'node:fs'
import path from 'node:path'

import { describe, expect, test } from 'vitest'

import { builtInNames, builtInSchema, resolveBuiltIn } from '../openapi/builtin.ts'
import type { DecodeResult } from './decode.ts'
import { cannotBeHandled, decodeBuiltIn, strictDecodingError } from './decode.ts'
import { hasDuplicateFields, strictErrors } from './strict.ts'

interface Answer {
  readonly text: string
  /** The error of kube-apiserver 1.36.3, after `… cannot be handled as a Deployment: `. */
  readonly error?: string
  readonly warnings?: readonly string[]
}

const answers = JSON.parse(
  readFileSync(path.join(import.meta.dirname, '../testdata/decode-answers.json'), 'utf8'),
) as readonly Answer[]

interface Typed {
  readonly apiVersion: string
  readonly kind: string
}

function decode(value: Typed, options?: { readonly default: boolean }): DecodeResult {
  const [version = '', group = ''] = value.apiVersion.split('/').toReversed()
  const schema = builtInSchema(group, version, value.kind)
  if (!schema) throw new Error(`No schema for ${value.kind}`)
  return decodeBuiltIn(schema, resolveBuiltIn, value, options)
}

describe('an object of a built-in kind', () => {
  test.each(answers.map((answer): [string, Answer] => [answer.text, answer]))(
    '%s has the error of kube-apiserver',
    (text, answer) => {
      const { error, unknown } = decode(JSON.parse(text) as Typed)
      const errors = strictErrors(text, unknown)
      expect(answer.error ?? strictDecodingError(answer.warnings ?? [])).toBe(error ?? strictDecodingError(errors))
    },
  )

  test('an object is decoded as Go reads and writes it', () => {
    const { object, unknown, error } = decode({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'x', namespace: '', labels: {}, creationTimestamp: '2024-01-01T01:00:00.9+01:00' },
      spec: {
        containers: [
          {
            name: 'c',
            args: [],
            stdin: false,
            env: [{ name: 'A', value: '' }],
            ports: [{ containerPort: 80 }],
            resources: { limits: { cpu: 0.5, memory: '1024Mi', storage: '1e3', 'a/b': '1500' } },
          },
        ],
        volumes: [{ name: 'v', emptyDir: {} }],
        nodeSelector: null,
        foo: 1,
      },
    } as Typed)
    expect(error).toBeUndefined()
    expect(unknown).toEqual(['spec.foo'])
    expect(object).toEqual({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'x', creationTimestamp: '2024-01-01T00:00:00Z' },
      spec: {
        containers: [
          {
            name: 'c',
            env: [{ name: 'A' }],
            ports: [{ containerPort: 80, protocol: 'TCP' }],
            resources: { limits: { cpu: '500m', memory: '1Gi', storage: '1e3', 'a/b': '1500' } },
          },
        ],
        volumes: [{ name: 'v', emptyDir: {} }],
      },
      status: {},
    })
  })

  test('an object that needs no change is returned itself', () => {
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name: 'x' }, rules: null }
    expect(decode(role).object).toEqual(role)
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' }, data: { a: '' } }
    expect(decode(map).object).toBe(map)
  })

  test('fields that Go always writes are filled in only on request', () => {
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name: 'x' }, rules: [] }
    expect(decode(role).object).toEqual({ ...role, rules: null })
    expect(decode(role, { default: false }).object).toEqual({
      apiVersion: role.apiVersion,
      kind: 'Role',
      metadata: { name: 'x' },
    })
  })

  test('a decoding error is a 400 that names the kind and version of the request', () => {
    expect(cannotBeHandled('Pod', 'v1', 'ConfigMap', 'why')).toMatchObject({
      code: 400,
      reason: 'BadRequest',
      message: 'Pod in version "v1" cannot be handled as a ConfigMap: why',
    })
  })

  test('a field named __proto__ is a plain unknown field', () => {
    const value = JSON.parse(
      '{"apiVersion":"v1","kind":"ConfigMap","__proto__":{"a":1},"data":{"__proto__":"x"}}',
    ) as Typed
    const { object, unknown } = decode(value)
    expect(unknown).toEqual(['__proto__'])
    expect(JSON.stringify(object)).toBe('{"apiVersion":"v1","kind":"ConfigMap","data":{"__proto__":"x"},"metadata":{}}')
  })
})

describe('unknown fields of a hostile object', () => {
  test('their number and length are bounded', () => {
    const fields = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`x${index}`, 1]))
    const long = 'long'.repeat(100_000)
    const { unknown } = decode({
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      spec: { selector: { matchExpressions: [fields] } },
    } as Typed)
    expect(unknown.length).toBe(100)
    const below = decode({
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      spec: { nodeAffinity: { required: { nodeSelectorTerms: [{ [long]: 1, matchFields: [fields] }] } } },
    } as Typed)
    expect(below.unknown.join('').length).toBeLessThan(20_000)
  })
})

describe('duplicate fields', () => {
  test.each([
    ['{"a":1,"a":2}', true],
    ['{"a":{"b":[{"c":1},{"c":1}]},"b":"\\"x\\":1"}', false],
    ['{"a":[{"c":1 , "c" : 2}]}', true],
    ['{"a\\\\":1,"b\\"":":"}', false],
    ['"a"', false],
  ])('strict decoding of %s reports %s', (text, expected) => {
    expect(hasDuplicateFields(text, JSON.parse(text))).toBe(expected)
  })
})

describe('the built-in schemas', () => {
  test('all references resolve', () => {
    const names = builtInNames()
    expect(names.length).toBeGreaterThan(500)
    const refs = new Set<string>()
    JSON.stringify(names.map(resolveBuiltIn), (key, value: unknown) => {
      if (key === 'ref' && typeof value === 'string') refs.add(value)
      return value
    })
    expect([...refs].filter((ref) => !names.includes(ref))).toEqual([])
  })

  test('merge keys, list types and defaults are known', () => {
    expect(resolveBuiltIn('io.k8s.api.core.v1.Container').properties?.['ports']).toMatchObject({
      listType: 'map',
      listMapKeys: ['containerPort', 'protocol'],
      patchStrategy: 'merge',
      patchMergeKey: 'containerPort',
    })
    expect(resolveBuiltIn('io.k8s.api.core.v1.ContainerPort').properties?.['protocol']?.default).toBe('TCP')
    expect(builtInSchema('', 'v1', 'Nonsense')).toBeUndefined()
  })
})
