import { canonicalQuantity, QuantityError } from '@tenure/kube/model'
import type { JsonObject } from '@tenure/kube/model'
import { isJsonObject, setOwnValue } from '@tenure/kube/model'
import type { StatusError } from '../../errors.ts'
import { badRequest } from '../../errors.ts'
import { base64Error } from '../formats/base64.ts'
import { canonicalMicroTime, canonicalTime, TimeError } from '../formats/go-time.ts'
import { goQuote } from '../go-text.ts'
import type { Schema } from '../types.ts'
import type { Field, Struct } from './decode-type.ts'
import { structOf } from './decode-type.ts'
import { childPath, FieldPaths } from './field-paths.ts'

export interface DecodeResult {
  /** As in a response: without unknown fields, nulls and empty optional fields; quantities and times are canonical. */
  readonly object: unknown
  /** Paths of unknown fields, in the order of the request: `spec.template.spec.containers[0].foo`. */
  readonly unknown: readonly string[]
  /** The decoding error with Go's text: `json: cannot unmarshal string into Go struct field …`. */
  readonly error: string | undefined
  /** Set if the error is a value of the wrong type. */
  readonly mismatch?: TypeMismatch | undefined
}

/** A JSON value that does not fit a Go type. */
export interface TypeMismatch {
  /** `object`, `array`, `string`, `number` or `bool`. */
  readonly jsonType: string
  /** `int32`, `[]string`, `v1.PodSpec`. */
  readonly goType: string
}

export interface DecodeOptions {
  /** Whether fields that every response contains are filled in (`status: {}`, `protocol: TCP`). Default: true. */
  readonly default?: boolean
}

/** Decodes an object of a built-in kind as kube-apiserver does when it reads it into a Go struct and writes it again. */
export function decodeBuiltIn(
  schema: Schema,
  resolve: (ref: string) => Schema,
  value: unknown,
  options: DecodeOptions = {},
): DecodeResult {
  const decoder = new Decoder(options.default ?? true)
  const struct = structOf(schema, resolve)
  try {
    const object = decoder.struct(struct, value, undefined)
    return { object, unknown: decoder.unknown.all, error: decoder.error, mismatch: decoder.mismatch }
  } catch (error) {
    if (error instanceof DecodingStopped) {
      return { object: value, unknown: decoder.unknown.all, error: error.message, mismatch: error.mismatch }
    }
    if (error instanceof TimeError || error instanceof QuantityError) {
      return { object: value, unknown: decoder.unknown.all, error: error.message }
    }
    throw error
  }
}

/** 400: `Deployment in version "v1" cannot be handled as a Deployment: …`. `kind` and `version` are those of the request. */
export function cannotBeHandled(kind: string, version: string, as: string, why: string): StatusError {
  return badRequest(`${kind} in version ${goQuote(version)} cannot be handled as a ${as}: ${why}`)
}

/** `strict decoding error: unknown field "spec.foo", duplicate field "spec.replicas"`. */
export function strictDecodingError(errors: readonly string[]): string {
  return `strict decoding error: ${errors.join(', ')}`
}

export const unknownField = (path: string): string => `unknown field ${goQuote(path)}`
export const duplicateField = (path: string): string => `duplicate field ${goQuote(path)}`

/** Stops decoding, as Go types with their own decoder do. Other errors let decoding continue. */
class DecodingStopped extends Error {
  readonly mismatch: TypeMismatch | undefined

  constructor(message: string, mismatch?: TypeMismatch) {
    super(message)
    this.mismatch = mismatch
  }
}

/** The struct and field that an error names. */
interface Place {
  readonly struct: string
  readonly path: string
}

const MAX_DEPTH = 1000

class Decoder {
  readonly unknown = new FieldPaths()
  error: string | undefined
  mismatch: TypeMismatch | undefined
  readonly #fills: boolean
  /** The path for unknown fields, with indexes and keys, which Go's own errors omit. */
  readonly #path: (string | number)[] = []

  constructor(fills: boolean) {
    this.#fills = fills
  }

  struct(struct: Struct, value: unknown, place: Place | undefined): unknown {
    if (!isJsonObject(value)) return this.#mismatch(value, struct.goName, place)
    if (this.#path.length > MAX_DEPTH) throw new DecodingStopped('exceeded max depth')
    let result: Record<string, unknown> | undefined
    for (const key in value) {
      const given = value[key]
      const field = struct.fields.get(key)
      let next: unknown
      if (field === undefined) this.#unknownField(key)
      else if (given === null) next = undefined
      else if (field.isPlainString && typeof given === 'string')
        next = given === '' && field.omitsEmpty ? undefined : given
      else {
        this.#path.push(key)
        next = this.#value(field, given, { struct: struct.name, path: pathTo(place, field) })
        this.#path.pop()
        if (isEmpty(field, next)) next = undefined
      }
      if (next !== given) {
        result ??= { ...value }
        if (next === undefined) delete result[key]
        else setOwnValue(result, key, next)
      }
    }
    if (this.#fills) {
      for (const field of struct.always) {
        const present = result ?? value
        if (Object.hasOwn(present, field.name)) continue
        result ??= { ...value }
        setOwnValue(result, field.name, field.filled)
      }
    }
    return result ?? value
  }

