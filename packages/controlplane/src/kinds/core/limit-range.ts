import type { JsonObject } from '@tenure/kube/model'
import { asJsonObject, asString, qualifiedName } from '@tenure/kube/model'

import { append } from '../../model/append.ts'
import { asJsonObjects, filled, withField, withinField, withinItems } from '../../model/json.ts'
import { duplicate, forbidden, invalidEach, invalidValue, required } from '../../schema/field-errors.ts'
import type { FieldError } from '../../schema/types.ts'
import { size } from '../common/data-keys.ts'
import type { KindTable } from '../common/kind-table.ts'
import { compareQuantityValues, nanosOf } from '../common/quantity.ts'
import { isOvercommittable, validateContainerResourceName, validateResourceName } from './resource-names.ts'

export const LIMIT_RANGES: KindTable = {
  limitranges: {
    rules: {
      generation: false,
      defaults: (object) => withinField(object, 'spec', (spec) => withinItems(spec, 'limits', defaultLimit)),
      validate: validateLimitRange,
      allowsCreateOnUpdate: true,
    },
  },
}

function defaultLimit(limit: JsonObject): JsonObject {
  if (limit['type'] !== 'Container') return limit
  const defaults = filled(asJsonObject(limit['default']), asJsonObject(limit['max']))
  const requests = filled(filled(asJsonObject(limit['defaultRequest']), defaults), asJsonObject(limit['min']))
  const withDefaults = size(defaults) > 0 ? withField(limit, 'default', defaults) : limit
  return size(requests) > 0 ? withField(withDefaults, 'defaultRequest', requests) : withDefaults
}

const TYPES = ['Pod', 'Container', 'PersistentVolumeClaim']

export function validateLimitRange(range: JsonObject): FieldError[] {
  const types = new Set<string>()
  return asJsonObjects(asJsonObject(range['spec'])['limits']).flatMap((limit, index) => {
    const field = `spec.limits[${index}]`
    const type = asString(limit['type'])
    const errors = validateType(type, `${field}.type`)
    if (types.has(type)) errors.push(duplicate(`${field}.type`, type))
    types.add(type)
    append(errors, validateNames(limit, type, field))
    return [...errors, ...resourcesOf(limit).flatMap((name) => validateOrder(limit, name, field))]
  })
}

function validateType(type: string, field: string): FieldError[] {
  const errors = invalidEach(field, type, qualifiedName(type))
  if (errors.length > 0 || type.includes('/') || TYPES.includes(type)) return errors
  return [invalidValue(field, type, 'must be a standard limit type or fully qualified')]
}

const LIMIT_FIELDS = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio']

const resourcesOf = (limit: JsonObject): readonly string[] => [
  ...new Set(LIMIT_FIELDS.flatMap((list) => Object.keys(asJsonObject(limit[list])))),
]

function validateNames(limit: JsonObject, type: string, field: string): FieldError[] {
  const isOfPods = type === 'Pod' || type === 'Container'
  const check = isOfPods ? validateContainerResourceName : validateResourceName
  const errors: FieldError[] = []
  for (const list of LIMIT_FIELDS) {
    const names = Object.keys(asJsonObject(limit[list]))
    if (type === 'Pod' && list.startsWith('default')) {
      if (names.length > 0) errors.push(forbidden(`${field}.${list}`, "may not be specified when `type` is 'Pod'"))
      continue
    }
    if (list === 'maxLimitRequestRatio' && type === 'PersistentVolumeClaim') append(errors, needsStorage(limit, field))
    append(
      errors,
      names.flatMap((name) => check(name, `${field}.${list}[${name}]`)),
    )
  }
  return errors
}

function needsStorage({ min, max }: JsonObject, field: string): FieldError[] {
  if (Object.hasOwn(asJsonObject(min), 'storage') || Object.hasOwn(asJsonObject(max), 'storage')) return []
  const detail = 'either minimum or maximum storage value is required, but neither was provided'
  return [required(`${field}.limits`, detail)]
}

const exceeds = (a: unknown, b: unknown): boolean =>
  a !== undefined && b !== undefined && compareQuantityValues(a, b) > 0

const text = (what: string, a: unknown, other: string, b: unknown): string =>
  `${what} ${asString(a)} is greater than ${other} ${asString(b)}`

/** Validates that min, default and max of one resource are in ascending order. */
function validateOrder(limit: JsonObject, name: string, field: string): FieldError[] {
  const [max, min, given, request, ratio] = LIMIT_FIELDS.map((list) => asJsonObject(limit[list])[name])
  const errors: FieldError[] = []
  const addError = (list: string, value: unknown, detail: string): void =>
    void errors.push(invalidValue(`${field}.${list}[${name}]`, value, detail))
  if (exceeds(min, max)) addError('min', min, text('min value', min, 'max value', max))
  if (exceeds(min, request))
    addError('defaultRequest', request, text('min value', min, 'default request value', request))
  if (exceeds(request, max))
    addError('defaultRequest', request, text('default request value', request, 'max value', max))
  if (exceeds(request, given)) {
    addError('defaultRequest', request, text('default request value', request, 'default limit value', given))
  }
  // kube-apiserver reports the other value of the two.
  if (exceeds(min, given)) addError('default', min, text('min value', min, 'default value', given))
  if (exceeds(given, max)) addError('default', max, text('default value', given, 'max value', max))
  append(errors, validateRatio(ratio, { min, max }, `${field}.maxLimitRequestRatio[${name}]`))
  if (isOvercommittable(name) || given === undefined || request === undefined) return errors
  if (compareQuantityValues(given, request) !== 0) {
    const detail = `default value ${asString(given)} must equal to defaultRequest value ${asString(request)} in ${name}`
    addError('defaultRequest', request, detail)
  }
  return errors
}

const ONE_IN_NANOS = 1_000_000_000n

function validateRatio(ratio: unknown, { min, max }: JsonObject, field: string): FieldError[] {
  if (ratio === undefined) return []
  if (nanosOf(ratio) < ONE_IN_NANOS) return [invalidValue(field, ratio, `ratio ${asString(ratio)} is less than 1`)]
  if (min === undefined || max === undefined) return []
  const most = Number(nanosOf(max)) / Number(nanosOf(min))
  if (Number(nanosOf(ratio)) / Number(ONE_IN_NANOS) <= most) return []
  return [invalidValue(field, ratio, `ratio ${asString(ratio)} is greater than max/min = ${most.toFixed(6)}`)]
}
