import { ClaimError } from './claim-error.ts'
import type { ApiAnswer } from './request.ts'

/** The response of `POST /claim`. */
export interface ClaimGrant {
  readonly id: string
  /** The values that the template returns. */
  readonly data: Readonly<Record<string, string>>
  /** RFC 3339. */
  readonly expiresAt: string
  /** Whether the claim comes from the warm pool. */
  readonly preProvisioned: boolean
  readonly [other: string]: unknown
}

/** The response of `POST /renew/{id}`. */
export interface RenewalGrant {
  readonly id: string
  readonly expiresAt: string
  readonly [other: string]: unknown
}

/** One resource of a claim. */
export interface ResourceDetails {
  readonly kind: string
  readonly name: string
  readonly namespace?: string
  readonly ready: boolean
  readonly message?: string
}

/** The response of `GET /claim/{id}`. */
export interface ClaimDetails {
  readonly id: string
  readonly pool?: string
  readonly status: string
  readonly message?: string
  readonly preProvisioned?: boolean
  readonly createdAt?: string
  /** Absent while the claim sits in the pool. */
  readonly claimedAt?: string
  readonly expiresAt?: string
  readonly resources?: readonly ResourceDetails[]
}

/** The state of a pool. */
export interface PoolDetails {
  readonly name: string
  readonly ready: number
  readonly pending: number
  readonly failing: number
  readonly claimed: number
  readonly lastFailure?: string
  readonly templateFailure?: string
  readonly nextAttemptAt?: string
}

/** The response of `GET /claims`. */
export interface ClaimList {
  readonly claims: readonly ClaimDetails[]
  readonly pools: readonly PoolDetails[]
}

export function claimGrant(answer: ApiAnswer): ClaimGrant {
  const body = grantOf(answer)
  const { data = {}, preProvisioned = false } = body as { data?: unknown; preProvisioned?: unknown }
  if (!isObject(data) || !Object.values(data).every((value) => typeof value === 'string')) throw invalid(answer)
  return { ...body, data: data as ClaimGrant['data'], preProvisioned: preProvisioned === true }
}

export function renewalGrant(answer: ApiAnswer): RenewalGrant {
  return grantOf(answer)
}

export function claimDetails(answer: ApiAnswer): ClaimDetails {
  if (!isObject(answer.body) || typeof answer.body['id'] !== 'string') throw invalid(answer)
  return answer.body as unknown as ClaimDetails
}

export function claimList(answer: ApiAnswer): ClaimList {
  const { claims, pools = [] } = isObject(answer.body) ? answer.body : {}
  if (!Array.isArray(claims) || !Array.isArray(pools)) throw invalid(answer)
  return { claims: claims as readonly ClaimDetails[], pools: pools as readonly PoolDetails[] }
}

/** Milliseconds from the response until the expiry, by the server's clock. */
export function grantedTime({ expiresAt }: RenewalGrant, { serverTime }: ApiAnswer): number {
  return Math.max(Date.parse(expiresAt) - serverTime, 0)
}

function grantOf(answer: ApiAnswer): RenewalGrant {
  const { body } = answer
  const isGrant =
    isObject(body) &&
    typeof body['id'] === 'string' &&
    typeof body['expiresAt'] === 'string' &&
    !Number.isNaN(Date.parse(body['expiresAt']))
  if (!isGrant) throw invalid(answer)
  return body as RenewalGrant
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function invalid({ method, url }: ApiAnswer): ClaimError {
  return new ClaimError('TENURE_CLAIM_ANSWER_INVALID', `The answer of ${method} ${url} is not that of a claims API.`)
}
