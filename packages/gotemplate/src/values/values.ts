/** Go's values in JavaScript. */
import type { GoFunction } from './go-function.ts'

/**
 * A value of a template.
 *
 * - `undefined` is the invalid reflect.Value: the absence of a value.
 * - `null` is a nil interface: a missing or null entry of a map or list.
 * - `number` is a float64, `string` a string of bytes (see bytes.ts), an array a `[]interface {}` and a `Map` a
 *   `map[string]interface {}`. All other types have classes.
 */
export type GoValue =
  | undefined
  | null
  | boolean
  | number
  | string
  | GoInt
  | GoComplex
  | readonly GoValue[]
  | GoList
  | GoMap
  | GoStruct
  | GoFunctionValue

/** The type that Go's templates see; a nil one is typed. */
export type GoMap = Map<string, GoValue>

export type IntKind =
  | 'int'
  | 'int8'
  | 'int16'
  | 'int32'
  | 'int64'
  | 'uint'
  | 'uint8'
  | 'uint16'
  | 'uint32'
  | 'uint64'
  | 'uintptr'

/** An integer of any of Go's types. */
export class GoInt {
  readonly kind: IntKind
  readonly value: bigint
  /** The name of a defined type, such as `time.Month`. */
  readonly named: string | undefined

  constructor(kind: IntKind, value: bigint, named?: string) {
    this.kind = kind
    this.value = value
    this.named = named
  }
}

export class GoComplex {
  readonly real: number
  readonly imaginary: number

  constructor(real: number, imaginary: number) {
    this.real = real
    this.imaginary = imaginary
  }
}

/** A list whose type is not `[]interface {}`, or that is nil. */
export class GoList {
  readonly type: string
  readonly items: readonly GoValue[]
  readonly isNil: boolean

  constructor(type: string, items: readonly GoValue[] | null) {
    this.type = type
    this.items = items ?? []
    this.isNil = items === null
  }
}

/** A map whose type is not `map[string]interface {}`. */
export class NamedMap extends Map<string, GoValue> {
  readonly type: string
  readonly elem: string
  readonly isNil: boolean

  constructor(type: string, elem: string, entries: Iterable<readonly [string, GoValue]> | null) {
    super(entries ?? [])
    this.type = type
    this.elem = elem
    this.isNil = entries === null
  }
}

export interface StructField {
  readonly name: string
  readonly type: string
  readonly value: GoValue
  /** The name in JSON; undefined for the name of the field. */
  readonly json?: string
  /** Whether JSON leaves out an empty value. Default: false. */
  readonly omitEmpty?: boolean
  /** Whether it is an embedded struct, whose fields belong to the outer one too. Default: false. */
  readonly isEmbedded?: boolean
}

export interface StructOptions {
  /** Whether the value is a pointer to the struct. Default: false. */
  readonly isPointer?: boolean
  readonly methods?: ReadonlyMap<string, GoFunction>
  /** The result of `String()`, where the type has it. */
  readonly text?: () => string
  /** Whether only a pointer has `String()`: the value prints its fields where Go cannot take its address. */
  readonly isTextOfPointer?: boolean
  /** The value in JSON, where the type has a method for it. */
  readonly json?: () => GoValue
  /** A value that functions use, such as a time. */
  readonly inner?: unknown
}

const NO_METHODS: ReadonlyMap<string, GoFunction> = new Map()

/** A struct, or a pointer to one. */
export class GoStruct {
  readonly type: string
  readonly fields: readonly StructField[]
  readonly options: StructOptions

  constructor(type: string, fields: readonly StructField[], options: StructOptions = {}) {
    this.type = type
    this.fields = fields
    this.options = options
  }

  get methods(): ReadonlyMap<string, GoFunction> {
    return this.options.methods ?? NO_METHODS
  }

  get isPointer(): boolean {
    return this.options.isPointer === true
  }
}

/** A function as a value: no template can obtain one, but errors name its kind. */
export class GoFunctionValue {
  readonly type = 'func()'
}

/** A list of the type `[]string`. */
export const stringList = (items: readonly string[] | null): GoList => new GoList('[]string', items)

export const goInt = (value: number | bigint): GoInt => new GoInt('int', BigInt(value))
export const goInt64 = (value: bigint): GoInt => new GoInt('int64', BigInt.asIntN(64, value))

/** The nil of the type `[]interface {}`. */
export const NIL_LIST = new GoList('[]interface {}', null)

/** The items of a list of any type; undefined if the value is not a list. */
export function itemsOf(value: GoValue): readonly GoValue[] | undefined {
  if (Array.isArray(value)) return value as readonly GoValue[]
  return value instanceof GoList ? value.items : undefined
}
