import { boundedText } from '../decode/field-paths.ts'
import { duplicate, forbidden, invalidOmitted, invalidValue, required } from '../field-errors.ts'
import type { FieldError, Rule, Schema } from '../types.ts'
import { correlator } from '../validation/correlate.ts'
import type { CompiledRule, Validator } from './compile.ts'
import { validatorOf } from './compile.ts'
import { CostExceeded, metered, MAX_OBJECT_COST, MAX_RULE_COST } from './cost.ts'
import { Optional } from '@marcbachmann/cel-js'
import type { JsonObject } from '@tenure/kube/model'
import { isDeepEqual, isJsonObject } from '@tenure/kube/model'

export interface RuleOptions {
  /** The object before the update; undefined on create. */
  readonly old?: unknown
  /** The cost limit of all rules together. Default: 10 000 000, as in Kubernetes. */
  readonly limit?: number
}

/**
 * Runs the `x-kubernetes-validations` of a schema on an object that is otherwise valid (see `blockingError`). Errors of
 * unchanged values are not reported, unless a rule uses `oldSelf`.
 */
export function validateRules(schema: Schema, value: unknown, options: RuleOptions = {}): FieldError[] {
  const validator = validatorOf(schema)
  if (!validator) return []
  const run = new Run(options.limit ?? MAX_OBJECT_COST)
  const old = options.old ?? undefined
  run.visit(validator, {
    path: '',
    value,
    cel: validator.type.convert(value),
    old,
    oldCel: old === undefined ? undefined : validator.type.convert(old),
    isUnchanged: once(() => old !== undefined && isDeepEqual(value, old)),
  })
  return run.errors
}

const BLOCKING = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
])

/** Returns the error that is reported instead of running the rules, if type or limit errors block them. */
export function blockingError(errors: readonly FieldError[]): FieldError | undefined {
  if (!errors.some(({ reason }) => BLOCKING.has(reason))) return undefined
  const why =
    'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation'
  return invalidValue('<nil>', null, why)
}

/** A value with its old value. */
interface Place {
  readonly path: string
  readonly value: unknown
  readonly cel: unknown
  readonly old: unknown
  readonly oldCel: unknown
  isUnchanged(): boolean
}

class Run {
  readonly errors: FieldError[] = []
  #left: number

  constructor(limit: number) {
    this.#left = limit
  }

  visit(validator: Validator, place: Place): void {
    if (place.value === null || place.value === undefined || this.#left < 0) return
    for (const rule of validator.rules) {
      if (this.#left < 0) return
      this.#rule(validator, rule, place)
    }
    if (Array.isArray(place.value)) this.#items(validator, place.value, place)
    else if (isJsonObject(place.value)) this.#children(validator, place.value, place)
  }

  #items(validator: Validator, value: readonly unknown[], place: Place): void {
    const { items } = validator
    if (!items) return
    const cel = place.cel as readonly unknown[]
    const find = correlator(validator.schema, place.old)
    value.forEach((item, index) => {
      const oldIndex = find(item)
      const old = oldIndex < 0 ? undefined : (place.old as readonly unknown[])[oldIndex]
      this.visit(items, {
        path: `${place.path}[${index}]`,
        value: item,
        cel: cel[index],
        old,
        oldCel: oldIndex < 0 ? undefined : (place.oldCel as readonly unknown[])[oldIndex],
        // An item without an old item is unchanged if its list is.
        isUnchanged: once(() => (oldIndex < 0 ? place.isUnchanged() : isDeepEqual(item, old))),
      })
    })
  }

  #children(validator: Validator, value: JsonObject, place: Place): void {
    const before = isJsonObject(place.old) ? place.old : undefined
    for (const [key, child] of Object.entries(value)) {
      const property = validator.properties.get(key)
      const next = property ?? (validator.schema.properties ? undefined : validator.additional)
      if (!next) continue
      const old = before && Object.hasOwn(before, key) ? before[key] : undefined
      const separator = place.path === '' ? '' : '.'
      this.visit(next, {
        path: property ? `${place.path}${separator}${key}` : `${place.path}[${boundedText(key)}]`,
        value: child,
        cel: celChild(validator, place.cel, key, child, next),
        old,
        oldCel: old === undefined ? undefined : celChild(validator, place.oldCel, key, old, next),
        isUnchanged: once(() => old !== undefined && isDeepEqual(child, old)),
      })
    }
  }

