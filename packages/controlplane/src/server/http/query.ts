import { badRequest } from '../../errors.ts'
import type { RequestOptions } from '../../registry/request.ts'

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

/** The query parameters of the resource API. Throws a 400 for malformed ones. */
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

/** Every value but these two is true, as in kube-apiserver. */
function readFlag(value: string): boolean {
  return value.toLowerCase() !== 'false' && value !== '0'
}
