import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { defaultImagePolicy } from '../admission/image-policy.ts'
import { validateApplication, type ValidationOptions } from './validate.ts'

const apiVersion = 'cloudnative.elide.dev/v1'
const metadata = { name: 'my-app' }
const spec = { replicas: 3, image: 'nginx:latest' }

function complaints(body: unknown, options?: ValidationOptions): readonly unknown[] {
  const result = validateApplication(body, options)
  return result.ok ? [] : result.details
}

const inSpec = (more: object): readonly unknown[] => complaints({ metadata, spec: { ...spec, ...more } })
const inMetadata = (more: object): readonly unknown[] => complaints({ metadata: { ...metadata, ...more }, spec })

describe("the contract's messages", () => {
  test.each([
    [{ replicas: 150 }, 'spec.replicas', 'Value must be at most 100', 150],
    [{ replicas: -1 }, 'spec.replicas', 'Value must be at least 0', -1],
    [{ replicas: 'three' }, 'spec.replicas', 'Expected integer, got string', 'three'],
    [{ replicas: 1.5 }, 'spec.replicas', 'Expected integer, got number', 1.5],
    [{ strategy: 'Blue' }, 'spec.strategy', 'Value must be one of: RollingUpdate, Recreate', 'Blue'],
    [{ image: '' }, 'spec.image', 'Value must have at least 1 character', ''],
    [{ config: { a: 1 } }, 'spec.config.a', 'Expected string, got number', 1],
    [{ config: { 'a.b': true } }, 'spec.config[a.b]', 'Expected string, got boolean', true],
    [{ ports: [{ port: 80 }, { port: 0 }] }, 'spec.ports[1].port', 'Value must be at least 1', 0],
    [{ command: ['a', 7] }, 'spec.command[1]', 'Expected string, got number', 7],
    [{ command: [null] }, 'spec.command[0]', 'Expected string, got null', null],
  ])('a spec with %o is refused', (more, field, message, value) => {
    expect(inSpec(more)).toEqual([{ field, message, value }])
  })

  test('long lists and maps are refused by their size', () => {
    const env = Array.from({ length: 1_001 }, (_, index) => ({ name: `N${index}` }))
    const config = Object.fromEntries(env.map(({ name }) => [name, '']))
    expect(inSpec({ env })).toEqual([{ field: 'spec.env', message: 'Value must have at most 1000 items' }])
    expect(inSpec({ config })).toEqual([{ field: 'spec.config', message: 'Value must have at most 1000 entries' }])
    expect(inSpec({ env: env.slice(1) })).toEqual([])
  })

  test.each([
    [{ metadata, spec: { replicas: 3 } }, [['spec.image', 'Required field is missing']]],
    [{ metadata, spec: null }, [['spec', 'Required field is missing']]],
    [{ metadata }, [['spec', 'Required field is missing']]],
    [{ metadata, spec: 'x' }, [['spec', 'Expected object, got string']]],
    [{ spec }, [['metadata.name', 'Resource name is required']]],
    [{ metadata: { name: '' }, spec }, [['metadata.name', 'Resource name is required']]],
    [{ metadata: null, spec }, [['metadata.name', 'Resource name is required']]],
    [{ metadata: [], spec }, [['metadata', 'Expected object, got array']]],
    [{ metadata: { name: 5 }, spec }, [['metadata.name', 'Expected string, got number']]],
    [[], [['body', 'Expected object, got array']]],
    [null, [['body', 'Expected object, got null']]],
    ['{', [['body', 'Expected object, got string']]],
    [
      {},
      [
        ['metadata.name', 'Resource name is required'],
        ['spec', 'Required field is missing'],
      ],
    ],
  ])('the body %j is refused', (body, wanted) => {
    expect(complaints(body)).toMatchObject(wanted.map(([field, message]) => ({ field, message })))
    expect(complaints(body)).toHaveLength(wanted.length)
  })
})

