import { expect, test } from 'vitest'
import { clusterOperators, operators } from '../../packages/tenure/src/loaded-operators.ts'

interface Schema {
  readonly description?: string
  readonly type?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly additionalProperties?: Schema | boolean
}

/** The API server describes these itself. */
const DESCRIBED_BY_SERVER = ['.apiVersion', '.kind', '.metadata']

/** Returns the paths of fields that `kubectl explain` shows without a description. */
function undescribed(schema: Schema, path = ''): readonly string[] {
  const inner = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const own = `${path}.${name}`
    if (DESCRIBED_BY_SERVER.includes(own)) return []
    return [...(field.description ? [] : [own]), ...undescribed(field, own)]
  })
  const { additionalProperties, items } = schema
  return [
    ...inner,
    ...(items ? undescribed(items, `${path}[]`) : []),
    ...(typeof additionalProperties === 'object' ? undescribed(additionalProperties, `${path}.*`) : []),
  ]
}

const definitions = [...operators, ...clusterOperators].flatMap(({ crds }) => crds)

test('kubectl explain has a description for every field of every CustomResourceDefinition', () => {
  expect(definitions.map(({ spec }) => spec.names.kind)).toEqual(['Application', 'LeaseController'])
  const missing = definitions.flatMap(({ spec }) =>
    spec.versions.flatMap(({ schema }) => {
      const root = schema?.openAPIV3Schema as Schema
      return [...(root.description ? [] : ['']), ...undescribed(root)].map((path) => `${spec.names.kind}${path}`)
    }),
  )
  expect(missing).toEqual([])
})