  #rule(validator: Validator, compiled: CompiledRule, place: Place): void {
    const { rule, program } = compiled
    const type = validator.schema.type ?? ''
    if (compiled.error !== undefined || !program) {
      this.errors.push(invalidValue(at(place.path), type, `rule compile error: ${compiled.error ?? ''}`))
      return
    }
    const hasOld = place.oldCel !== undefined && place.oldCel !== null
    if (program.usesOldSelf && !hasOld && !rule.optionalOldSelf) return
    if (this.#left <= 0) {
      this.#outOfBudget(place, type)
      return
    }
    const context = { self: place.cel, oldSelf: oldSelf(rule, hasOld, place.oldCel) }
    const { spent, result } = metered(Math.min(MAX_RULE_COST, this.#left), () => program.run(context))
    if (result instanceof CostExceeded && this.#left <= MAX_RULE_COST) {
      this.#outOfBudget(place, type)
      return
    }
    this.#left -= spent
    if (result instanceof Error) {
      this.errors.push(invalidValue(at(place.path), type, describe(result, rule)))
      if (result instanceof CostExceeded) this.#left = -1
      return
    }
    if (result === true) return
    if (!program.usesOldSelf && place.isUnchanged()) return
    this.errors.push(this.#failure(compiled, place, type, context))
  }

  #outOfBudget(place: Place, type: string): void {
    const why = 'validation failed due to running out of cost budget, no further validation rules will be run'
    this.errors.push(invalidValue(at(place.path), type, why))
    this.#left = -1
  }

  #failure(compiled: CompiledRule, place: Place, type: string, context: Readonly<Record<string, unknown>>): FieldError {
    const { rule, fieldPath } = compiled
    const separator = place.path === '' || fieldPath === undefined ? '' : '.'
    const field = at(`${place.path}${separator}${fieldPath ?? ''}`)
    const detail = this.#message(compiled, context) ?? messageOf(rule)
    const isCompound = type === 'object' || type === 'array'
    switch (rule.reason) {
      case 'FieldValueForbidden':
        return forbidden(field, detail)
      case 'FieldValueRequired':
        return required(field, detail)
      case 'FieldValueDuplicate':
        return isCompound
          ? { reason: 'FieldValueDuplicate', field, message: 'Duplicate value' }
          : duplicate(field, place.value)
      case undefined:
      default:
        return isCompound ? invalidOmitted(field, detail) : invalidValue(field, place.value, detail)
    }
  }

  /** Evaluates the message expression; undefined if it fails. */
  #message({ message }: CompiledRule, context: Readonly<Record<string, unknown>>): string | undefined {
    if (!message) return undefined
    const { spent, result } = metered(Math.min(MAX_RULE_COST, this.#left), () => message.run(context))
    this.#left -= spent
    if (typeof result !== 'string') return undefined
    const text = result.trim()
    return text === '' || text.includes('\n') || Buffer.byteLength(text) > 5 * 1024 ? undefined : text
  }
}

/** The path in errors; the root has none. */
function at(path: string): string {
  return path === '' ? '<nil>' : path
}

function oldSelf(rule: Rule, hasOld: boolean, old: unknown): unknown {
  if (!rule.optionalOldSelf) return hasOld ? old : undefined
  return hasOld ? Optional.of(old) : Optional.none()
}

/** A child that rules cannot access is converted separately. */
function celChild(validator: Validator, cel: unknown, key: string, value: unknown, next: Validator): unknown {
  if (cel instanceof Map) return cel.get(key)
  const escaped = validator.type.fields?.get(key)?.escaped
  return escaped === undefined ? next.type.convert(value) : (cel as JsonObject | undefined)?.[escaped]
}

/** Compares at most once: all items of a list ask whether the list is unchanged. */
function once(compare: () => boolean): () => boolean {
  let known: boolean | undefined
  return () => (known ??= compare())
}

function messageOf(rule: Rule): string {
  return rule.message ? rule.message.trim() : `failed rule: ${rule.rule.trim()}`
}

function ruleText(rule: Rule): string {
  return (rule.message || rule.rule).trim()
}

function describe(error: Error, rule: Rule): string {
  if (error instanceof CostExceeded) {
    return `'${error.message}': no further validation rules will be run due to call cost exceeds limit for rule: ${ruleText(rule)}`
  }
  const summary = (error as { readonly summary?: unknown }).summary
  const text = typeof summary === 'string' ? summary : error.message
  if (/no such overload|no matching overload/.test(text)) {
    return `'no such overload': call arguments did not match a supported operator, function or macro signature for rule: ${ruleText(rule)}`
  }
  return `${reword(text)} evaluating rule: ${ruleText(rule)}`
}

function reword(text: string): string {
  const bounds = /^No such key: index out of bounds, index (-?\d+)/.exec(text)
  if (bounds) return `index out of bounds: ${bounds[1]}`
  const key = /^No such key: (.*)$/.exec(text)
  if (key) return `no such key: ${key[1]}`
  return text.startsWith('integer overflow') ? 'integer overflow' : text
}
