import type { ApiError } from '@tenure/kube'
import { WEBHOOK_NAME } from '../admission/names.ts'
import { MAX_DETAILS, NAME_RULE, detail } from './schema.ts'
import type { ValidationDetail } from './schema.ts'

/** Cause in a Status of the API server. */
interface Cause {
  readonly reason?: string
  readonly message?: string
  readonly field?: string
}

/**
 * Translates an error of the API server into details as `validateApplication` words them: the causes of a 422, the
 * message of a 400 and the denial of the operator's own webhook (403). Undefined for any other error.
 */
export function detailsOf(error: ApiError): readonly ValidationDetail[] | undefined {
  if (error.status === 403) return webhookDetails(error.message)
  if (error.status !== 422 && error.status !== 400) return undefined
  const causes = (error.details?.causes ?? []).filter((cause) => !isNoise(cause))
  if (causes.length === 0) return [decodingDetail(error.message)]
  const details = new Map<string, ValidationDetail>()
  for (const cause of causes.slice(0, MAX_DETAILS)) {
    const each = causeDetail(cause)
    // A field may have several causes, such as a name that breaks two rules: the first is enough.
    if (!details.has(each.field)) details.set(each.field, each)
  }
  return [...details.values()]
}

/** Follow-up causes of the API server that do not name a field. */
function isNoise({ field, message = '' }: Cause): boolean {
  return field === '<nil>' && /validation rules were not checked|must validate|Checked value must/.test(message)
}

function causeDetail(cause: Cause): ValidationDetail {
  const { reason, message = '' } = cause
  // The scale subresource puts a dot before field names.
  const named = cause.field?.replace(/^\./, '') ?? ''
  const field = named === '' || named === '<nil>' ? 'body' : named
  if (reason === 'FieldValueRequired') {
    return detail(field, field === 'metadata.name' ? 'Resource name is required' : 'Required field is missing')
  }
  const type = /must be of type ([\w,]+): "(\w+)"/.exec(message)
  if (type) return detail(field, `Expected ${expectedType(type[1] ?? '')}, got ${jsonType(type[2] ?? '')}`)
  const { value, rest } = splitValue(message)
  return detail(field, field === 'metadata.name' ? NAME_RULE : translated(rest), value)
}

/** `Invalid value: 150: spec.replicas in body should be …` → 150, and the rest. */
function splitValue(message: string): { readonly value: unknown; readonly rest: string } {
  const match = /^(?:Invalid|Unsupported) value: ("(?:[^"\\]|\\.)*"|-?[\d.e+-]+|true|false|null): (.*)$/s.exec(message)
  // Causes of CEL rules have no value.
  if (!match) return { value: undefined, rest: message.replace(/^Invalid value: /, '') }
  const [, text = '', rest = ''] = match
  // Go quotes differently from JSON; a value that JSON cannot parse is left out.
  const value = parsed(text)
  // The server replaces an object by its type.
  return { value: value === null || value === 'object' ? undefined : value, rest }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const TRANSLATIONS: readonly (readonly [RegExp, (found: string) => string])[] = [
  [/ in body should be less than or equal to (\S+)$/, (limit) => `Value must be at most ${limit}`],
  [/ in body should be greater than or equal to (\S+)$/, (limit) => `Value must be at least ${limit}`],
  [/ in body should be at least (\d+) chars long$/, (limit) => `Value must have at least ${characters(limit)}`],
  [/^Too long: may not be more than (\d+) bytes$/, (limit) => `Value must have at most ${characters(limit)}`],
  [/ in body should match '(.*)'$/, (pattern) => `Value must match ${pattern}`],
  [/^supported values: (.*)$/, (values) => `Value must be one of: ${values.replaceAll('"', '')}`],
]

function translated(text: string): string {
  for (const [pattern, translate] of TRANSLATIONS) {
    const match = pattern.exec(text)
    if (match) return translate(match[1] ?? '')
  }
  return text
}

function characters(limit: string): string {
  return `${limit} character${limit === '1' ? '' : 's'}`
}

function expectedType(name: string): string {
  return name.replace(/^int(32|64)$/, 'integer').replace(',', ' or ')
}

function jsonType(name: string): string {
  return name === 'integer' || name === 'float64' || name === 'int64' ? 'number' : name
}

/** For a body that the server could not decode: Go names the field in the message. */
function decodingDetail(message: string): ValidationDetail {
  const field = /Go struct field ObjectMeta\.([\w.]+) of type/.exec(message)?.[1]
  const found = /cannot unmarshal (\w+) into/.exec(message)?.[1]
  if (field !== undefined && found !== undefined) {
    return detail(field.startsWith('metadata.') ? field : `metadata.${field}`, `Unexpected ${found}`)
  }
  return detail('body', message)
}

function webhookDetails(message: string): readonly ValidationDetail[] | undefined {
  const start = `admission webhook "${WEBHOOK_NAME}" denied the request: `
  const at = message.indexOf(start)
  if (at < 0) return undefined
  const denial = message.slice(at + start.length)
  return [detail(denial.startsWith('replicas') ? 'spec.replicas' : 'spec.image', denial)]
}
