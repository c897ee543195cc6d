import { parseJson } from '@tenure/http'
import { asError } from '@tenure/kube'
import { isJsonObject, type JsonObject } from '@tenure/kube/model'
import { parseDuration } from '@tenure/runtime'
import { MAX_VALUES_BYTES } from '../handout/claim-service.ts'
import { ClaimFailure } from '../handout/errors.ts'

/** In characters, of an Idempotency-Key. */
const MAX_KEY_LENGTH = 128
/** Levels of nested JSON. */
const MAX_DEPTH = 50

/** The body of a request to take or renew a claim. */
export interface ClaimBody {
  /** Milliseconds; undefined: the default. */
  readonly ttl: number | undefined
  /** Undefined: the default pool. */
  readonly pool: string | undefined
  readonly values: JsonObject | undefined
}

const EMPTY: ClaimBody = { ttl: undefined, pool: undefined, values: undefined }

/** Reads a body as the original does: optional, with keys in any case, without unknown ones. Throws a ClaimFailure. */
export function readClaimBody(bytes: unknown): ClaimBody {
  if (!(bytes instanceof Uint8Array)) return EMPTY
  const body = parse(bytes)
  if (body === null || body === undefined) return EMPTY
  if (!isJsonObject(body)) throw wrong('it is not a JSON object')
  const fields = new Map(Object.entries(body).map(([key, value]) => [key.toLowerCase(), value]))
  return { ttl: ttlOf(fields.get('ttl')), pool: poolOf(fields.get('pool')), values: valuesOf(fields.get('values')) }
}

/** The header that makes repeated calls give the same claim. Throws a ClaimFailure. */
export function readIdempotencyKey(header: string | readonly string[] | undefined): string | undefined {
  if (header === undefined) return undefined
  const key = typeof header === 'string' ? header.trim() : ''
  if (key !== '' && key.length <= MAX_KEY_LENGTH) return key
  throw invalid(`invalid Idempotency-Key: it must have 1 to ${MAX_KEY_LENGTH} characters`)
}

function parse(bytes: Uint8Array): unknown {
  // White space counts as no body.
  if (bytes.every((byte) => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d))) return undefined
  try {
    return parseJson(bytes, MAX_DEPTH)
  } catch (error) {
    const { cause, message } = asError(error)
    throw wrong(cause instanceof Error ? cause.message : message)
  }
}

function ttlOf(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') throw wrong('ttl is not a string')
  const text = value.trim()
  if (text === '') return undefined
  let milliseconds: number
  try {
    milliseconds = parseDuration(text, { days: true })
  } catch (error) {
    throw invalid(`invalid ttl duration: ${asError(error).message}`)
  }
  if (milliseconds <= 0) throw invalid('ttl must be greater than 0')
  return milliseconds
}

function poolOf(value: unknown): string | undefined {
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value !== 'string') throw wrong('pool is not a string')
  return value
}

function valuesOf(value: unknown): JsonObject | undefined {
  if (value === undefined || value === null) return undefined
  if (!isJsonObject(value)) throw wrong('values is not an object')
  if (Buffer.byteLength(JSON.stringify(value)) > MAX_VALUES_BYTES) {
    throw wrong(`values has more than ${MAX_VALUES_BYTES} bytes`)
  }
  return value
}

function wrong(problem: string): ClaimFailure {
  return invalid(`invalid request body: ${problem}`)
}

function invalid(message: string): ClaimFailure {
  return new ClaimFailure('TENURE_CLAIM_INVALID_REQUEST', 400, message)
}
