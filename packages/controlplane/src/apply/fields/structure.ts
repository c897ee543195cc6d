import { ownValue } from '@tenure/kube/model'
import { refOf } from '../../patch/patch-schema.ts'
import type { Schema } from '../../schema/types.ts'

export type ScalarType = 'numeric' | 'string' | 'boolean' | 'untyped'

export interface MapType {
  readonly isAtomic: boolean
  /** The declared field of that name. */
  field(name: string): FieldType | undefined
  /** The type of undeclared fields; undefined forbids them. */
  element(): Structure | undefined
  /** Nothing is declared and any field is allowed. */
  readonly isDeduced: boolean
}

export interface FieldType {
  readonly structure: Structure
  /** The value of a list key that an item does not set. */
  readonly default: unknown
}

export interface ListType {
  readonly isAtomic: boolean
  /** Sorted. Empty for a set. */
  readonly keys: readonly string[]
  /** In declared order, for messages. */
  readonly declaredKeys: readonly string[]
  element(): Structure
}

/** The possible shapes of a value for field ownership; an untyped value may have any of the three. */
export interface Structure {
  readonly scalar: ScalarType | undefined
  readonly list: ListType | undefined
  readonly map: MapType | undefined
}

type Resolve = (ref: string) => Schema

const RAW_EXTENSION = 'io.k8s.apimachinery.pkg.runtime.RawExtension'

const UNTYPED_ATOMIC: Structure = {
  scalar: 'untyped',
  list: { isAtomic: true, keys: [], declaredKeys: [], element: () => UNTYPED_ATOMIC },
  map: { isAtomic: true, isDeduced: true, field: () => undefined, element: () => UNTYPED_ATOMIC },
}

/** Without a declaration, maps are granular and lists atomic. */
export const DEDUCED: Structure = {
  scalar: 'untyped',
  list: { isAtomic: true, keys: [], declaredKeys: [], element: () => UNTYPED_ATOMIC },
  map: { isAtomic: false, isDeduced: true, field: () => undefined, element: () => DEDUCED },
}

const TEXT: Schema = { type: 'string' }
const TEXTS: Schema = { type: 'object', additionalProperties: TEXT }
/** The metadata of kinds whose schema does not declare it: all custom kinds. */
const OBJECT_META: Schema = {
  type: 'object',
  properties: {
    annotations: TEXTS,
    creationTimestamp: { type: 'string', format: 'date-time' },
    deletionGracePeriodSeconds: { type: 'integer' },
    deletionTimestamp: { type: 'string', format: 'date-time' },
    finalizers: { type: 'array', items: TEXT, listType: 'set' },
    generateName: TEXT,
    generation: { type: 'integer' },
    labels: TEXTS,
    managedFields: { type: 'array', items: {}, listType: 'atomic' },
    name: TEXT,
    namespace: TEXT,
    ownerReferences: {
      type: 'array',
      listType: 'map',
      listMapKeys: ['uid'],
      items: {
        type: 'object',
        mapType: 'atomic',
        properties: {
          apiVersion: TEXT,
          blockOwnerDeletion: { type: 'boolean' },
          controller: { type: 'boolean' },
          kind: TEXT,
          name: TEXT,
          uid: TEXT,
        },
      },
    },
    resourceVersion: TEXT,
    selfLink: TEXT,
    uid: TEXT,
  },
}
const RESOURCE_FIELDS: Readonly<Record<string, Schema>> = { apiVersion: TEXT, kind: TEXT, metadata: OBJECT_META }

const roots = new WeakMap<Schema, Structure>()
const structures = new WeakMap<Schema, Structure>()
const atomics = new WeakMap<Schema, Structure>()
const preserving = new WeakMap<Schema, Structure>()

/** Whether the schema is of a built-in kind, which kube-apiserver holds in a Go struct. */
export function isBuiltIn(schema: Schema | undefined): boolean {
  const metadata = schema?.properties && (ownValue(schema.properties, 'metadata') as Schema | undefined)
  return metadata !== undefined && refOf(metadata) !== undefined
}

