import { createHash } from 'node:crypto'
import { subresourcesOf } from '../../registry/subresources/subresources.ts'
import type { ResourceCatalog, ResourceDefinition } from '../../registry/types.ts'
import { OBJECT_META, resolveBuiltIn } from '../../schema/openapi/builtin.ts'
import { schemaToOpenApi } from '../../schema/openapi/convert.ts'
import type { Schema } from '../../schema/types.ts'

type Json = Readonly<Record<string, unknown>>

/** OpenAPI v3, one document per group and version, made on demand: kubectl uses it to validate and explain. */
export class OpenApi {
  readonly #catalog: ResourceCatalog
  readonly #documents = new Map<string, string>()

  constructor(catalog: ResourceCatalog) {
    this.#catalog = catalog
    catalog.onChange(() => this.#documents.clear())
  }

  index(): string {
    return this.#remember('', () => {
      const found = new Set(this.#catalog.all().map(pathOf))
      const paths = Object.fromEntries(
        [...found]
          .toSorted()
          .map((path) => [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${this.#hashOf(path)}` }]),
      )
      return JSON.stringify({ paths })
    })
  }

  /** The document of `apis/apps/v1`; undefined if it is not served. */
  async document(path: string): Promise<string | undefined> {
    // Loaded on demand: the descriptions are larger than everything else about the kinds.
    const { described } = await import('../../schema/openapi/descriptions.ts')
    const definitions = this.#catalog.all().filter((definition) => pathOf(definition) === path)
    return definitions.length === 0 ? undefined : this.#remember(path, () => document(definitions, described))
  }

  /** Hashes the served resources, because hashing the document would require making it. */
  #hashOf(path: string): string {
    const served = this.#catalog.all().filter((definition) => pathOf(definition) === path)
    const hash = createHash('sha256')
    for (const { plural, kind, schema, isBuiltIn } of served) {
      hash.update(`${plural}/${kind}/${isBuiltIn ? '' : JSON.stringify(schema)}\n`)
    }
    return hash.digest('hex').toUpperCase()
  }

  #remember(key: string, make: () => string): string {
    let made = this.#documents.get(key)
    if (made === undefined) this.#documents.set(key, (made = make()))
    return made
  }
}

function pathOf({ group, version }: ResourceDefinition): string {
  return group ? `apis/${group}/${version}` : `api/${version}`
}

/** Built-in kinds have their Go names, custom ones reversed domain names. */
function schemaName({ group, version, kind, schema }: ResourceDefinition): string {
  if (schema?.ref) return schema.ref
  const domain = group ? group.split('.').toReversed().join('.') : 'io.k8s.api.core'
  return `${domain}.${version}.${kind}`
}

const PATCH = 'io.k8s.apimachinery.pkg.apis.meta.v1.Patch'
const PATCH_SCHEMA = {
  description: 'Patch is provided to give a concrete name and type to the Kubernetes PATCH request body.',
  type: 'object',
}

type Describe = (name: string, schema: Json) => Json

function document(definitions: readonly ResourceDefinition[], describe: Describe): string {
  const schemas = new Map<string, Json>([[PATCH, PATCH_SCHEMA]])
  const paths: Record<string, Json> = {}
  for (const definition of definitions) {
    addSchemas(definition, schemas, describe)
    addPaths(definition, paths)
  }
  return JSON.stringify({
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: 'v1.36.3+tenure' },
    paths,
    components: {
      schemas: Object.fromEntries(
        [...schemas].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, schema]) => [name, describe(name, schema)]),
      ),
    },
  })
}

function addSchemas(definition: ResourceDefinition, schemas: Map<string, Json>, describe: Describe): void {
  const { group, version, kind, listKind } = definition
  const pending = new Map<string, Schema>()
  const encode = (schema: Schema): Json =>
    schemaToOpenApi(schema, (ref) => {
      if (!schemas.has(ref) && !pending.has(ref)) pending.set(ref, resolveBuiltIn(ref))
    })
  const name = schemaName(definition)
  const gvk = [{ group, version, kind }]
  const own = definition.schema?.ref
    ? definition.resolve(definition.schema.ref)
    : (definition.schema ?? { type: 'object' })
  const schema = encode(own)
  schemas.set(name, {
    ...(definition.isBuiltIn ? schema : withProperties(schema, ofEveryObject(CONFIG_MAP, OBJECT_META, describe))),
    'x-kubernetes-group-version-kind': gvk,
  })
  const list = {
    description: `${listKind} is a list of ${kind}`,
    type: 'object',
    required: ['items'],
    properties: {
      ...ofEveryObject(`${CONFIG_MAP}List`, LIST_META, describe),
      items: {
        description: `List of ${definition.plural}. More info: ${CONVENTIONS}`,
        type: 'array',
        items: { $ref: `#/components/schemas/${name}` },
      },
    },
    'x-kubernetes-group-version-kind': [{ group, version, kind: listKind }],
  }
  schemas.set(`${name}List`, list)
  for (const ref of [OBJECT_META, LIST_META]) if (!schemas.has(ref)) pending.set(ref, resolveBuiltIn(ref))
  for (const [ref, schema] of pending) if (!schemas.has(ref)) schemas.set(ref, encode(schema))
}

