import type { JsonObject } from '@tenure/kube/model'
import { isDeepEqual, isJsonObject, setOwnValue } from '@tenure/kube/model'

import { decodeMetadata } from '../decode/decode-metadata.ts'
import { boundedText, childPath, FieldPaths, MAX_PATH_LENGTH } from '../decode/field-paths.ts'
import { invalidOmitted, invalidValue } from '../field-errors.ts'
import type { FieldError, Schema } from '../types.ts'
import {
  checkEnum,
  checkList,
  checkNumber,
  checkRequired,
  checkSize,
  checkString,
  checkType,
  passesChecks,
  PatternStepsExceeded,
  resetPatternSteps,
} from './checks.ts'
import { checkComposites } from './composites.ts'
import { correlator } from './correlate.ts'
import { checkEmbedded } from './embedded.ts'
import { checkListType } from './lists.ts'
import type { SchemaNode } from './schema-node.ts'
import { nodeOf } from './schema-node.ts'

export interface Processed {
  /** The pruned and defaulted object; the given one if nothing changed. */
  readonly object: unknown
  /** Paths of unknown fields: `spec.foo`. */
  readonly unknown: readonly string[]
  readonly errors: readonly FieldError[]
  /** Why metadata cannot be decoded, with Go's text. The response is a 400 (`cannotBeHandled`), without `errors`. */
  readonly undecodable?: string
}

/** Validates, defaults and prunes in one pass. */
export type ProcessResource = (
  schema: Schema,
  resolve: (ref: string) => Schema,
  value: unknown,
  options: {
    readonly default: boolean
    readonly prune: boolean
    readonly old?: unknown
    /** Reports a null that is not allowed instead of replacing it by the default, as server-side apply does. Default: false. */
    readonly keepsNulls?: boolean
  },
) => Processed

type Options = Parameters<ProcessResource>[3]

/**
 * `value` is a whole resource: its apiVersion, kind and metadata are validated but never pruned. With `old`, errors of
 * values that did not change are not reported (ratcheting).
 */
export const process: ProcessResource = (schema, resolve, value, options) => {
  resetPatternSteps()
  try {
    return processed(schema, resolve, value, options)
  } catch (error) {
    if (!(error instanceof PatternStepsExceeded)) throw error
    const why = 'matching the patterns of the schema takes too many steps; shorten the texts or the patterns'
    return { object: value, unknown: NONE, errors: [invalidOmitted('<nil>', why)] }
  }
}

function processed(
  schema: Schema,
  resolve: (ref: string) => Schema,
  value: unknown,
  options: Parameters<ProcessResource>[3],
): Processed {
  const node = nodeOf(schema, resolve)
  const walker = new Walker(options, false)
  const object = walker.run(node, value)
  if (walker.isClean) return { object, unknown: NONE, errors: NONE }
  let errors = walker.allErrors()
  if (errors.length > 0 && options.old !== undefined) {
    const second = new Walker(options, true)
    second.run(node, value)
    errors = second.allErrors(listErrorsOf(node, options.old))
  }
  const { undecodable } = walker
  return { object, unknown: walker.unknown.all.toSorted(), errors, ...(undecodable !== undefined && { undecodable }) }
}

const NONE: readonly never[] = []
const MAX_DEPTH = 1000
/** Errors of one object that are reported. Each has the whole path of its field, so that all would not fit in memory. */
const MAX_FIELD_ERRORS = 1000

/** How unknown fields are handled. */
type Mode = 'prune' | 'keep' | 'items'

function listErrorsOf(node: SchemaNode, old: unknown): number {
  const walker = new Walker({ default: false, prune: false }, false)
  walker.run(node, old)
  return walker.listErrors.length
}

class Walker {
  readonly unknown = new FieldPaths()
  readonly listErrors: FieldError[] = []
  undecodable: string | undefined
  readonly #errors: FieldError[] = []
  readonly #embeddedErrors: FieldError[] = []
  readonly #options: Options
  readonly #ratchets: boolean
  /** The current path: names, indexes, and names of additional properties prefixed with NUL. */
  readonly #path: (string | number)[] = []

  constructor(options: Options, ratchets: boolean) {
    this.#options = options
    this.#ratchets = ratchets
  }

  run(node: SchemaNode, value: unknown): unknown {
    return this.#walk(node, value, this.#options.old, 'prune', true)
  }

  /** Returns the default of a node, with nested defaults. */
  complete(node: SchemaNode): unknown {
    return this.#walk(node, node.default, undefined, 'prune', false)
  }

  get isClean(): boolean {
    return (
      this.#errors.length === 0 &&
      this.unknown.isEmpty &&
      this.undecodable === undefined &&
      this.listErrors.length === 0 &&
      this.#embeddedErrors.length === 0
    )
  }