describe('metadata', () => {
  test.each(['My_App', 'a.b', '-a', 'a-', 'ä', 'a b', '../x', 'x'.repeat(64)])('%s is refused as a name', (name) => {
    expect(inMetadata({ name })).toMatchObject([
      { field: 'metadata.name', message: expect.stringContaining('lower-case letters'), value: name },
    ])
  })

  test.each([
    [{ labels: { app: 1 } }, 'metadata.labels.app', 'Expected string, got number'],
    [{ labels: [] }, 'metadata.labels', 'Expected object, got array'],
    [{ annotations: 'x' }, 'metadata.annotations', 'Expected object, got string'],
    [{ finalizers: {} }, 'metadata.finalizers', 'Expected array, got object'],
    [{ ownerReferences: [{ kind: 'X' }] }, 'metadata.ownerReferences[0].apiVersion', 'Required field is missing'],
    [{ resourceVersion: 5 }, 'metadata.resourceVersion', 'Expected string, got number'],
  ])('metadata with %o is refused', (more, field, message) => {
    expect(inMetadata(more)[0]).toMatchObject({ field, message })
  })

  test('keys of labels and annotations follow the rules of Kubernetes', () => {
    const labels = { 'app.kubernetes.io/name': 'a', 'a b': 'c', 'x/y/z': 'c', ok: '', bad: 'e f', long: 'x'.repeat(64) }
    expect(inMetadata({ labels })).toMatchObject([
      { field: 'metadata.labels[a b]' },
      { field: 'metadata.labels[x/y/z]' },
      { field: 'metadata.labels.bad', value: 'e f' },
      { field: 'metadata.labels.long' },
    ])
    expect(inMetadata({ annotations: { 'a b': 'any text\n' } })).toMatchObject([{ field: 'metadata.annotations[a b]' }])
    expect(inMetadata({ annotations: { 'a.example/b': 'any text\n' } })).toEqual([])
  })

  test('the URL fills in a missing name and namespace, and must equal present ones', () => {
    const at = { name: 'my-app', namespace: 'default' }
    const result = validateApplication({ spec }, at)
    expect(result).toEqual({ ok: true, application: { apiVersion, kind: 'Application', metadata: at, spec } })
    expect(complaints({ metadata: { ...at }, spec }, at)).toEqual([])
    expect(complaints({ metadata: { name: 'other', namespace: 'there' }, spec }, at)).toEqual([
      { field: 'metadata.name', message: 'Value must equal the name in the URL: my-app', value: 'other' },
      { field: 'metadata.namespace', message: 'Value must equal the namespace in the URL: default', value: 'there' },
    ])
  })

  test('generateName replaces the name', () => {
    expect(complaints({ metadata: { generateName: 'my-' }, spec })).toEqual([])
  })
})

test('a valid body becomes an Application without status and otherwise unchanged', () => {
  const body = { apiVersion, kind: 'Application', metadata: { ...metadata, labels: { a: 'b' } }, spec, status: 'mine' }
  const { status: _, ...rest } = body
  expect(validateApplication(body)).toEqual({ ok: true, application: rest })
  expect(
    inSpec({ strategy: null, config: null, resources: { limits: { cpu: 1, memory: '1Gi' } }, unknown: 1 }),
  ).toEqual([])
  expect(complaints({ ...body, apiVersion: 'apps/v1', kind: 'Deployment' })).toEqual([
    { field: 'apiVersion', message: 'Value must be one of: cloudnative.elide.dev/v1', value: 'apps/v1' },
    { field: 'kind', message: 'Value must be one of: Application', value: 'Deployment' },
  ])
})

test('the image policy applies only if it is given', () => {
  const body = { metadata, spec: { ...spec, image: 'ubuntu' } }
  expect(complaints(body)).toEqual([])
  expect(complaints(body, { policy: defaultImagePolicy })).toEqual([
    {
      field: 'spec.image',
      message: "Base image 'ubuntu' is not allowed. Use distroless or specific application images.",
      value: 'ubuntu',
    },
  ])
})

describe('hostile bodies', () => {
  test('inherited keys are not read as fields', () => {
    const body: unknown = JSON.parse('{"__proto__":{"metadata":{"name":"x"},"spec":{"replicas":1,"image":"x"}}}')
    expect(complaints(body)).toHaveLength(2)
    const spread: unknown = JSON.parse(
      '{"metadata":{"name":"a"},"spec":{"replicas":1,"image":"x","config":{"__proto__":"a","constructor":"b"}}}',
    )
    expect(complaints(spread)).toEqual([])
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
  })

  test('at most fifty details are reported, without long values', () => {
    const config = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`k${index}`, index]))
    expect(inSpec({ config })).toHaveLength(50)
    expect(inSpec({ strategy: 'x'.repeat(10_000) })).toEqual([
      { field: 'spec.strategy', message: 'Value must be one of: RollingUpdate, Recreate' },
    ])
  })

  test('texts that are too long for patterns are refused by length', () => {
    const cpu = `${'1'.repeat(2_000_000)}x`
    expect(inSpec({ resources: { limits: { cpu } } })).toEqual([
      { field: 'spec.resources.limits.cpu', message: 'Value must have at most 4096 characters' },
    ])
  })

  test('any JSON is validated, and a valid one has the required fields', () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), fc.record({ metadata: fc.jsonValue(), spec: fc.jsonValue() })), (body) => {
        const result = validateApplication(body)
        const isSound = result.ok
          ? typeof result.application.spec.image === 'string' && result.application.metadata !== undefined
          : result.details.length > 0
        expect(isSound).toBe(true)
      }),
    )
  })

  test('deep nesting is validated in time', () => {
    let deep: unknown = {}
    for (let level = 0; level < 100_000; level++) deep = { deep, config: deep }
    expect(complaints({ metadata, spec: { ...spec, config: { deep } } })).toMatchObject([{ field: 'spec.config.deep' }])
    expect(complaints({ metadata, spec: { ...spec, unknown: deep } })).toEqual([])
  })
})