const CONVENTIONS = 'https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md'
const CONFIG_MAP = 'io.k8s.api.core.v1.ConfigMap'
const LIST_META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta'

/** The fields of every object, whatever a custom schema says about them. */
function ofEveryObject(known: string, metadata: string, describe: Describe): Json {
  const properties = {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: { $ref: `#/components/schemas/${metadata}` },
  }
  return describe(known, { properties })['properties'] as Json
}

function withProperties(schema: Json, properties: Json): Json {
  return { ...schema, properties: { ...(schema['properties'] as Json | undefined), ...properties } }
}

const parameter = (name: string, type: string): Json => ({ name, in: 'query', schema: { type, uniqueItems: true } })
const WRITE = [
  parameter('dryRun', 'string'),
  parameter('fieldManager', 'string'),
  parameter('fieldValidation', 'string'),
]
const ACTIONS: Readonly<Record<string, string>> = {
  create: 'post',
  update: 'put',
  get: 'get',
  list: 'list',
  delete: 'delete',
  deletecollection: 'deletecollection',
  patch: 'patch',
}

function addPaths(definition: ResourceDefinition, paths: Record<string, Json>): void {
  const { namespaced, plural, verbs } = definition
  const root = `/${pathOf(definition)}${namespaced ? '/namespaces/{namespace}' : ''}/${plural}`
  const can = (verb: string): boolean => verbs.includes(verb)
  const item = root + '/{name}'
  const collection: Record<string, Json> = {}
  if (can('list'))
    collection['get'] = operation(definition, 'list', [
      parameter('labelSelector', 'string'),
      parameter('fieldSelector', 'string'),
    ])
  if (can('create')) collection['post'] = operation(definition, 'create', WRITE)
  if (can('deletecollection')) collection['delete'] = operation(definition, 'deletecollection', [])
  paths[root] = collection
  const single: Record<string, Json> = {}
  if (can('get')) single['get'] = operation(definition, 'get', [])
  if (can('update')) single['put'] = operation(definition, 'update', WRITE)
  if (can('patch')) single['patch'] = patchOperation(definition)
  if (can('delete')) single['delete'] = operation(definition, 'delete', [])
  if (Object.keys(single).length > 0) paths[item] = single
  for (const { name, verbs: below } of subresourcesOf(definition)) {
    const methods: Record<string, Json> = {}
    if (below.includes('get')) methods['get'] = operation(definition, 'get', [])
    if (below.includes('update')) methods['put'] = operation(definition, 'update', WRITE)
    if (below.includes('patch')) methods['patch'] = patchOperation(definition)
    if (below.includes('create')) methods['post'] = operation(definition, 'create', WRITE)
    paths[`${item}/${name}`] = methods
  }
}

function operation(definition: ResourceDefinition, verb: string, parameters: readonly Json[]): Json {
  const { group, version, kind } = definition
  const name = `${schemaName(definition)}${verb === 'list' ? 'List' : ''}`
  const schema = { $ref: `#/components/schemas/${name}` }
  return {
    parameters,
    ...((verb === 'create' || verb === 'update') && { requestBody: { content: { '*/*': { schema } } } }),
    responses: { '200': { description: 'OK', content: { 'application/json': { schema } } } },
    'x-kubernetes-action': ACTIONS[verb],
    'x-kubernetes-group-version-kind': { group, version, kind },
  }
}

/** kubectl uses server-side validation only where this operation declares it. */
function patchOperation(definition: ResourceDefinition): Json {
  const types = [
    'application/apply-patch+yaml',
    'application/json-patch+json',
    'application/merge-patch+json',
    ...(definition.isBuiltIn ? ['application/strategic-merge-patch+json'] : []),
  ]
  const schema = { $ref: `#/components/schemas/${PATCH}` }
  const content = Object.fromEntries(types.map((type) => [type, { schema }]))
  return {
    ...operation(definition, 'patch', [...WRITE, parameter('force', 'boolean')]),
    requestBody: { content, required: true },
  }
}
