import type { JsonObject } from '@tenure/kube/model'
import { asArray, asJsonObject, asString, isJsonObject, qualifiedName, valueAtPath } from '@tenure/kube/model'

import { append } from '../../model/append.ts'
import { asJsonObjects, asNumber, isAbsent, isUnset } from '../../model/json.ts'
import {
  duplicate,
  invalidEach,
  invalidOmitted,
  invalidStruct,
  invalidValue,
  notSupported,
  required,
  tooMany,
} from '../../schema/field-errors.ts'
import type { FieldError } from '../../schema/types.ts'

const ACTIONS = ['Count', 'FailIndex', 'FailJob', 'Ignore']
const OPERATORS = ['In', 'NotIn']
const STATUSES = ['False', 'True', 'Unknown']
const REPLACEMENTS = ['Failed', 'TerminatingOrFailed']
const MAX_RULES = 20
const MAX_CONDITIONS = 20
const MAX_EXIT_CODES = 255

const listed = (values: readonly string[]): string => `valid values: [${values.map((value) => `"${value}"`).join(' ')}]`

/** Validates a required enum value. */
function validateWord(value: unknown, field: string, words: readonly string[]): FieldError[] {
  if (isUnset(value)) return [required(field, listed(words))]
  return words.includes(asString(value)) ? [] : [notSupported(field, value, words)]
}

export function validateFailurePolicy(spec: JsonObject, field: string): FieldError[] {
  const rules = asJsonObjects(valueAtPath(spec, 'podFailurePolicy', 'rules'))
  if (rules.length > MAX_RULES) return [tooMany(`${field}.rules`, rules.length, MAX_RULES)]
  const pod = asJsonObject(valueAtPath(spec, 'template', 'spec'))
  const names = new Set(
    [...asJsonObjects(pod['containers']), ...asJsonObjects(pod['initContainers'])].map(({ name }) => name),
  )
  return rules.flatMap((rule, index) => {
    const place = `${field}.rules[${index}]`
    const errors = validateWord(rule['action'], `${place}.action`, ACTIONS)
    if (rule['action'] === 'FailIndex' && isAbsent(spec['backoffLimitPerIndex'])) {
      errors.push(invalidValue(`${place}.action`, 'FailIndex', 'requires the backoffLimitPerIndex to be set'))
    }
    const { onExitCodes: codes, onPodConditions: conditions } = rule
    const hasConditions = asArray(conditions).length > 0
    if (isJsonObject(codes)) append(errors, validateExitCodes(codes, `${place}.onExitCodes`, names))
    if (hasConditions) append(errors, validateConditions(asJsonObjects(conditions), `${place}.onPodConditions`))
    if (isJsonObject(codes) && hasConditions) {
      errors.push(invalidOmitted(place, 'specifying both OnExitCodes and OnPodConditions is not supported'))
    }
    if (!isJsonObject(codes) && !hasConditions) {
      errors.push(invalidOmitted(place, 'specifying one of OnExitCodes and OnPodConditions is required'))
    }
    return errors
  })
}

function validateExitCodes(codes: JsonObject, field: string, names: ReadonlySet<unknown>): FieldError[] {
  const { operator, containerName } = codes
  const errors = validateWord(operator, `${field}.operator`, OPERATORS)
  if (!isAbsent(containerName) && !names.has(containerName)) {
    const detail = 'must be one of the container or initContainer names in the pod template'
    errors.push(invalidValue(`${field}.containerName`, containerName, detail))
  }
  const values = asArray(codes['values']).map(asNumber)
  const place = `${field}.values`
  if (values.length === 0) errors.push(invalidValue(place, values, 'at least one value is required'))
  else if (values.length > MAX_EXIT_CODES) errors.push(tooMany(place, values.length, MAX_EXIT_CODES))
  const seen = new Set<number>()
  values.forEach((value, index) => {
    if (operator === 'In' && value === 0) {
      errors.push(invalidValue(`${place}[${index}]`, value, 'must not be 0 for the In operator'))
    }
    if (seen.has(value)) errors.push(duplicate(`${place}[${index}]`, value))
    seen.add(value)
  })
  const isOrdered = values.every((value, index) => index === 0 || (values[index - 1] ?? 0) <= value)
  if (!isOrdered) errors.push(invalidValue(place, values, 'must be ordered'))
  return errors
}

function validateConditions(conditions: readonly JsonObject[], field: string): FieldError[] {
  if (conditions.length > MAX_CONDITIONS) return [tooMany(field, conditions.length, MAX_CONDITIONS)]
  return conditions.flatMap(({ type, status }, index) => [
    ...invalidEach(`${field}[${index}].type`, asString(type), qualifiedName(asString(type))),
    ...validateWord(status, `${field}[${index}].status`, STATUSES),
  ])
}