  #value(field: Field, value: unknown, place: Place, isInResourceList = false): unknown {
    switch (field.kind) {
      case 'string':
        return typeof value === 'string' ? value : this.#mismatch(value, field.goType, place)
      case 'boolean':
        return typeof value === 'boolean' ? value : this.#mismatch(value, field.goType, place)
      case 'int32':
      case 'int64':
        return this.#integer(field, value, place)
      case 'float':
        return typeof value === 'number' ? value : this.#mismatch(value, field.goType, place)
      case 'bytes':
        return this.#bytes(value, place)
      case 'struct':
        return this.struct(field.struct, value, place)
      case 'list':
        return this.#list(field, value, place)
      case 'map':
        return this.#map(field, value, place)
      case 'any':
        return value
      case 'quantity':
        return canonicalQuantity(
          typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '{}',
          isInResourceList,
        )
      case 'time':
        if (typeof value !== 'string') throw stopped(value, 'string', place)
        return canonicalTime(value)
      case 'micro-time':
        if (typeof value !== 'string') throw stopped(value, 'string', place)
        return canonicalMicroTime(value)
      case 'int-or-string':
        if (typeof value === 'string' || isInt32(value)) return value
        throw stopped(value, 'int32', place)
      case 'schema-or-array':
        if (Array.isArray(value)) {
          return value.every((item) => typeof item === 'string') ? value : this.#list(field, value, place)
        }
        return isJsonObject(value) ? this.struct(field.struct, value, place) : value
      case 'schema-or-boolean':
        if (typeof value === 'boolean') return value
        if (isJsonObject(value)) return this.struct(field.struct, value, place)
        throw new DecodingStopped('boolean or JSON schema expected')
      default:
        return field.kind satisfies never
    }
  }

  #integer(field: Field, value: unknown, place: Place): unknown {
    if (typeof value !== 'number') return this.#mismatch(value, field.goType, place)
    const fits = field.kind === 'int32' ? isInt32(value) : Number.isInteger(value) && Math.abs(value) < 2 ** 63
    return fits ? value : this.#mismatch(value, field.goType, place, `number ${value}`)
  }

  #bytes(value: unknown, place: Place): unknown {
    if (typeof value !== 'string') return this.#mismatch(value, '[]uint8', place)
    const wrong = base64Error(value)
    if (wrong !== undefined) this.error ??= wrong
    return /[\r\n]/.test(value) ? value.replace(/[\r\n]/g, '') : value
  }

  #list(field: Field, value: unknown, place: Place): unknown {
    if (!Array.isArray(value)) return this.#mismatch(value, field.goType, place)
    let result: unknown[] | undefined
    for (let index = 0; index < value.length; index += 1) {
      const given: unknown = value[index]
      this.#path.push(index)
      const next = given === null ? this.#zero(field.element) : this.#value(field.element, given, place)
      this.#path.pop()
      if (next !== given) {
        result ??= [...value]
        result[index] = next
      }
    }
    return result ?? value
  }

  #map(field: Field, value: unknown, place: Place): unknown {
    if (!isJsonObject(value)) return this.#mismatch(value, field.goType, place)
    const isResourceList = field.goType === 'v1.ResourceList'
    let result: Record<string, unknown> | undefined
    for (const key in value) {
      const given = value[key]
      this.#path.push(key)
      const next = given === null ? this.#zero(field.element) : this.#value(field.element, given, place, isResourceList)
      this.#path.pop()
      if (next !== given) {
        result ??= { ...value }
        setOwnValue(result, key, next)
      }
    }
    return result ?? value
  }

  #zero(field: Field): unknown {
    return field.kind === 'struct' ? this.struct(field.struct, {}, undefined) : field.zero
  }

  /** Go keeps the first error and continues. */
  #mismatch(value: unknown, goType: string, place: Place | undefined, what?: string): undefined {
    if (this.error === undefined) {
      this.error = mismatchText(value, goType, place, what)
      this.mismatch = { jsonType: jsonType(value), goType }
    }
    return undefined
  }

  #unknownField(key: string): void {
    if (this.unknown.isFull) return
    this.unknown.add(childPath(this.#path.reduce<string>(childPath, ''), key))
  }
}

function pathTo(place: Place | undefined, field: Field): string {
  return place ? `${place.path}.${field.goPath}` : field.goPath
}

function stopped(value: unknown, goType: string, place: Place): DecodingStopped {
  return new DecodingStopped(mismatchText(value, goType, place), { jsonType: jsonType(value), goType })
}

function mismatchText(value: unknown, goType: string, place: Place | undefined, what = jsonType(value)): string {
  const target = place ? `Go struct field ${place.struct}.${place.path} of type` : 'Go value of type'
  return `json: cannot unmarshal ${typeof value === 'number' && goType === 'int32' && !isInt32(value) ? `number ${value}` : what} into ${target} ${goType}`
}

function jsonType(value: unknown): string {
  switch (typeof value) {
    case 'string':
    case 'number':
      return typeof value
    case 'boolean':
      return 'bool'
    default:
      return Array.isArray(value) ? 'array' : 'object'
  }
}

function isInt32(value: unknown): boolean {
  return typeof value === 'number' && (value | 0) === value
}

/** Returns whether `omitempty` drops the value; empty lists and maps are dropped too. */
function isEmpty(field: Field, value: unknown): boolean {
  switch (field.kind) {
    case 'list':
    case 'schema-or-array':
      return Array.isArray(value) && value.length === 0
    case 'map':
      return isJsonObject(value) && hasNoKeys(value)
    default:
      return field.omitsEmpty && (value === '' || value === 0 || value === false)
  }
}

function hasNoKeys(value: JsonObject): boolean {
  for (const _ in value) return false
  return true
}