  /** Returns the errors in kube-apiserver's order, each once. Duplicates in lists are not reported if the old object had some. */
  allErrors(oldListErrors = 0): FieldError[] {
    const found = [...this.#errors, ...this.#embeddedErrors, ...(oldListErrors > 0 ? [] : this.listErrors)]
    const all = found.slice(0, MAX_FIELD_ERRORS)
    if (all.length < 2) return all
    return [...new Map(all.map((error) => [`${error.field}\n${error.message}`, error])).values()]
  }

  /** Enough errors are found: the object is refused, whatever else is wrong. */
  get #isFull(): boolean {
    return this.#errors.length >= MAX_FIELD_ERRORS
  }

  #walk(node: SchemaNode | undefined, value: unknown, old: unknown, mode: Mode, isRoot: boolean): unknown {
    if (node === undefined) return mode === 'prune' ? this.#pruneAll(value) : value
    if (typeof value !== 'object' || value === null) {
      if (!passesChecks(node, value) && !this.#isFull) this.#scalar(node, value, old)
      return value
    }
    if (this.#path.length > MAX_DEPTH) {
      this.#errors.push(invalidValue(this.#dotted(), '', 'exceeded max depth'))
      return value
    }
    const mark = this.#errors.length
    const result = Array.isArray(value)
      ? this.#list(node, value, old, mode)
      : this.#object(node, value as JsonObject, old, mode, isRoot)
    if (this.#ratchets && this.#errors.length > mark && old !== undefined && isDeepEqual(result, old)) {
      this.#errors.length = mark
    }
    return result
  }

