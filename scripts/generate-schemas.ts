/**
 * Writes `packages/controlplane/src/schema/generated/definitions.ts`: the schemas of all built-in kinds from the API
 * server's OpenAPI v3, with facts that only the Go types have: the type names in decoding errors, and which empty
 * fields responses omit. Writes `descriptions.ts` beside it: the descriptions from the same OpenAPI document.
 *
 *   npm run cluster -- up
 *   node scripts/launch.mjs scripts/generate-schemas.ts --kubeconfig <path that `up` printed>
 *
 * The Go types are read from the module cache that the cluster's binaries were built from; `--modules` selects another
 * one.
 */
import { execFileSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'

import type { Schema } from '../packages/controlplane/src/schema/types.ts'
import { loadConfig } from '../packages/kube/src/config/load-config.ts'
import { HttpTransport } from '../packages/kube/src/transport/http-transport.ts'
import { Requester } from '../packages/kube/src/client/requester.ts'
import { GoTypes } from './go-types.ts'
import { programArguments } from './program-help.ts'
import type { GoField } from './go-types.ts'

const HELP = {
  usage: 'node scripts/launch.mjs scripts/generate-schemas.ts [options]',
  summary: 'Write the schemas and descriptions of the built-in kinds from a real API server and the Go types.',
  options: [
    {
      term: '--kubeconfig <path>',
      meaning: 'The cluster: the path that `npm run cluster -- up` printed. Default: as kubectl.',
    },
    { term: '--modules <path>', meaning: 'Go module cache. Default: that of the binaries of the cluster.' },
  ],
}

interface OpenApi {
  readonly type?: Schema['type']
  readonly description?: string
  readonly format?: string
  readonly default?: unknown
  readonly enum?: readonly unknown[]
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, OpenApi>>
  readonly additionalProperties?: OpenApi
  readonly items?: OpenApi
  readonly allOf?: readonly OpenApi[]
  readonly $ref?: string
  readonly 'x-kubernetes-list-type'?: Schema['listType']
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
  readonly 'x-kubernetes-map-type'?: Schema['mapType']
  readonly 'x-kubernetes-patch-strategy'?: string
  readonly 'x-kubernetes-patch-merge-key'?: string
  readonly 'x-kubernetes-group-version-kind'?: readonly Gvk[]
}

interface Gvk {
  readonly group: string
  readonly version: string
  readonly kind: string
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

const APIEXTENSIONS = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.'
const META = 'io.k8s.apimachinery.pkg.apis.meta.v1.'

/** Types with their own JSON decoder. Their formats are defined by this project. */
const BY_HAND: ReadonlyMap<string, Schema> = new Map<string, Schema>([
  ['io.k8s.apimachinery.pkg.api.resource.Quantity', { type: 'string', format: 'quantity' }],
  ['io.k8s.apimachinery.pkg.util.intstr.IntOrString', { intOrString: true }],
  [`${META}Time`, { type: 'string', format: 'date-time' }],
  [`${META}MicroTime`, { type: 'string', format: 'micro-time' }],
  [`${META}FieldsV1`, { type: 'object', preserveUnknown: true }],
  ['io.k8s.apimachinery.pkg.runtime.RawExtension', { type: 'object', preserveUnknown: true }],
  [`${APIEXTENSIONS}JSON`, { preserveUnknown: true }],
  [`${APIEXTENSIONS}JSONSchemaPropsOrArray`, { ref: `${APIEXTENSIONS}JSONSchemaProps`, format: 'or-array' }],
  [`${APIEXTENSIONS}JSONSchemaPropsOrBool`, { ref: `${APIEXTENSIONS}JSONSchemaProps`, format: 'or-boolean' }],
  [`${APIEXTENSIONS}JSONSchemaPropsOrStringArray`, { ref: `${APIEXTENSIONS}JSONSchemaProps`, format: 'or-array' }],
])

async function main(): Promise<void> {
  const { values } = programArguments(HELP, {
    options: { kubeconfig: { type: 'string' }, modules: { type: 'string' } },
  })
  const transport = new HttpTransport(await loadConfig({ kubeconfigPath: values.kubeconfig }))
  try {
    const requester = new Requester({ transport })
    const read = async <T>(path: string): Promise<T> => {
      const headers = { accept: 'application/json' }
      return (await requester.json({ verb: 'raw', idempotent: true, method: 'GET', path, headers })).value as T
    }
    const { gitVersion } = await read<{ readonly gitVersion: string }>('/version')
    const modules = values.modules ?? execFileSync('go', ['env', 'GOMODCACHE'], { encoding: 'utf8' }).trim()
    const go = new GoTypes(modules, gitVersion)
    const definitions = await readDefinitions(read)
    const lines = [...definitions]
      .toSorted(([a], [b]) => compare(a, b))
      .map(([name, definition]) => `${name} ${JSON.stringify(convertDefinition(name, definition, definitions, go))}`)
    const kinds = [...definitions].flatMap(([name, definition]) => kindsOf(name, definition)).toSorted(compare)
    for (const line of [...lines, ...kinds]) {
      if (line.includes('`') || line.includes('${'))
        throw new Error(`A definition cannot be written in a template literal: ${line}`)
    }
    const directory = path.join(import.meta.dirname, '../packages/controlplane/src/schema/generated')
    await mkdir(directory, { recursive: true })
    await writeFile(
      path.join(directory, 'definitions.ts'),
      [
        `// Kubernetes ${gitVersion}. Written by scripts/generate-schemas.ts: do not edit.\n`,
        '// One definition per line, its name before it: each is parsed when it is first asked for.\n',
        `export const definitions: string = String.raw\`${lines.join('\n')}\`\n\n`,
        '// group/version/kind and the name of its definition.\n',
        `export const kinds: string = \`${kinds.join('\n')}\`\n`,
      ].join(''),
    )
    await writeFile(
      path.join(directory, 'descriptions.ts'),
      [
        `// Kubernetes ${gitVersion}. Written by scripts/generate-schemas.ts: do not edit.\n`,
        '// First a list of the texts that are there more than once. Then one definition per line, its name before it: its own\n',
        "// text under '', and those of its fields, each a text or its place in the list.\n",
        `export const descriptions: string = String.raw\`${describe(definitions).join('\n')}\`\n`,
      ].join(''),
    )
    console.log(`${definitions.size} definitions, ${kinds.length} kinds, Kubernetes ${gitVersion}`)
  } finally {
    await transport.close()
  }
}

function describe(definitions: ReadonlyMap<string, OpenApi>): readonly string[] {
  const texts = [...definitions]
    .toSorted(([a], [b]) => compare(a, b))
    .map(([name, { description = '', properties = {} }]): readonly [string, readonly (readonly [string, string])[]] => {
      const fields = Object.entries(properties).map(([field, property]) => [field, property.description ?? ''] as const)
      const all = [['', description] as const, ...fields.toSorted(([a], [b]) => compare(a, b))]
      return [name, all.filter(([, text]) => text !== '')]
    })
  const counts = new Map<string, number>()
  for (const [, fields] of texts) for (const [, text] of fields) counts.set(text, (counts.get(text) ?? 0) + 1)
  const shared = [...counts].filter(([, count]) => count > 1).map(([text]) => text)
  const place = new Map(shared.map((text, index) => [text, index]))
  const lines = texts
    .filter(([, fields]) => fields.length > 0)
    .map(([name, fields]) => {
      const said = Object.fromEntries(fields.map(([field, text]) => [field, place.get(text) ?? text]))
      return `${name} ${JSON.stringify(said)}`
    })
  // Escapes the sequences that would end the template literal or start an interpolation.
  return [JSON.stringify(shared), ...lines].map((line) => line.replaceAll('`', '\\u0060').replaceAll('${', '$\\u007b'))
}

async function readDefinitions(read: <T>(path: string) => Promise<T>): Promise<ReadonlyMap<string, OpenApi>> {
  const { paths } = await read<{ readonly paths: Readonly<Record<string, unknown>> }>('/openapi/v3')
  const definitions = new Map<string, OpenApi>()
  for (const group of Object.keys(paths).filter((name) => /^(api\/v1|apis\/[^/]+\/[^/]+)$/.test(name))) {
    const document = await read<{ readonly components?: { readonly schemas?: Readonly<Record<string, OpenApi>> } }>(
      `/openapi/v3/${group}`,
    )
    for (const [name, definition] of Object.entries(document.components?.schemas ?? {})) {
      // Custom resources installed in this cluster are not included.
      if (/^io\.k8s\.(api|apimachinery|apiextensions-apiserver|kube-aggregator)\./.test(name)) {
        definitions.set(name, definition)
      }
    }
  }
  return definitions
}

function kindsOf(name: string, definition: OpenApi): string[] {
  const kinds = definition['x-kubernetes-group-version-kind'] ?? []
  // DeleteOptions and WatchEvent belong to every group.
  return kinds.length === 1 ? kinds.map(({ group, version, kind }) => `${group}/${version}/${kind} ${name}`) : []
}

function convertDefinition(
  name: string,
  definition: OpenApi,
  definitions: ReadonlyMap<string, OpenApi>,
  go: GoTypes,
): Schema {
  const byHand = BY_HAND.get(name)
  if (byHand) return byHand
  const fields = definition.properties ? go.fieldsOf(name) : new Map<string, GoField>()
  const schema = convert(definition, undefined, definitions)
  const properties = Object.entries(definition.properties ?? {}).toSorted(([a], [b]) => compare(a, b))
  return {
    ...schema,
    ...(properties.length > 0 && {
      properties: Object.fromEntries(
        properties.map(([field, property]) => {
          const goField = fields.get(field)
          if (!goField) throw new Error(`${name} has no field ${field} in Go`)
          return [field, convert(property, goField, definitions)]
        }),
      ),
    }),
  }
}

function convert(source: OpenApi, field: GoField | undefined, definitions: ReadonlyMap<string, OpenApi>): Schema {
  const schema: Mutable<Schema> = {}
  const ref = refOf(source)
  if (ref !== undefined) {
    if (!definitions.has(ref)) throw new Error(`No definition of ${ref}`)
    schema.ref = ref
  } else {
    if (source.type) schema.type = source.type
    if (source.format !== undefined) schema.format = source.format
    if (source.enum) schema.enum = source.enum
  }
  if (source.required) schema.required = source.required
  if (source.items) schema.items = convert(source.items, field?.element, definitions)
  if (source.additionalProperties) {
    schema.additionalProperties = convert(source.additionalProperties, field?.element, definitions)
  }
  const listType = source['x-kubernetes-list-type']
  if (listType) schema.listType = listType
  const listMapKeys = source['x-kubernetes-list-map-keys']
  if (listMapKeys) schema.listMapKeys = listMapKeys
  const mapType = source['x-kubernetes-map-type']
  if (mapType) schema.mapType = mapType
  const patchStrategy = source['x-kubernetes-patch-strategy']
  if (patchStrategy !== undefined) schema.patchStrategy = patchStrategy
  const patchMergeKey = source['x-kubernetes-patch-merge-key']
  if (patchMergeKey !== undefined) schema.patchMergeKey = patchMergeKey
  if (field) describeGo(schema, source, field)
  return schema
}

/**
 * The API server decodes into Go structs and encodes those: a field without `omitempty` is always in the response, with
 * its zero value if the client sent none; a field with `omitempty` is omitted if it is empty. A real default (`TCP`)
 * stays.
 */
function describeGo(schema: Mutable<Schema>, source: OpenApi, field: GoField): void {
  if (isRealDefault(source.default)) schema.default = source.default
  else if (field.isAlwaysWritten) schema.default = field.zero
  if (field.isOmittedWhenEmpty) schema.omitEmpty = true
  if (field.type !== plainGoType(schema)) schema.goType = field.type
  if (field.inlinedAs !== undefined) schema.goInline = field.inlinedAs
}

function isRealDefault(value: unknown): boolean {
  return value !== undefined && value !== '' && value !== 0 && JSON.stringify(value) !== '{}'
}

/** Returns the Go type of a field whose schema determines it. */
function plainGoType(schema: Schema): string | undefined {
  if (schema.ref !== undefined) return schema.ref.split('.').slice(-2).join('.')
  switch (schema.type) {
    case 'string':
      return schema.format === 'byte' ? '[]uint8' : 'string'
    case 'integer':
      return schema.format ?? 'int64'
    case 'number':
      return 'float64'
    case 'boolean':
      return 'bool'
    case 'array':
      return schema.items ? `[]${schema.items.goType ?? plainGoType(schema.items)}` : undefined
    case 'object': {
      const value = schema.additionalProperties
      return typeof value === 'object' ? `map[string]${value.goType ?? plainGoType(value)}` : undefined
    }
    case undefined:
    default:
      return undefined
  }
}

function refOf(source: OpenApi): string | undefined {
  const ref = source.$ref ?? source.allOf?.[0]?.$ref
  return ref?.slice(ref.lastIndexOf('/') + 1)
}

/** Compares by code unit, so that the result does not depend on the locale. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

await main()