const shownRules = (policy: JsonObject, shown: (rule: JsonObject) => JsonObject): JsonObject => {
  const rules = asJsonObjects(policy['rules']).map(shown)
  return { Rules: rules.length > 0 ? rules : null }
}

/** The structs as Go prints them. */
export const shownSuccessPolicy = (policy: JsonObject): JsonObject =>
  shownRules(policy, ({ succeededIndexes, succeededCount }) => ({
    SucceededIndexes: succeededIndexes ?? null,
    SucceededCount: succeededCount ?? null,
  }))

export const shownFailurePolicy = (policy: JsonObject): JsonObject =>
  shownRules(policy, ({ action, onExitCodes: codes, onPodConditions: conditions }) => ({
    Action: action ?? '',
    OnExitCodes: isJsonObject(codes)
      ? {
          ContainerName: codes['containerName'] ?? null,
          Operator: codes['operator'] ?? '',
          Values: codes['values'] ?? null,
        }
      : null,
    OnPodConditions: Array.isArray(conditions)
      ? asJsonObjects(conditions).map(({ type, status }) => ({ Type: type ?? '', Status: status ?? '' }))
      : null,
  }))

export function validateSuccessPolicy(spec: JsonObject, field: string): FieldError[] {
  const rules = asJsonObjects(valueAtPath(spec, 'successPolicy', 'rules'))
  if (spec['completionMode'] !== 'Indexed') {
    return [
      invalidStruct(field, shownSuccessPolicy(asJsonObject(spec['successPolicy'])), 'requires indexed completion mode'),
    ]
  }
  if (rules.length === 0) {
    return [required(`${field}.rules`, 'at least one rules must be specified when the successPolicy is specified')]
  }
  if (rules.length > MAX_RULES) return [tooMany(`${field}.rules`, rules.length, MAX_RULES)]
  const completions = asNumber(spec['completions'])
  return rules.flatMap((rule, index) => validateSuccessRule(rule, `${field}.rules[${index}]`, completions))
}

function validateSuccessRule(rule: JsonObject, field: string, completions: number): FieldError[] {
  const { succeededCount: count, succeededIndexes: indexes } = rule
  if (isAbsent(count) && isAbsent(indexes)) {
    return [required(field, 'at least one of succeededCount or succeededIndexes must be specified')]
  }
  const errors: FieldError[] = []
  let total: number | undefined
  if (!isAbsent(indexes)) {
    const counted = countIndexes(asString(indexes), completions)
    if (typeof counted === 'number') total = counted
    else {
      const detail = `error parsing succeededIndexes: ${counted}`
      errors.push(invalidValue(`${field}.succeededIndexes`, indexes, detail))
    }
  }
  if (typeof count !== 'number') return errors
  const place = `${field}.succeededCount`
  if (count < 0) errors.push(invalidValue(place, count, 'must be greater than or equal to 0'))
  if (count > completions) {
    const detail = `must be less than or equal to ${completions} (the number of specified completions)`
    errors.push(invalidValue(place, count, detail))
  }
  if (total !== undefined && count > total) {
    const detail = `must be less than or equal to ${total} (the number of indexes in the specified succeededIndexes field)`
    errors.push(invalidValue(place, count, detail))
  }
  return errors
}

/** Returns the number of indexes in a list such as `1,3-5`, or the error. */
function countIndexes(text: string, completions: number): number | string {
  if (text === '') return 0
  let total = 0
  let previous: number | undefined
  for (const range of text.split(',')) {
    const ends = range.split('-')
    if (ends.length > 2)
      return `the fragment ${JSON.stringify(range)} violates the requirement that an index interval can have at most two parts separated by '-'`
    let first: number | undefined
    for (const end of ends) {
      if (!/^[-+]?\d+$/.test(end)) return `cannot convert string to integer for index: ${JSON.stringify(end)}`
      const index = Number(end)
      if (index >= completions) return `too large index: ${JSON.stringify(end)}`
      if (previous !== undefined && previous >= index) {
        return `non-increasing order, previous: ${previous}, current: ${index}`
      }
      previous = index
      first ??= index
    }
    total += (previous ?? 0) - (first ?? 0) + 1
  }
  return total
}

export function validateReplacementPolicy(
  { podReplacementPolicy: policy, podFailurePolicy }: JsonObject,
  field: string,
): FieldError[] {
  if (isAbsent(policy)) return []
  const allowed = isJsonObject(podFailurePolicy) ? ['Failed'] : REPLACEMENTS
  return allowed.includes(asString(policy)) ? [] : [notSupported(field, policy, allowed)]
}