  #scalar(node: SchemaNode, value: unknown, old: unknown): void {
    if (this.#ratchets && value === old) return
    const path = this.#dotted()
    checkType(node, value, path, this.#errors)
    if (value !== null && node.hasComposites) {
      checkComposites(node, value, path, this.#ratchets ? old : undefined, this.#errors)
    }
    if (typeof value === 'string') checkString(node, value, path, this.#errors)
    else if (typeof value === 'number') checkNumber(node, value, path, this.#errors)
    checkEnum(node, value, path, this.#errors)
  }

  #list(node: SchemaNode, value: readonly unknown[], old: unknown, mode: Mode): unknown {
    const mark = this.#errors.length
    const { items } = node
    const itemMode = mode === 'prune' && node.preservesUnknown ? 'items' : mode
    let result: unknown[] | undefined
    const oldItems = this.#ratchets && Array.isArray(old) ? (old as readonly unknown[]) : []
    const find = correlator(node, oldItems)
    for (let index = 0; index < value.length; index += 1) {
      const item = value[index]
      const isFilled = item === null && items !== undefined && items.hasDefault && !items.isNullable
      const given = isFilled && this.#options.default ? items.default : item
      this.#path.push(index)
      const next = this.#walk(items, given, oldItems.length > 0 ? oldItems[find(given)] : undefined, itemMode, false)
      this.#path.pop()
      if (next !== item) {
        result ??= [...value]
        result[index] = next
      }
    }
    const final = result ?? value
    if ((node.hasChecks || (node.type !== 'array' && node.typeName !== '')) && !this.#isFull) {
      const path = this.#dotted()
      this.#before(mark, node, final, path, old)
      checkList(node, final, path, this.#errors)
      checkEnum(node, final, path, this.#errors)
    }
    if (node.listType !== undefined && node.listType !== 'atomic' && this.listErrors.length < MAX_FIELD_ERRORS) {
      checkListType(node, final, this.#bracketed(), this.listErrors)
    }
    return final
  }

  #object(node: SchemaNode, value: JsonObject, old: unknown, mode: Mode, isRoot: boolean): unknown {
    const mark = this.#errors.length
    const oldObject = this.#ratchets && isJsonObject(old) ? old : undefined
    const isResource = isRoot || node.isEmbeddedResource
    const preserves = mode !== 'prune' || node.preservesUnknown
    let result: Record<string, unknown> | undefined
    for (const key in value) {
      const given = value[key]
      const isMeta = isResource && (key === 'metadata' || key === 'kind' || key === 'apiVersion')
      const property = node.property(key)
      let next: unknown = given
      if (isMeta) next = this.#meta(property, key, given, oldObject?.[key], isRoot, mode)
      else if (property !== undefined || node.hasAdditional) {
        const child = property ?? node.additional
        if (given === null && child !== undefined && mode !== 'keep' && this.#replacesNull(child)) {
          next = child.hasDefault ? completeDefault(child) : undefined
        } else {
          this.#path.push(property === undefined ? `\u0000${key}` : key)
          next = this.#walk(child, given, oldObject?.[key], mode === 'keep' ? 'keep' : 'prune', false)
          this.#path.pop()
        }
      } else if (!preserves) {
        this.#unknownField(key)
        if (this.#options.prune) next = undefined
      }
      if (next !== given) {
        result ??= { ...value }
        if (next === undefined) delete result[key]
        else setOwnValue(result, key, next)
      }
    }
    if (this.#options.default && node.defaults.length > 0 && mode !== 'keep') {
      for (const [name, child] of node.defaults) {
        if (Object.hasOwn(value, name)) continue
        result ??= { ...value }
        setOwnValue(result, name, completeDefault(child))
      }
    }
    const final = result ?? value
    if ((node.hasChecks || (node.type !== 'object' && node.typeName !== '')) && !this.#isFull) {
      const path = this.#dotted()
      this.#before(mark, node, final, path, old)
    }
    if (node.required && !this.#isFull) this.#required(node, final)
    const checksResource = node.isEmbeddedResource && !isRoot && this.#embeddedErrors.length < MAX_FIELD_ERRORS
    if (checksResource) checkEmbedded(final, this.#bracketed(), this.#embeddedErrors)
    return final
  }

  #replacesNull({ isNullable, hasDefault }: SchemaNode): boolean {
    const { default: fills, keepsNulls = false } = this.#options
    return fills && !isNullable && (hasDefault || !keepsNulls)
  }

  /** Inserts the errors of the value itself before those of its children. */
  #before(mark: number, node: SchemaNode, value: JsonObject | readonly unknown[], path: string, old: unknown): void {
    const own: FieldError[] = []
    checkType(node, value, path, own)
    if (node.hasComposites) checkComposites(node, value, path, this.#ratchets ? old : undefined, own)
    if (!Array.isArray(value)) {
      checkEnum(node, value, path, own)
      checkSize(node, value as JsonObject, path, own)
    }
    if (own.length === 0) return
    const below = this.#errors.splice(mark)
    for (const error of [...own, ...below]) this.#errors.push(error)
  }

  #required(node: SchemaNode, value: JsonObject): void {
    for (const name of node.required ?? []) {
      if (Object.hasOwn(value, name)) continue
      checkRequired(node, value, this.#dotted(), this.#errors)
      return
    }
  }

  /** Handles apiVersion, kind and metadata, which do not depend on the schema. */
  #meta(
    property: SchemaNode | undefined,
    key: string,
    given: unknown,
    old: unknown,
    isRoot: boolean,
    mode: Mode,
  ): unknown {
    let value = given
    if (key !== 'metadata' && !isRoot && typeof given !== 'string') {
      this.undecodable ??= decodeErrorText(invalidValue(this.#child(key), given, 'must be a string'))
    }
    if (key === 'metadata' && mode !== 'keep') {
      const { object, unknown, error } = decodeMetadata(given)
      const prefix = this.#child('metadata')
      for (const name of unknown) this.unknown.add(childPath(prefix, name))
      if (error !== undefined) {
        this.undecodable ??= isRoot ? error : decodeErrorText(invalidValue(prefix, given, error))
      } else if (this.#options.prune) value = object
    }
    if (property) {
      this.#path.push(key)
      // Type errors of apiVersion and kind are always reported.
      this.#walk(property, value, isRoot && key !== 'metadata' ? undefined : old, 'keep', false)
      this.#path.pop()
    }
    return value
  }

  /** Prunes all fields of a value without a schema. */
  #pruneAll(value: unknown): unknown {
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) {
      return value.map((item, index) => {
        this.#path.push(index)
        const pruned = this.#pruneAll(item)
        this.#path.pop()
        return pruned
      })
    }
    for (const key of Object.keys(value)) this.#unknownField(key)
    return this.#options.prune ? {} : value
  }

  #unknownField(key: string): void {
    if (!this.unknown.isFull) this.unknown.add(this.#child(key))
  }

  #child(key: string): string {
    return childPath(this.#dotted(), key)
  }

  /** The path in schema errors: `spec.map.key[0]`. */
  #dotted(): string {
    let path = ''
    for (const segment of this.#path) {
      const isAdditional = typeof segment === 'string' && segment.charCodeAt(0) === 0
      path = childPath(path, isAdditional ? segment.slice(1) : segment)
    }
    return path
  }

  /** The path in all other errors: `spec.map[key][0]`. */
  #bracketed(): string {
    let text = ''
    for (const segment of this.#path) {
      if (typeof segment === 'number') text += `[${segment}]`
      else if (segment.charCodeAt(0) === 0) text += `[${boundedText(segment.slice(1))}]`
      else text += text === '' ? segment : `.${segment}`
      if (text.length > MAX_PATH_LENGTH) return boundedText(text)
    }
    return text
  }
}

function decodeErrorText({ field, message }: FieldError): string {
  return `${field}: ${message}`
}

const completed = new WeakMap<SchemaNode, { readonly value: unknown }>()

/** Returns a default with nested defaults. It is validated with the schema and shared, because objects are immutable. */
function completeDefault(node: SchemaNode): unknown {
  let known = completed.get(node)
  if (!known) {
    const walker = new Walker({ default: true, prune: false }, false)
    known = { value: walker.complete(node) }
    completed.set(node, known)
  }
  return known.value
}
