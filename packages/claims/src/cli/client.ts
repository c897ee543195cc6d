import { parseDuration } from '@tenure/runtime'
import { ClaimsClient, type TakeOptions } from '../client/index.ts'
import { DEFAULT_URL } from '../client/request.ts'
import type { ClaimCliContext, ClaimCliOptions } from './context.ts'
import { argumentError } from './exit-codes.ts'
import { readValues } from './values.ts'

/** The address of the API. An empty variable counts as unset. */
export function addressOf({ environment }: ClaimCliContext, { url }: ClaimCliOptions): string {
  return url ?? (environment['CLAIMS_URL'] || DEFAULT_URL)
}

/** The client that the options and the environment describe. Throws if the address is invalid. */
export function clientOf(context: ClaimCliContext, options: ClaimCliOptions): ClaimsClient {
  const { environment, clock, fetch } = context
  const token = options.token ?? (environment['CLAIMS_TOKEN'] || undefined)
  return new ClaimsClient({ url: addressOf(context, options), token, clock, fetch })
}

/** The claim that the options describe. Throws before anything is sent if one is invalid. */
export async function takeOptionsOf(options: ClaimCliOptions): Promise<TakeOptions> {
  const { pool, ttl } = options
  if (pool === '') throw argumentError('--pool needs the name of a pool.')
  if (ttl?.trim() === '') throw argumentError('--ttl needs a duration, such as 5m.')
  return { pool, ttl, values: await readValues(options), timeout: timeoutOf(options) }
}

export function timeoutOf({ timeout }: ClaimCliOptions): number | undefined {
  if (timeout === undefined) return undefined
  try {
    const milliseconds = parseDuration(timeout)
    if (milliseconds > 0) return milliseconds
  } catch (error) {
    throw argumentError(`--timeout ${timeout} is not a duration, such as 30s.`, error)
  }
  throw argumentError('--timeout must be longer than 0.')
}
