import { nameOfBuiltIn } from '../openapi/builtin.ts'
import type { Schema } from '../types.ts'

/** Built-in schemas as the Go types that they were generated from. Created on first use and cached. */

export type FieldKind =
  | 'string'
  | 'boolean'
  | 'int32'
  | 'int64'
  | 'float'
  | 'bytes'
  | 'struct'
  | 'list'
  | 'map'
  | 'any'
  | 'quantity'
  | 'time'
  | 'micro-time'
  | 'int-or-string'
  | 'schema-or-array'
  | 'schema-or-boolean'

export class Struct {
  /** `DeploymentSpec`. */
  readonly name: string
  /** `v1.DeploymentSpec`. */
  readonly goName: string
  readonly fields: ReadonlyMap<string, Field>
  /** Fields that every response contains. */
  readonly always: readonly Field[]

  constructor(name: string, schema: Schema, resolve: (ref: string) => Schema) {
    const parts = name.split('.')
    this.name = parts.at(-1) ?? ''
    this.goName = parts.slice(-2).join('.')
    this.fields = new Map(
      Object.entries(schema.properties ?? {}).map(([key, property]) => [key, new Field(key, property, resolve)]),
    )
    this.always = [...this.fields.values()].filter(({ isFilled }) => isFilled)
  }

  /** The zero value, as Go writes it. */
  get zero(): unknown {
    return Object.fromEntries(this.always.map((field) => [field.name, field.filled]))
  }
}

export class Field {
  readonly name: string
  readonly kind: FieldKind
  readonly isPlainString: boolean
  readonly omitsEmpty: boolean
  /** With the embedded struct before it: `ProbeHandler.httpGet`. */
  readonly goPath: string
  readonly isFilled: boolean
  readonly #schema: Schema
  readonly #target: Schema
  readonly #resolve: (ref: string) => Schema
  #struct: Struct | undefined
  #element: Field | undefined
  #goType: string | undefined
  #filled: { readonly value: unknown } | undefined

  constructor(name: string, schema: Schema, resolve: (ref: string) => Schema) {
    this.name = name
    this.#schema = schema
    this.#resolve = resolve
    this.#target = schema.ref === undefined ? schema : resolve(schema.ref)
    this.kind = kindOf(this.#target)
    this.isPlainString = this.kind === 'string'
    this.omitsEmpty = schema.omitEmpty ?? false
    this.goPath = schema.goInline === undefined ? name : `${schema.goInline}.${name}`
    this.isFilled = schema.default !== undefined
  }

  get struct(): Struct {
    const { ref } = this.#target.format === undefined ? this.#schema : this.#target
    this.#struct ??= structNamed(ref ?? '', this.#resolve)
    return this.#struct
  }

  /** The element of a list or map. */
  get element(): Field {
    const { items, additionalProperties, ref } = this.#target
    const schema = items ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined)
    this.#element ??= new Field('', schema ?? (ref === undefined ? {} : { ref }), this.#resolve)
    return this.#element
  }

  get goType(): string {
    this.#goType ??= this.#schema.goType ?? this.#plainType()
    return this.#goType
  }

  /** The value in a response if the request omits the field. */
  get filled(): unknown {
    this.#filled ??= { value: this.#fill() }
    return this.#filled.value
  }

  /** The value of a null item in a list or map. */
  get zero(): unknown {
    switch (this.kind) {
      case 'string':
      case 'bytes':
        return ''
      case 'boolean':
        return false
      case 'int32':
      case 'int64':
      case 'float':
      case 'int-or-string':
        return 0
      case 'quantity':
        return '0'
      default:
        return null
    }
  }

  #fill(): unknown {
    const value = this.#schema.default
    const isEmptyStruct = this.kind === 'struct' && JSON.stringify(value) === '{}'
    return isEmptyStruct ? this.struct.zero : value
  }

  #plainType(): string {
    switch (this.kind) {
      case 'boolean':
        return 'bool'
      case 'float':
        return 'float64'
      case 'bytes':
        return '[]uint8'
      case 'list':
        return `[]${this.element.goType}`
      case 'map':
        return `map[string]${this.element.goType}`
      case 'struct':
        return this.struct.goName
      case 'quantity':
        return 'resource.Quantity'
      case 'int-or-string':
        return 'intstr.IntOrString'
      case 'time':
        return 'v1.Time'
      case 'micro-time':
        return 'v1.MicroTime'
      default:
        return this.kind
    }
  }
}

function kindOf({
  type,
  format,
  intOrString,
  preserveUnknown,
  additionalProperties,
  properties,
  ref,
}: Schema): FieldKind {
  if (intOrString) return 'int-or-string'
  if (ref !== undefined) return format === 'or-boolean' ? 'schema-or-boolean' : 'schema-or-array'
  if (preserveUnknown) return 'any'
  switch (type) {
    case 'string':
      if (format === 'quantity') return 'quantity'
      if (format === 'date-time') return 'time'
      if (format === 'micro-time') return 'micro-time'
      return format === 'byte' ? 'bytes' : 'string'
    case 'integer':
      return format === 'int32' ? 'int32' : 'int64'
    case 'number':
      return 'float'
    case 'boolean':
      return 'boolean'
    case 'array':
      return 'list'
    case 'object':
      return properties === undefined && additionalProperties !== undefined ? 'map' : 'struct'
    default:
      return 'any'
  }
}

const structs = new Map<string, Struct>()
const bySchema = new WeakMap<Schema, Struct>()

function structNamed(name: string, resolve: (ref: string) => Schema): Struct {
  let struct = structs.get(name)
  if (!struct) {
    struct = new Struct(name, resolve(name), resolve)
    structs.set(name, struct)
  }
  return struct
}

/** The struct of a whole kind. */
export function structOf(schema: Schema, resolve: (ref: string) => Schema): Struct {
  let struct = bySchema.get(schema)
  if (!struct) {
    const name = schema.ref ?? nameOfBuiltIn(schema) ?? ''
    struct = name === '' ? new Struct('', schema, resolve) : structNamed(name, resolve)
    bySchema.set(schema, struct)
  }
  return struct
}
