import { ClaimError } from './claim-error.ts'
import { HeldClaim } from './held-claim.ts'
import type { ClientCallOptions, ClaimCallOptions, HoldOptions, ClaimsClientOptions, TakeOptions } from './options.ts'
import { type ApiAnswer, ApiRequests } from './request.ts'
import {
  type ClaimGrant,
  claimGrant,
  type ClaimDetails,
  claimDetails,
  type ClaimList,
  claimList,
  type RenewalGrant,
  renewalGrant,
} from './responses.ts'
import { abortError } from './timing.ts'

/** Longer than the 10 s to take or create a claim and the 120 s of waiting for it that the server allows. */
const TAKE_ATTEMPT_TIMEOUT_MS = 140_000
const DEFAULT_TAKE_TIMEOUT_MS = 180_000
/** Longer than the 10 s that the server allows for a write. */
const ATTEMPT_TIMEOUT_MS = 15_000
const DEFAULT_TIMEOUT_MS = 30_000
/** The server accepts up to 128 characters, and a header holds only these. */
const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,128}$/

/** A claim and the response that granted it. */
interface Taken {
  readonly grant: ClaimGrant
  readonly answer: ApiAnswer
}

/** A client of the claims API, in Node and in browsers. */
export class ClaimsClient {
  readonly #requests: ApiRequests

  /** Throws a ClaimError if the URL is invalid. */
  constructor(options: ClaimsClientOptions = {}) {
    this.#requests = new ApiRequests(options)
  }

  /** The address of the API, without a slash at the end. */
  get url(): string {
    return this.#requests.url
  }

  /** Takes a claim, and renews it until it is released or disposed of. Rejects with a ClaimError. */
  async claim(options: HoldOptions = {}): Promise<HeldClaim> {
    const { grant, answer } = await this.#take(options)
    return new HeldClaim({
      renew: (renewal) => this.#renew(grant.id, renewal),
      release: (call) => this.release(grant.id, call),
      clock: this.#requests.clock,
      grant,
      answer,
      options,
    })
  }

  /** Takes a claim that the caller renews and releases. */
  async take(options: TakeOptions = {}): Promise<ClaimGrant> {
    return (await this.#take(options)).grant
  }

  /** Extends a claim. Its expiry is never earlier than before. */
  async renew(
    id: string,
    options: ClientCallOptions & { readonly ttl?: string | undefined } = {},
  ): Promise<RenewalGrant> {
    return renewalGrant(await this.#renew(id, options))
  }

  /** Deletes a claim with its resources. Rejects with TENURE_CLAIM_NOT_FOUND if it is gone already. */
  async release(id: string, options: ClientCallOptions = {}): Promise<void> {
    const call = { method: 'POST', path: `/release/${segment(id)}`, codes: { 404: 'TENURE_CLAIM_NOT_FOUND' } } as const
    await this.#send({ ...call, retriesServerErrors: true }, options)
  }

  /** One claim, with the readiness of its resources. */
  async get(id: string, options: ClientCallOptions = {}): Promise<ClaimDetails> {
    const call = { method: 'GET', path: `/claim/${segment(id)}`, codes: { 404: 'TENURE_CLAIM_NOT_FOUND' } } as const
    return claimDetails(await this.#send(call, options))
  }

  /** All claims, and the state of the pools. */
  async list(options: ClientCallOptions = {}): Promise<ClaimList> {
    return claimList(await this.#send({ method: 'GET', path: '/claims', codes: {} }, options))
  }

  async #renew(id: string, options: ClientCallOptions & { readonly ttl?: string | undefined }): Promise<ApiAnswer> {
    const { ttl } = options
    const codes = { 404: 'TENURE_CLAIM_NOT_FOUND', 409: 'TENURE_CLAIM_MAX_TTL' } as const
    const call = { method: 'POST', path: `/renew/${segment(id)}`, codes, retriesServerErrors: true } as const
    return await this.#send({ ...call, body: { ...(ttl !== undefined && { ttl }) } }, options)
  }

  async #take(options: TakeOptions): Promise<Taken> {
    const { pool, ttl, values, timeout = DEFAULT_TAKE_TIMEOUT_MS, signal, onRetry } = options
    const key = options.idempotencyKey ?? this.#requests.random.key()
    if (!IDEMPOTENCY_KEY.test(key)) {
      const message = 'An idempotency key has 1 to 128 printable ASCII characters without spaces.'
      throw new ClaimError('TENURE_CLAIM_ARGUMENT', message)
    }
    const answer = await this.#requests.send(
      {
        method: 'POST',
        path: '/claim',
        body: { ...(pool !== undefined && { pool }), ...(ttl !== undefined && { ttl }), ...(values && { values }) },
        headers: { 'idempotency-key': key },
        // Without a pool in the request, a 404 is not about the pool.
        codes: { ...(pool !== undefined && { 404: 'TENURE_CLAIM_UNKNOWN_POOL' }), 409: 'TENURE_CLAIM_KEY_REUSED' },
        attemptTimeout: TAKE_ATTEMPT_TIMEOUT_MS,
      },
      { timeout, signal, onRetry },
    )
    const grant = claimGrant(answer)
    if (signal?.aborted) {
      // The caller left while the answer arrived, so the server does not know it.
      await this.release(grant.id).catch(() => undefined)
      throw abortError(signal)
    }
    return { grant, answer }
  }

  #send(
    call: Omit<Parameters<ApiRequests['send']>[0], 'attemptTimeout'>,
    { timeout = DEFAULT_TIMEOUT_MS, ...options }: ClientCallOptions,
  ): Promise<ApiAnswer> {
    return this.#requests.send({ ...call, attemptTimeout: ATTEMPT_TIMEOUT_MS }, { ...options, timeout })
  }
}

/** Takes a claim, and renews it until it is released or disposed of: `await using browser = await claim({ pool: 'chrome' })`. */
export async function claim(options: ClaimCallOptions = {}): Promise<HeldClaim> {
  return await new ClaimsClient(options).claim(options)
}

/** Ids become a part of the path: `..` or an empty one would name another route. */
function segment(id: string): string {
  if (/^\.*$/.test(id)) throw new ClaimError('TENURE_CLAIM_ARGUMENT', `${JSON.stringify(id)} is not the id of a claim.`)
  return encodeURIComponent(id)
}
