import { applicationDefinition } from '@tenure/applications'
import type { CustomResourceDefinition } from '@tenure/kube/kinds'
import { leaseControllerDefinition } from '@tenure/leases'
import { code, table } from './markdown.ts'

const INTRODUCTION = `# Custom resources

Generated from the definitions that the operators install, by \`npm run reference\`: do not edit. \`kubectl explain application.spec\` prints the same
from a cluster, and [\`deploy/crds\`](../../deploy/crds) has the definitions as manifests.

Claims need no definition: a claim is a ConfigMap. A lease is annotations on an object of any kind, and a database is a row in PostgreSQL.
`

interface Schema {
  readonly type?: string
  readonly description?: string
  readonly format?: string
  readonly enum?: readonly unknown[]
  readonly default?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly additionalProperties?: Schema | boolean
  readonly 'x-kubernetes-int-or-string'?: boolean
}

/** Returns the reference page of all custom resources. */
export function crdReference(): string {
  return [INTRODUCTION, ...[applicationDefinition, leaseControllerDefinition].map(definitionSection)].join('\n')
}

function definitionSection({ spec }: CustomResourceDefinition): string {
  return spec.versions
    .map((version) => {
      const { plural, shortNames = [], kind } = spec.names
      const columns = (version.additionalPrinterColumns ?? []).map(({ name, jsonPath }) => [name, code(jsonPath)])
      const schema = (version.schema?.openAPIV3Schema ?? {}) as Schema
      const short = shortNames.length > 0 ? `, for short ${shortNames.map(code).join(' or ')}` : ''
      const facts = `${spec.scope}, ${code(`${plural}.${spec.group}`)}${short}.`
      const parts = ['spec', 'status'].map((field) => {
        const part = schema.properties?.[field]
        const rows = part ? fieldRows(part, '', new Set(part.required)) : []
        return `### ${kind}.${field}\n\n${table(['Field', 'Type', 'Meaning'], rows)}`
      })
      const printed = columns.length > 0 ? [`### Columns of ${kind}\n\n${table(['Column', 'From'], columns)}`] : []
      const title = `## ${kind} (${spec.group}/${version.name})\n\n${schema.description ?? ''}\n\n${facts}\n`
      return [title, ...parts, ...printed].join('\n')
    })
    .join('\n')
}

/** One row per field, with the path below `spec` or `status`. */
function fieldRows(schema: Schema, prefix: string, required: ReadonlySet<string>): readonly (readonly string[])[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const at = `${prefix}${name}`
    const own = [code(at), typeOf(field), meaningOf(field, required.has(name))]
    const inner = field.items?.properties ? field.items : field
    const below = inner === field ? `${at}.` : `${at}[].`
    return [own, ...fieldRows(inner, below, new Set(inner.required))]
  })
}

function typeOf(schema: Schema): string {
  if (schema['x-kubernetes-int-or-string']) return 'integer or string'
  if (schema.type === 'array') return `list of ${schema.items ? typeOf(schema.items) : 'anything'}`
  const values = schema.additionalProperties
  if (schema.type === 'object' && typeof values === 'object') return `map of ${typeOf(values)}`
  return schema.format ? `${schema.type} (${schema.format})` : (schema.type ?? 'anything')
}

function meaningOf(schema: Schema, isRequired: boolean): string {
  const { description = '', enum: choices, minimum, maximum } = schema
  return [
    isRequired ? 'Required.' : '',
    description,
    choices ? `One of ${choices.map((each) => code(String(each))).join(', ')}.` : '',
    minimum !== undefined ? `At least ${minimum}.` : '',
    maximum !== undefined ? `At most ${maximum}.` : '',
    schema.default !== undefined ? `Default ${code(JSON.stringify(schema.default))}.` : '',
  ]
    .filter(Boolean)
    .join(' ')
}
