import type { JSONSchemaProps } from '@tenure/kube/kinds'
import { describe, expect, test } from 'vitest'
import { applicationDefinition } from './crd.ts'

const [version] = applicationDefinition.spec.versions
const properties = version?.schema?.openAPIV3Schema?.properties ?? {}

test("the CustomResourceDefinition has the contract's names", () => {
  expect(applicationDefinition.metadata?.name).toBe('applications.cloudnative.elide.dev')
  expect(applicationDefinition.spec).toMatchObject({
    group: 'cloudnative.elide.dev',
    scope: 'Namespaced',
    names: { kind: 'Application', plural: 'applications', shortNames: ['app', 'apps'], categories: ['all'] },
  })
})

test("the CustomResourceDefinition has the status and scale subresources and the contract's columns", () => {
  expect(version).toMatchObject({
    name: 'v1',
    served: true,
    storage: true,
    subresources: {
      status: {},
      scale: {
        specReplicasPath: '.spec.replicas',
        statusReplicasPath: '.status.replicas',
        labelSelectorPath: '.status.labelSelector',
      },
    },
  })
  expect(version?.additionalPrinterColumns?.map(({ name }) => name)).toEqual(['Replicas', 'Ready', 'Phase', 'Age'])
})

test("the spec has the contract's required fields, limits and defaults", () => {
  const spec = properties['spec']
  expect(spec?.required).toEqual(['replicas', 'image'])
  expect(spec?.properties).toMatchObject({
    replicas: { type: 'integer', minimum: 0, maximum: 100 },
    image: { type: 'string', minLength: 1 },
    strategy: { enum: ['RollingUpdate', 'Recreate'], default: 'RollingUpdate' },
    config: { type: 'object', additionalProperties: { type: 'string' } },
  })
  for (const name of ['requests', 'limits']) {
    expect(Object.keys(spec?.properties?.['resources']?.properties?.[name]?.properties ?? {})).toEqual([
      'cpu',
      'memory',
      'ephemeral-storage',
    ])
  }
})

describe('the schema', () => {
  const schemas: [string, JSONSchemaProps][] = []
  const collect = (path: string, schema: JSONSchemaProps): void => {
    schemas.push([path, schema])
    for (const [name, inner] of Object.entries(schema.properties ?? {})) collect(`${path}.${name}`, inner)
    if (schema.items && 'type' in schema.items) collect(`${path}[]`, schema.items)
  }
  collect('', version?.schema?.openAPIV3Schema ?? {})

  test('every value has a type, as a structural schema needs', () => {
    const untyped = schemas.filter(([, schema]) => schema.type === undefined && !schema['x-kubernetes-int-or-string'])
    expect(schemas.length).toBeGreaterThan(100)
    expect(untyped).toEqual([])
  })

  test('the keys of lists are required or have defaults', () => {
    for (const [path, schema] of schemas) {
      for (const key of schema['x-kubernetes-list-map-keys'] ?? []) {
        const items = schema.items as JSONSchemaProps
        const isThere = items.required?.includes(key) || items.properties?.[key]?.default !== undefined
        expect(isThere, `${path} ${key}`).toBe(true)
      }
    }
  })

  test('every list and every map has a maximum size', () => {
    const unbounded = schemas.filter(
      ([, schema]) =>
        (schema.items !== undefined && schema.maxItems === undefined) ||
        (schema.additionalProperties !== undefined && schema.maxProperties === undefined),
    )
    expect(schemas.some(([, { maxItems }]) => maxItems !== undefined)).toBe(true)
    expect(unbounded).toEqual([])
  })

  test('every field of the spec has a description', () => {
    const silent = schemas.filter(([path, { description }]) => /^\.spec\.\w+$/.test(path) && !description)
    expect(silent).toEqual([])
  })

  test('quantities match the pattern of Kubernetes', () => {
    const cpu = properties['spec']?.properties?.['resources']?.properties?.['limits']?.properties?.['cpu']
    const pattern = new RegExp(cpu?.pattern ?? '')
    const taken = ['1', '0.5', '.5', '5.', '500m', '1Gi', '1e3', '1E3', '2E', '100n', '+1']
    expect(taken.filter((text) => !pattern.test(text))).toEqual([])
    expect(['', 'x', '-1', '1 Gi', '1gi', '1KiB', '1e', 'Gi'].filter((text) => pattern.test(text))).toEqual([])
  })
})
