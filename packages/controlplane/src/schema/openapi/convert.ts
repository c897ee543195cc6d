import type { JsonObject } from '@tenure/kube/model'
import { isJsonObject } from '@tenure/kube/model'

import type { Schema } from '../types.ts'

/** Converts between `openAPIV3Schema` and `Schema`, which differ in the names of the Kubernetes extensions. */

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

const SAME = [
  'type',
  'format',
  'nullable',
  'enum',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'required',
  'description',
] as const satisfies readonly (keyof Schema)[]

const RENAMED = [
  ['x-kubernetes-int-or-string', 'intOrString'],
  ['x-kubernetes-preserve-unknown-fields', 'preserveUnknown'],
  ['x-kubernetes-embedded-resource', 'embeddedResource'],
  ['x-kubernetes-list-type', 'listType'],
  ['x-kubernetes-list-map-keys', 'listMapKeys'],
  ['x-kubernetes-map-type', 'mapType'],
  ['x-kubernetes-validations', 'rules'],
] as const satisfies readonly (readonly [string, keyof Schema])[]

/** `source` must have been decoded as JSONSchemaProps, so that its fields have the right types. */
export function schemaFromOpenApi(source: unknown): Schema {
  if (!isJsonObject(source)) return {}
  const schema: Mutable<Schema> = {}
  const target = schema as Record<string, unknown>
  for (const name of SAME) if (isSet(source[name])) target[name] = source[name]
  for (const [from, to] of RENAMED) if (isSet(source[from])) target[to] = source[from]
  // A null default means no default.
  if (source['default'] !== undefined && source['default'] !== null) schema.default = source['default']
  if (isJsonObject(source['properties'])) schema.properties = mapSchemas(source['properties'])
  const additional = source['additionalProperties']
  if (typeof additional === 'boolean') schema.additionalProperties = additional
  else if (isJsonObject(additional)) schema.additionalProperties = schemaFromOpenApi(additional)
  if (isJsonObject(source['items'])) schema.items = schemaFromOpenApi(source['items'])
  for (const name of ['allOf', 'anyOf', 'oneOf'] as const) {
    const parts = source[name]
    if (Array.isArray(parts) && parts.length > 0) schema[name] = parts.map(schemaFromOpenApi)
  }
  if (isJsonObject(source['not'])) schema.not = schemaFromOpenApi(source['not'])
  return schema
}

/** Go omits zero values. */
function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '' && value !== false
}

function mapSchemas(source: JsonObject): Readonly<Record<string, Schema>> {
  // A property may be named __proto__.
  const schemas = Object.create(null) as Record<string, Schema>
  for (const [name, property] of Object.entries(source)) schemas[name] = schemaFromOpenApi(property)
  return schemas
}

/** Converts a schema for an OpenAPI document. References become `$ref`s into `components/schemas`; `refer` is called for each. */
export function schemaToOpenApi(schema: Schema, refer: (ref: string) => void = () => undefined): JsonObject {
  const target: Record<string, unknown> = {}
  const convert = (part: Schema): JsonObject => schemaToOpenApi(part, refer)
  for (const name of SAME) if (schema[name] !== undefined) target[name] = schema[name]
  for (const [to, from] of RENAMED) if (schema[from] !== undefined) target[to] = schema[from] satisfies unknown
  if (schema.patchStrategy !== undefined) target['x-kubernetes-patch-strategy'] = schema.patchStrategy
  if (schema.patchMergeKey !== undefined) target['x-kubernetes-patch-merge-key'] = schema.patchMergeKey
  if (schema.default !== undefined && schema.default !== null) target['default'] = schema.default
  if (schema.properties) {
    target['properties'] = Object.fromEntries(
      Object.entries(schema.properties).map(([name, property]) => [name, convert(property)]),
    )
  }
  const additional = schema.additionalProperties
  if (additional !== undefined) {
    target['additionalProperties'] = typeof additional === 'object' ? convert(additional) : additional
  }
  if (schema.items) target['items'] = convert(schema.items)
  for (const name of ['allOf', 'anyOf', 'oneOf'] as const) {
    if (schema[name]) target[name] = schema[name].map(convert)
  }
  if (schema.not) target['not'] = convert(schema.not)
  if (schema.ref !== undefined) {
    refer(schema.ref)
    const ref = { $ref: `#/components/schemas/${schema.ref}` }
    // OpenAPI ignores siblings of a $ref.
    if (Object.keys(target).length === 0) return ref
    target['allOf'] = [ref]
  }
  return target
}
