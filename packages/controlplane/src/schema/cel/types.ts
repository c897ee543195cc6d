import { Duration } from '@marcbachmann/cel-js/evaluator'
import type { Environment } from '@marcbachmann/cel-js'

import type { Schema } from '../types.ts'
import { escapeName } from './escape.ts'
import { CelObject, unordered } from './library/objects.ts'

/** The CEL type of a schema: its name and the conversion from JSON. */
export interface CelType {
  /** `int`, `list<string>`, `Object3`. */
  readonly name: string
  convert(value: unknown): unknown
  /** Fields of an object type, by property name. */
  readonly fields: ReadonlyMap<string, CelField> | undefined
  /** The element of a list or map. */
  readonly element: CelType | undefined
}

export interface CelField {
  readonly escaped: string | undefined
  readonly type: CelType
}

export const TIMESTAMP = 'google.protobuf.Timestamp'
export const DURATION = 'google.protobuf.Duration'

const TEXT: Schema = { type: 'string' }
const METADATA: Schema = { type: 'object', properties: { name: TEXT, generateName: TEXT } }

/** Declares the types of a schema in `environment`. */
export class TypeFactory {
  readonly #environment: Environment
  /** Fields of each declared type, by its name. */
  readonly fieldsOf = new Map<string, ReadonlyMap<string, string>>()
  #count = 0

  constructor(environment: Environment) {
    this.#environment = environment
  }

  /** Returns undefined if rules cannot access the value: no type, or unknown fields. */
  declare(schema: Schema, isResource: boolean): CelType | undefined {
    if (schema.intOrString) return scalar('dyn', integer)
    switch (schema.type) {
      case 'string':
        return textType(schema.format)
      case 'integer':
        return scalar('int', integer)
      case 'number':
        return scalar('double', (value) => value)
      case 'boolean':
        return scalar('bool', (value) => value)
      case 'array':
        return this.#list(schema)
      case 'object':
        return typeof schema.additionalProperties === 'object'
          ? this.#map(schema.additionalProperties)
          : this.#object(schema, isResource)
      case undefined:
      default:
        return undefined
    }
  }

  #list(schema: Schema): CelType | undefined {
    const element = schema.items && this.declare(schema.items, schema.items.embeddedResource ?? false)
    if (!element) return undefined
    const isUnordered = schema.listType === 'set' || schema.listType === 'map'
    return {
      name: `list<${element.name}>`,
      fields: undefined,
      element,
      convert: (value) => {
        if (!Array.isArray(value)) return value
        const list: unknown[] = value.map((item) => (item === null ? null : element.convert(item)))
        if (isUnordered) unordered.add(list)
        return list
      },
    }
  }

  #map(schema: Schema): CelType | undefined {
    const element = this.declare(schema, schema.embeddedResource ?? false)
    if (!element) return undefined
    return {
      name: `map<string, ${element.name}>`,
      fields: undefined,
      element,
      convert: (value) => {
        if (typeof value !== 'object' || value === null) return value
        const map = new Map<string, unknown>()
        for (const [key, item] of Object.entries(value)) map.set(key, item === null ? null : element.convert(item))
        return map
      },
    }
  }

  #object(schema: Schema, isResource: boolean): CelType {
    const properties = Object.entries(schema.properties ?? {})
    const all: readonly (readonly [string, Schema])[] = isResource
      ? [
          ...properties.filter(([name]) => !['apiVersion', 'kind', 'metadata'].includes(name)),
          ['apiVersion', TEXT],
          ['kind', TEXT],
          ['metadata', METADATA],
        ]
      : properties
    const fields = new Map<string, CelField>()
    for (const [name, property] of all) {
      const type = this.declare(property, property.embeddedResource ?? false)
      if (type) fields.set(name, { escaped: escapeName(name), type })
    }
    this.#count += 1
    const name = `Object${this.#count}`
    const ctor = class extends CelObject {}
    const declared = new Map(
      [...fields.values()].flatMap(({ escaped, type }): [string, string][] =>
        escaped === undefined ? [] : [[escaped, type.name]],
      ),
    )
    this.fieldsOf.set(name, declared)
    this.#environment.registerType(name, { ctor, fields: Object.fromEntries(declared) })
    this.#environment.registerOperator(`${name} == ${name}`, () => false)
    this.#environment.registerOperator(`${name} == null`, () => false)
    return { name, fields, element: undefined, convert: (value) => toObject(ctor, fields, value) }
  }
}

/** A null field counts as absent. */
function toObject(ctor: new () => CelObject, fields: ReadonlyMap<string, CelField>, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const source = value as Readonly<Record<string, unknown>>
  const target = new ctor() as unknown as Record<string, unknown>
  for (const [name, { escaped, type }] of fields) {
    if (escaped === undefined || !Object.hasOwn(source, name)) continue
    const given = source[name]
    if (given !== null && given !== undefined) target[escaped] = type.convert(given)
  }
  return target
}

function scalar(name: string, convert: (value: unknown) => unknown): CelType {
  return { name, convert, fields: undefined, element: undefined }
}

function integer(value: unknown): unknown {
  return typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : value
}

function textType(format: string | undefined): CelType {
  switch (format) {
    case 'byte':
      return scalar('bytes', (value) => (typeof value === 'string' ? Buffer.from(value, 'base64') : value))
    case 'date':
    case 'date-time':
      return scalar(TIMESTAMP, (value) => (typeof value === 'string' ? new Date(value.toUpperCase()) : value))
    case 'duration':
      return scalar(DURATION, (value) => (typeof value === 'string' ? parseDuration(value) : value))
    case undefined:
    default:
      return scalar('string', (value) => value)
  }
}

const NANOS: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  μs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  h: 3600e9,
  d: 86_400e9,
  w: 604_800e9,
}

/** Parses Go durations, and days and weeks. */
function parseDuration(text: string): Duration {
  let nanos = 0
  for (const [, amount, unit = ''] of text.matchAll(/(\d+\.?\d*|\.\d+)\s*([a-zµμ]+)/g)) {
    nanos += Number(amount) * (NANOS[unit] ?? NANOS[unit.charAt(0)] ?? 0)
  }
  const signed = Math.round(text.startsWith('-') ? -nanos : nanos)
  return new Duration(BigInt(Math.trunc(signed / 1e9)), signed % 1e9)
}
