import { badRequest } from '../errors.ts'
import { isObject } from '../registry/json.ts'
import type { RequestOptions } from '../registry/request.ts'

type Mutable = { -readonly [K in keyof RequestOptions]: RequestOptions[K] }

const NONE: RequestOptions = {}
const TEXTS = [
  'labelSelector',
  'fieldSelector',
  'continue',
  'resourceVersion',
  'resourceVersionMatch',
  'fieldManager',
  'fieldValidation',
  'propagationPolicy',
] as const
const NUMBERS = ['limit', 'timeoutSeconds', 'gracePeriodSeconds'] as const
const FLAGS = ['allowWatchBookmarks', 'sendInitialEvents', 'force', 'orphanDependents'] as const

export interface Query {
  readonly options: RequestOptions
  readonly isWatch: boolean
  readonly includeObject: string | undefined
}

/** The query of a request, as far as the resource API knows it. Throws a 400 for what can not be read. */
export function parseQuery(text: string): Query {
  if (text === '') return { options: NONE, isWatch: false, includeObject: undefined }
  const parameters = new URLSearchParams(text)
  const options: Mutable = {}
  for (const name of TEXTS) {
    const value = parameters.get(name)
    if (value) options[name] = value
  }
  for (const name of NUMBERS) {
    const value = parameters.get(name)
    if (value) options[name] = readInteger(value)
  }
  for (const name of FLAGS) {
    const value = parameters.get(name)
    if (value !== null) options[name] = readFlag(value)
  }
  const dryRun = parameters.getAll('dryRun').filter((value) => value !== '')
  if (dryRun.length > 0) options.dryRun = dryRun
  const watch = parameters.get('watch')
  return {
    options,
    isWatch: watch !== null && readFlag(watch),
    includeObject: parameters.get('includeObject') ?? undefined,
  }
}

function readInteger(value: string): number {
  if (/^[-+]?\d{1,18}$/.test(value)) return Number(value)
  throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(value)}: invalid syntax`)
}

/** Anything but these two is true, as the real server has it. */
function readFlag(value: string): boolean {
  return value.toLowerCase() !== 'false' && value !== '0'
}

/** The options of a delete from its body, which then stands for the query. */
export function deleteOptionsFrom(body: unknown): RequestOptions {
  if (!isObject(body)) throw badRequest('decoded object cannot be converted to DeleteOptions')
  const { kind, apiVersion } = body
  if (kind !== undefined && kind !== '' && kind !== 'DeleteOptions') {
    throw badRequest(
      `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion ?? '')} in scheme "pkg/runtime/scheme.go:111"`,
    )
  }
  const options: Mutable = {}
  const { gracePeriodSeconds, orphanDependents, propagationPolicy, dryRun, preconditions } = body
  if (gracePeriodSeconds !== undefined && gracePeriodSeconds !== null) {
    if (typeof gracePeriodSeconds !== 'number') throw mistyped('gracePeriodSeconds', gracePeriodSeconds, 'int64')
    options.gracePeriodSeconds = gracePeriodSeconds
  }
  if (orphanDependents !== undefined && orphanDependents !== null) {
    if (typeof orphanDependents !== 'boolean') throw mistyped('orphanDependents', orphanDependents, 'bool')
    options.orphanDependents = orphanDependents
  }
  if (propagationPolicy !== undefined && propagationPolicy !== null) {
    if (typeof propagationPolicy !== 'string')
      throw mistyped('propagationPolicy', propagationPolicy, 'v1.DeletionPropagation')
    options.propagationPolicy = propagationPolicy
  }
  if (Array.isArray(dryRun)) options.dryRun = dryRun.map(String)
  if (isObject(preconditions)) {
    const { uid, resourceVersion } = preconditions
    options.preconditions = {
      ...(typeof uid === 'string' && { uid }),
      ...(typeof resourceVersion === 'string' && { resourceVersion }),
    }
  }
  return options
}

function mistyped(field: string, value: unknown, type: string) {
  const what = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value
  return badRequest(`json: cannot unmarshal ${what} into Go struct field DeleteOptions.${field} of type ${type}`)
}
