import { ClaimError, isOver } from './claim-error.ts'
import type { ClientCallOptions, HoldOptions, ClientClock, ClientTimer } from './options.ts'
import type { ApiAnswer } from './request.ts'
import { type ClaimGrant, grantedTime, type RenewalGrant, renewalGrant } from './responses.ts'

/** Renewals come at half of the granted time, but not more often than this. */
const MIN_RENEWAL_INTERVAL_MS = 250

export interface HeldClaimContext {
  readonly renew: (options: ClientCallOptions & { readonly ttl: string | undefined }) => Promise<ApiAnswer>
  readonly release: (options: ClientCallOptions) => Promise<void>
  readonly clock: ClientClock
  readonly grant: ClaimGrant
  readonly answer: ApiAnswer
  readonly options: HoldOptions
}

/** A claim that is renewed until it is released, disposed of or lost. */
export class HeldClaim implements AsyncDisposable {
  readonly id: string
  /** The values that the template returns, such as the address of the workload. */
  readonly data: Readonly<Record<string, string>>
  /** Whether the claim comes from the warm pool. */
  readonly preProvisioned: boolean
  /** Aborts when the claim is lost, with a ClaimError, so that the work with it can end. A release does not abort it. */
  readonly signal: AbortSignal
  readonly #context: HeldClaimContext
  readonly #lost = new AbortController()
  /** Aborts renewals in flight when the claim is released. */
  readonly #ended = new AbortController()
  #expiresAt: number
  /** On the monotonic clock. */
  #expiry: number
  #renewAt: number
  #isRenewing = false
  #timer: ClientTimer | undefined
  #release: Promise<void> | undefined

  constructor(context: HeldClaimContext) {
    const { grant, answer, clock } = context
    this.#context = context
    this.id = grant.id
    this.data = grant.data
    this.preProvisioned = grant.preProvisioned
    this.signal = this.#lost.signal
    const granted = grantedTime(grant, answer)
    this.#expiresAt = Date.parse(grant.expiresAt)
    this.#expiry = clock.monotonic() + granted
    this.#renewAt = this.#halfway()
    this.#arm()
  }

  /** When the claim ends unless it is renewed again, by the server's clock. */
  get expiresAt(): Date {
    return new Date(this.#expiresAt)
  }

  /** Renews now. `ttl` counts from now. Default: the TTL of the claim. Resolves with the expiry, which is never earlier than before. */
  async renew(ttl = this.#context.options.ttl): Promise<Date> {
    try {
      this.#extend(await this.#context.renew({ ttl, signal: this.#ended.signal }))
    } catch (error) {
      if (isOver(error)) this.#lose(error)
      throw error
    }
    return this.expiresAt
  }

  /** Deletes the claim with its resources and ends the renewals. A claim that is gone already is released. */
  release(options: ClientCallOptions = {}): Promise<void> {
    this.#end(new Error('The claim was released'))
    this.#release ??= this.#context.release(options).catch((error: unknown) => {
      if (isOver(error)) return
      // The next call tries again.
      this.#release = undefined
      throw error
    })
    return this.#release
  }

  /** Releases the claim. A failure goes to `onError`: it must not hide the result of the work, and the claim expires anyway. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.release()
    } catch (error) {
      this.#report(error)
    }
  }

  #halfway(): number {
    const now = this.#context.clock.monotonic()
    return now + Math.max((this.#expiry - now) / 2, MIN_RENEWAL_INTERVAL_MS)
  }

  #arm(): void {
    this.#timer?.cancel()
    if (this.#ended.signal.aborted) return
    const { clock } = this.#context
    const due = this.#isRenewing ? this.#expiry : Math.min(this.#renewAt, this.#expiry)
    this.#timer = clock.setTimer(due - clock.monotonic(), () => this.#onTimer(), true)
  }

  #onTimer(): void {
    const now = this.#context.clock.monotonic()
    if (now >= this.#expiry) {
      this.#lose(new ClaimError('TENURE_CLAIM_LOST', `The claim ${this.id} has expired: it could not be renewed.`))
    } else if (now >= this.#renewAt && !this.#isRenewing) void this.#renewInTime()
    else this.#arm()
  }

  /** Renews until it succeeds, the claim expires, or the server says that it is over. */
  async #renewInTime(): Promise<void> {
    const { clock, options, renew } = this.#context
    this.#isRenewing = true
    this.#arm()
    try {
      const timeout = this.#expiry - clock.monotonic()
      const onRetry = (failure: Error): void => this.#report(failure)
      const { signal } = this.#ended
      this.#extend(await renew({ ttl: options.ttl, timeout, signal, onRetry }))
    } catch (error) {
      if (this.#ended.signal.aborted) return
      if (isOver(error)) return this.#lose(error)
      this.#report(error)
    } finally {
      this.#isRenewing = false
      this.#renewAt = this.#halfway()
      this.#arm()
    }
  }

  #extend(answer: ApiAnswer): void {
    const grant: RenewalGrant = renewalGrant(answer)
    const time = Date.parse(grant.expiresAt)
    // Answers may arrive in another order than they were given.
    if (time < this.#expiresAt) return
    this.#expiresAt = time
    this.#expiry = this.#context.clock.monotonic() + grantedTime(grant, answer)
    this.#renewAt = this.#halfway()
    this.#arm()
  }

  #lose(reason: ClaimError): void {
    if (this.#ended.signal.aborted) return
    this.#end(reason)
    this.#lost.abort(reason)
    this.#context.options.onLost?.(reason)
  }

  #end(reason: Error): void {
    this.#timer?.cancel()
    this.#ended.abort(reason)
  }

  #report(failure: unknown): void {
    this.#context.options.onError?.(failure instanceof Error ? failure : new Error(String(failure)))
  }
}
