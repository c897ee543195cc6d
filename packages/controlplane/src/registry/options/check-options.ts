import { badRequest, invalid } from '../../errors.ts'
import { append } from '../../model/append.ts'
import { goQuote } from '../../schema/go-text.ts'
import type { FieldError } from '../../schema/types.ts'
import type { RequestOptions } from '../request.ts'

type OptionsKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions' | 'DeleteOptions' | 'ListOptions'

const quote = (value: unknown): string => JSON.stringify(value)

const forbidden = (field: string, why: string): FieldError => ({
  reason: 'FieldValueForbidden',
  field,
  message: `Forbidden: ${why}`,
})

const notSupported = (field: string, value: unknown, supported: readonly string[]): FieldError => ({
  reason: 'FieldValueNotSupported',
  field,
  message: `Unsupported value: ${quote(value)}: supported values: ${supported.map(quote).join(', ')}`,
})

function refuseIfAny(kind: OptionsKind, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalid({ group: 'meta.k8s.io', plural: '', kind }, '', errors)
}

/** Maximum bytes of a field manager's name. */
const MAX_MANAGER_BYTES = 128

function writeErrors(options: RequestOptions): FieldError[] {
  const { fieldManager, dryRun, fieldValidation } = options
  const errors: FieldError[] = []
  if (fieldManager !== undefined && fieldManager.length > MAX_MANAGER_BYTES) {
    errors.push({
      reason: 'FieldValueTooLong',
      field: 'fieldManager',
      message: `Too long: may not be more than ${MAX_MANAGER_BYTES} bytes`,
    })
  }
  append(errors, unprintable(fieldManager ?? ''))
  if (dryRun?.some((value) => value !== 'All')) errors.push(notSupported('dryRun', dryRun, ['All']))
  if (fieldValidation && !['Ignore', 'Strict', 'Warn'].includes(fieldValidation)) {
    errors.push(notSupported('fieldValidation', fieldValidation, ['', 'Ignore', 'Strict', 'Warn']))
  }
  return errors
}

/** The name of a manager must be printable. */
function unprintable(manager: string): FieldError[] {
  const errors: FieldError[] = []
  let position = 0
  for (const letter of manager) {
    if (!/^(?:[\p{L}\p{M}\p{N}\p{P}\p{S}]| )$/u.test(letter)) {
      const code = (letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
      errors.push({
        reason: 'FieldValueInvalid',
        field: 'fieldManager',
        message: `Invalid value: ${goQuote(manager)}: invalid character U+${code} (at position ${position})`,
      })
    }
    position += Buffer.byteLength(letter)
  }
  return errors
}

export function checkWriteOptions(kind: 'CreateOptions' | 'UpdateOptions', options: RequestOptions): void {
  refuseIfAny(kind, writeErrors(options))
}

export function checkPatchOptions(options: RequestOptions, isApply: boolean): void {
  const errors: FieldError[] = []
  if (isApply && !options.fieldManager) {
    errors.push({
      reason: 'FieldValueRequired',
      field: 'fieldManager',
      message: 'Required value: is required for apply patch',
    })
  }
  if (!isApply && options.force !== undefined)
    errors.push(forbidden('force', 'may not be specified for non-apply patch'))
  refuseIfAny('PatchOptions', [...errors, ...writeErrors(options)])
}

export function checkDeleteOptions(options: RequestOptions): void {
  const { propagationPolicy, orphanDependents, dryRun } = options
  const errors: FieldError[] = []
  if (propagationPolicy !== undefined && orphanDependents !== undefined) {
    errors.push({
      reason: 'FieldValueInvalid',
      field: 'propagationPolicy',
      message: `Invalid value: ${quote(propagationPolicy)}: orphanDependents and deletionPropagation cannot be both set`,
    })
  }
  const policies = ['Foreground', 'Background', 'Orphan']
  if (propagationPolicy !== undefined && !policies.includes(propagationPolicy)) {
    errors.push(notSupported('propagationPolicy', propagationPolicy, [...policies, 'nil']))
  }
  if (dryRun?.some((value) => value !== 'All')) errors.push(notSupported('dryRun', dryRun, ['All']))
  refuseIfAny('DeleteOptions', errors)
}

export function checkListOptions(options: RequestOptions): void {
  const { resourceVersionMatch: match, resourceVersion } = options
  const errors: FieldError[] = []
  if (match) {
    if (!resourceVersion) {
      errors.push(
        forbidden('resourceVersionMatch', 'resourceVersionMatch is forbidden unless resourceVersion is provided'),
      )
    }
    if (options.continue) {
      errors.push(forbidden('resourceVersionMatch', 'resourceVersionMatch is forbidden when continue is provided'))
    }
    if (match !== 'Exact' && match !== 'NotOlderThan') {
      errors.push(notSupported('resourceVersionMatch', match, ['Exact', 'NotOlderThan', '']))
    }
    if (match === 'Exact' && resourceVersion === '0') {
      const why = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
      errors.push(forbidden('resourceVersionMatch', why))
    }
  }
  if (options.sendInitialEvents !== undefined) {
    errors.push(forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'))
  }
  refuseIfAny('ListOptions', errors)
}

export function checkWatchOptions(options: RequestOptions): void {
  const { resourceVersionMatch: match, sendInitialEvents } = options
  const errors: FieldError[] = []
  if (sendInitialEvents !== undefined && match !== 'NotOlderThan') {
    const why = 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'
    errors.push(forbidden('resourceVersionMatch', why))
  }
  if (match) {
    if (sendInitialEvents === undefined) {
      const why = 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'
      errors.push(forbidden('resourceVersionMatch', why))
    }
    if (match !== 'NotOlderThan') errors.push(notSupported('resourceVersionMatch', match, ['NotOlderThan']))
    if (options.continue) {
      errors.push(forbidden('resourceVersionMatch', 'resourceVersionMatch is forbidden when continue is provided'))
    }
  }
  refuseIfAny('ListOptions', errors)
}

/** A resourceVersion as a number; undefined if it is absent. */
export function parseRevision(text: string | undefined, fail: (why: string) => Error): number | undefined {
  if (text === undefined || text === '') return undefined
  if (/^\d{1,20}$/.test(text)) return Number(text)
  throw fail(`strconv.ParseUint: parsing ${quote(text)}: invalid syntax`)
}

export function listRevision(options: RequestOptions): number | undefined {
  const { resourceVersion } = options
  return parseRevision(resourceVersion, (why) =>
    badRequest(`invalid resource version: resourceVersion: Invalid value: ${quote(resourceVersion)}: ${why}`),
  )
}
