import { ownValue } from '@tenure/kube/model'
import type { Schema } from '../schema/types.ts'
import { unclassified } from './errors.ts'

/** How one field of a built-in kind is merged. */
export interface PatchMeta {
  /** The schema of the field, or of its items for a list. */
  readonly schema: PatchSchema
  /** `merge`, `replace` or empty, without `retainKeys`. */
  readonly strategy: string
  readonly mergeKey: string
}

/** A schema as strategic merge uses it: which fields merge, and by which key. */
export class PatchSchema {
  readonly #schema: Schema
  readonly #resolve: (ref: string) => Schema
  readonly #name: string

  constructor(schema: Schema, resolve: (ref: string) => Schema, name = '') {
    const ref = refOf(schema)
    this.#schema = ref === undefined ? schema : resolve(ref)
    this.#resolve = resolve
    this.#name = ref === undefined ? name : ref.slice(ref.lastIndexOf('.') + 1)
  }

  /** Go's name for the kind of this type, in messages. */
  get kind(): string {
    const { type, properties } = this.#schema
    if (type === 'array') return 'slice'
    return properties || type !== 'object' ? 'struct' : 'map'
  }

  forField(key: string): PatchMeta {
    const { properties } = this.#schema
    if (!properties) {
      throw unclassified(`merging an object in json but data type is not struct, instead is: ${this.kind}`)
    }
    const field = ownValue(properties, key) as Schema | undefined
    if (!field) {
      throw unclassified(`unable to find api field in struct ${this.#name} for the json field ${JSON.stringify(key)}`)
    }
    return {
      schema: new PatchSchema(field, this.#resolve),
      strategy: strategyOf(field.patchStrategy),
      mergeKey: field.patchMergeKey ?? '',
    }
  }

  forList(key: string): PatchMeta {
    const { schema, strategy, mergeKey } = this.forField(key)
    const { items } = schema.#schema
    if (!items) throw unclassified(`expected slice or array type, but got: ${this.kind}`)
    return { schema: new PatchSchema(items, this.#resolve), strategy, mergeKey }
  }
}

export function refOf(schema: Schema): string | undefined {
  if (schema.ref !== undefined) return schema.ref
  const [only, ...more] = schema.allOf ?? []
  return more.length === 0 ? only?.ref : undefined
}

function strategyOf(declared: string | undefined): string {
  if (!declared) return ''
  return declared.split(',').find((strategy) => strategy !== 'retainKeys') ?? ''
}
