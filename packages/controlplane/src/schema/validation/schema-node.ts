import { isKnownFormat, stringFormat } from '../formats/formats.ts'
import { compileRe2 } from '../formats/regexp.ts'
import type { Pattern } from '../formats/regexp.ts'
import type { Schema } from '../types.ts'

/**
 * A schema prepared for validation: references are resolved, formats and patterns looked up. All nodes have the same shape
 * for V8; children are created on first use, and each schema has one node.
 */
export class SchemaNode {
  readonly schema: Schema
  readonly resolve: (ref: string) => Schema
  readonly type: Schema['type']
  /** The type in errors: `integer`, `integer,string`, or empty if any type is allowed. */
  readonly typeName: string
  /** Empty if kube-apiserver does not know the format. */
  readonly format: string
  readonly checkFormat: ((text: string) => boolean) | undefined
  readonly isNullable: boolean
  readonly isIntOrString: boolean
  readonly preservesUnknown: boolean
  readonly isEmbeddedResource: boolean
  readonly hasDefault: boolean
  readonly default: unknown
  readonly hasProperties: boolean
  /** Whether `additionalProperties` is a schema or `true`. */
  readonly hasAdditional: boolean
  readonly forbidsAdditional: boolean
  readonly required: readonly string[] | undefined
  readonly listType: Schema['listType']
  readonly listMapKeys: readonly string[]
  /** Whether there are checks beyond type, properties and items. Computed once instead of for each value. */
  readonly hasChecks: boolean
  readonly hasComposites: boolean
  /** Lengths, pattern or format. */
  readonly checksText: boolean
  /** Bounds or multiples. */
  readonly checksNumbers: boolean
  /** Properties with a default, by name. */
  readonly defaults: readonly (readonly [string, SchemaNode])[]
  readonly omitsEmpty: boolean
  readonly #properties = new Map<string, SchemaNode | undefined>()
  #additional: SchemaNode | undefined
  #items: SchemaNode | undefined
  #pattern: Pattern | Error | undefined
  #composites: Composites | undefined

  constructor(source: Schema, resolve: (ref: string) => Schema) {
    const schema = source.ref === undefined ? source : withRef(source, resolve)
    this.schema = schema
    this.resolve = resolve
    this.type = schema.type
    this.isIntOrString = schema.intOrString ?? false
    this.typeName = this.isIntOrString ? 'integer,string' : (schema.type ?? '')
    const known = schema.format !== undefined && !this.isIntOrString && isKnownFormat(schema.type, schema.format)
    this.format = known ? (schema.format ?? '') : ''
    this.checkFormat =
      this.format !== '' && (schema.type === 'string' || schema.type === undefined)
        ? stringFormat(this.format)
        : undefined
    // Go writes these built-in fields as null if they are empty.
    this.isNullable = schema.nullable ?? schema.default === null
    this.preservesUnknown = schema.preserveUnknown ?? false
    this.isEmbeddedResource = schema.embeddedResource ?? false
    this.hasDefault = Object.hasOwn(schema, 'default') && schema.default !== undefined
    this.default = schema.default
    this.hasProperties = schema.properties !== undefined
    this.hasAdditional = schema.additionalProperties !== undefined && schema.additionalProperties !== false
    this.forbidsAdditional = schema.additionalProperties === false
    this.required = schema.required && schema.required.length > 0 ? schema.required : undefined
    this.listType = schema.listType
    this.listMapKeys = schema.listMapKeys ?? []
    this.hasComposites = Boolean(
      schema.allOf?.length || schema.anyOf?.length || schema.oneOf?.length || schema.not !== undefined,
    )
    this.checksText =
      this.checkFormat !== undefined ||
      schema.minLength !== undefined ||
      schema.maxLength !== undefined ||
      Boolean(schema.pattern)
    this.checksNumbers = schema.minimum !== undefined || schema.maximum !== undefined || schema.multipleOf !== undefined
    this.hasChecks =
      this.hasComposites ||
      this.checksText ||
      this.checksNumbers ||
      this.forbidsAdditional ||
      schema.enum !== undefined ||
      schema.minItems !== undefined ||
      schema.maxItems !== undefined ||
      Boolean(schema.uniqueItems) ||
      schema.minProperties !== undefined ||
      schema.maxProperties !== undefined ||
      this.type === 'integer' ||
      this.format === 'float'
    this.omitsEmpty = schema.omitEmpty ?? false
    this.defaults = Object.entries(schema.properties ?? {})
      .filter(([, property]) => defaultOf(property, resolve) !== undefined)
      .map(([name, property]) => [name, nodeOf(property, resolve)])
  }

  property(name: string): SchemaNode | undefined {
    const known = this.#properties.get(name)
    if (known !== undefined) return known
    const { properties } = this.schema
    if (properties === undefined || !Object.hasOwn(properties, name)) return undefined
    const schema = properties[name]
    const node = schema && nodeOf(schema, this.resolve)
    if (node) this.#properties.set(name, node)
    return node
  }

  /** The schema of `additionalProperties`; undefined for `true`. */
  get additional(): SchemaNode | undefined {
    const schema = this.schema.additionalProperties
    if (typeof schema !== 'object') return undefined
    this.#additional ??= nodeOf(schema, this.resolve)
    return this.#additional
  }

  get items(): SchemaNode | undefined {
    const schema = this.schema.items
    if (schema === undefined) return undefined
    this.#items ??= nodeOf(schema, this.resolve)
    return this.#items
  }

  /** An Error if the pattern does not compile. */
  get pattern(): Pattern | Error | undefined {
    if (!this.schema.pattern) return undefined
    this.#pattern ??= tryPattern(this.schema.pattern)
    return this.#pattern
  }

  get composites(): Composites {
    if (!this.#composites) {
      const { allOf, anyOf, oneOf, not } = this.schema
      const nodes = (schemas: readonly Schema[] = []): SchemaNode[] =>
        schemas.map((schema) => nodeOf(schema, this.resolve))
      this.#composites = {
        allOf: nodes(allOf),
        anyOf: nodes(anyOf),
        oneOf: nodes(oneOf),
        not: not && nodeOf(not, this.resolve),
      }
    }
    return this.#composites
  }
}

interface Composites {
  readonly allOf: readonly SchemaNode[]
  readonly anyOf: readonly SchemaNode[]
  readonly oneOf: readonly SchemaNode[]
  readonly not: SchemaNode | undefined
}

const nodes = new WeakMap<Schema, SchemaNode>()

/** A schema is always resolved in the same way, so its node is created once. */
export function nodeOf(schema: Schema, resolve: (ref: string) => Schema): SchemaNode {
  let node = nodes.get(schema)
  if (!node) {
    node = new SchemaNode(schema, resolve)
    nodes.set(schema, node)
  }
  return node
}

/** Siblings of a reference (default, list type…) take precedence over the referenced schema. */
function withRef(source: Schema, resolve: (ref: string) => Schema): Schema {
  const { ref, ...beside } = source
  if (ref === undefined) return source
  const target = resolve(ref)
  const followed = target.ref === undefined ? target : withRef(target, resolve)
  // Without siblings the node of the referenced schema is shared.
  return Object.keys(beside).length === 0 ? followed : { ...followed, ...beside }
}

function defaultOf(schema: Schema, resolve: (ref: string) => Schema): unknown {
  if (schema.default !== undefined) return schema.default
  return schema.ref === undefined ? undefined : defaultOf(resolve(schema.ref), resolve)
}

function tryPattern(pattern: string): Pattern | Error {
  try {
    return compileRe2(pattern)
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}