/** The structure of a kind, made on demand and cached with the schema. */
export function structureOf(schema: Schema | undefined, resolve: Resolve): Structure {
  const from = schema ?? ANYTHING
  let structure = roots.get(from)
  if (!structure) {
    structure = isBuiltIn(from) ? build(from, resolve, false) : build(asResource(from), resolve, false)
    roots.set(from, structure)
  }
  return structure
}

const ANYTHING: Schema = { type: 'object', preserveUnknown: true }

const asResource = (schema: Schema): Schema => ({
  ...schema,
  type: 'object',
  properties: { ...schema.properties, ...RESOURCE_FIELDS },
})

function lookUp(schema: Schema, resolve: Resolve, preserve: boolean): Structure {
  const ref = refOf(schema)
  if (ref === RAW_EXTENSION) return UNTYPED_ATOMIC
  if (ref !== undefined) {
    const target = resolve(ref)
    if (schema.mapType === 'atomic') {
      return cached(atomics, target, () => build({ ...target, mapType: 'atomic' }, resolve, false))
    }
    return cached(structures, target, () => build(target, resolve, false))
  }
  return cached(preserve ? preserving : structures, schema, () => build(schema, resolve, preserve))
}

function cached(cache: WeakMap<Schema, Structure>, key: Schema, make: () => Structure): Structure {
  const known = cache.get(key)
  if (known) return known
  const made = make()
  cache.set(key, made)
  return made
}

function build(schema: Schema, resolve: Resolve, inherited: boolean): Structure {
  const preserve = inherited || schema.preserveUnknown === true
  switch (schema.intOrString ? undefined : schema.type) {
    case 'object':
      return { scalar: undefined, list: undefined, map: mapType(schema, resolve, preserve) }
    case 'array':
      return { scalar: undefined, list: listType(schema, resolve, preserve), map: undefined }
    case 'integer':
    case 'number':
      return { scalar: 'numeric', list: undefined, map: undefined }
    case 'boolean':
      return { scalar: 'boolean', list: undefined, map: undefined }
    case 'string': {
      const isText = schema.format === undefined || schema.format === '' || schema.format === 'byte'
      return { scalar: isText ? 'string' : 'untyped', list: undefined, map: undefined }
    }
    default:
      return {
        scalar: 'untyped',
        list: listType(schema, resolve, preserve),
        map: mapType(schema, resolve, preserve),
      }
  }
}

function mapType(schema: Schema, resolve: Resolve, preserve: boolean): MapType {
  const properties = schema.embeddedResource ? { ...schema.properties, ...RESOURCE_FIELDS } : (schema.properties ?? {})
  const fields = new Map<string, FieldType>()
  const { additionalProperties: others } = schema
  const hasFields = Object.keys(properties).length > 0
  const element = (): Structure | undefined => {
    if (others === undefined) return preserve || !hasFields ? DEDUCED : undefined
    if (typeof others === 'boolean') return others ? DEDUCED : undefined
    return lookUp(others, resolve, preserve)
  }
  return {
    isAtomic: schema.mapType === 'atomic',
    isDeduced: !hasFields && (others === undefined || others === true),
    field(name) {
      const known = fields.get(name)
      if (known) return known
      const declared = ownValue(properties, name) as Schema | undefined
      if (!declared) return undefined
      const field = { structure: lookUp(declared, resolve, preserve), default: declared.default ?? undefined }
      fields.set(name, field)
      return field
    },
    element,
  }
}

function listType(schema: Schema, resolve: Resolve, preserve: boolean): ListType {
  const declaredKeys = keysOf(schema)
  return {
    isAtomic: declaredKeys === undefined,
    keys: declaredKeys?.toSorted() ?? [],
    declaredKeys: declaredKeys ?? [],
    element: () => (schema.items ? lookUp(schema.items, resolve, preserve) : UNTYPED_ATOMIC),
  }
}

/** The keys of an associative list, none for a set; undefined for an atomic one. */
function keysOf({ listType: type, listMapKeys, patchStrategy, patchMergeKey }: Schema): readonly string[] | undefined {
  if (type === 'map') return listMapKeys ?? []
  if (type === 'set') return []
  if (type === undefined && patchStrategy?.split(',').includes('merge')) return patchMergeKey ? [patchMergeKey] : []
  return undefined
}
