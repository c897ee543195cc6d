import { USER_ANNOTATIONS, type LeaseFamily } from '../../../api/annotations.ts'
import { isDnsSubdomain } from '@tenure/kube/model'
import { parseTtl } from '../../../api/ttl.ts'

/** The cleanup job that an object asks for. */
export interface JobConfig {
  readonly configMap: string
  readonly scriptKey: string
  readonly serviceAccount: string
  /** Undefined: the default of the controller. */
  readonly image: string | undefined
  /** Delete the object only after the job has succeeded. */
  readonly wait: boolean
  /** Milliseconds. */
  readonly timeout: number
  /** Seconds that the finished job stays. */
  readonly ttl: number
  readonly backoffLimit: number
  readonly envSecrets: readonly string[]
  /** Whether a failed job keeps the object. */
  readonly onFailure: 'keep' | 'delete'
}

export type JobConfigReading =
  | { readonly ok: true; readonly config: JobConfig }
  | { readonly ok: false; readonly reason: string; readonly onFailure: 'keep' | 'delete' }

/** Every namespace has it, and every pod may use it. */
export const DEFAULT_SERVICE_ACCOUNT = 'default'
export const DEFAULT_TIMEOUT = '5m'
export const DEFAULT_TTL = '300'
export const DEFAULT_BACKOFF_LIMIT = '3'

const MAX_INT32 = 2 ** 31 - 1
const KEY = /^[-._a-zA-Z0-9]+$/

const TRUE = ['1', 't', 'true']
const FALSE = ['0', 'f', 'false']

/** Parses the job annotations of a family; undefined if the object asks for no job. */
export function readJobConfig(
  annotations: Readonly<Record<string, string>>,
  family: LeaseFamily,
  namespaced: boolean,
): JobConfigReading | undefined {
  // Most leases have no job, and this is on the path of every event.
  if (annotations[family.names.job] === undefined) return undefined
  const get = (name: string): string => annotations[family.prefix + name]?.trim() ?? ''
  const target = get(USER_ANNOTATIONS.job)
  if (target === '') return undefined
  const onFailure = get(USER_ANNOTATIONS.jobOnFailure).toLowerCase() === 'delete' ? 'delete' : 'keep'
  const problems: string[] = []
  const [configMap = '', scriptKey = ''] = target.split('/', 2)
  if (!isDnsSubdomain(configMap) || !KEY.test(scriptKey) || target.split('/').length !== 2) {
    problems.push(`${USER_ANNOTATIONS.job} must be <configmap>/<script-key>, not ${JSON.stringify(target)}`)
  }
  if (!namespaced) problems.push(`a cleanup job runs in the object's namespace, and this kind has none`)
  const serviceAccount = get(USER_ANNOTATIONS.jobServiceAccount) || DEFAULT_SERVICE_ACCOUNT
  if (!isDnsSubdomain(serviceAccount))
    problems.push(`${USER_ANNOTATIONS.jobServiceAccount} is not the name of a ServiceAccount`)
  const image = get(USER_ANNOTATIONS.jobImage)
  if (/\s/u.test(image)) problems.push(`${USER_ANNOTATIONS.jobImage} has white space inside`)
  const wait = get(USER_ANNOTATIONS.jobWait).toLowerCase() || 'false'
  if (![...TRUE, ...FALSE].includes(wait)) problems.push(`${USER_ANNOTATIONS.jobWait} must be true or false`)
  const timeout = parseTtl(get(USER_ANNOTATIONS.jobTimeout) || DEFAULT_TIMEOUT)
  if (!timeout.ok) problems.push(`${USER_ANNOTATIONS.jobTimeout}: ${timeout.reason}`)
  else if (
    typeof timeout.milliseconds !== 'number' ||
    timeout.milliseconds < 1_000 ||
    timeout.milliseconds / 1_000 > MAX_INT32
  ) {
    problems.push(`${USER_ANNOTATIONS.jobTimeout} must be between a second and 68 years`)
  }
  const ttl = integer(get(USER_ANNOTATIONS.jobTtl) || DEFAULT_TTL)
  if (ttl === undefined) problems.push(`${USER_ANNOTATIONS.jobTtl} must be a number of seconds`)
  const backoffLimit = integer(get(USER_ANNOTATIONS.jobBackoffLimit) || DEFAULT_BACKOFF_LIMIT)
  if (backoffLimit === undefined) problems.push(`${USER_ANNOTATIONS.jobBackoffLimit} must be a number`)
  const envSecrets = get(USER_ANNOTATIONS.jobEnvSecrets)
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  if (!envSecrets.every(isDnsSubdomain))
    problems.push(`${USER_ANNOTATIONS.jobEnvSecrets} must be names of Secrets with commas between`)
  if (!['', 'keep', 'delete'].includes(get(USER_ANNOTATIONS.jobOnFailure).toLowerCase())) {
    problems.push(`${USER_ANNOTATIONS.jobOnFailure} must be keep or delete`)
  }
  if (problems.length > 0) return { ok: false, reason: problems.join('; '), onFailure }
  return {
    ok: true,
    config: {
      configMap,
      scriptKey,
      serviceAccount,
      image: image || undefined,
      wait: TRUE.includes(wait),
      timeout: timeout.ok && typeof timeout.milliseconds === 'number' ? timeout.milliseconds : 0,
      ttl: ttl ?? 0,
      backoffLimit: backoffLimit ?? 0,
      envSecrets,
      onFailure,
    },
  }
}

function integer(text: string): number | undefined {
  const value = Number(text)
  return /^\d+$/.test(text) && value <= MAX_INT32 ? value : undefined
}
