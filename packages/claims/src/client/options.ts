/** Cancelling twice, or after it fired, has no effect. */
export interface ClientTimer {
  cancel(): void
}

/** Time, which tests inject. The same shape as the Clock of `@tenure/kube`, which a browser cannot load. */
export interface ClientClock {
  /** Wall time in milliseconds since 1970. */
  now(): number
  /** Milliseconds since an arbitrary start, on a clock that never goes back. */
  monotonic(): number
  /** Calls `callback` once, after `delay` milliseconds. A background timer does not keep a Node process alive. */
  setTimer(delay: number, callback: () => void, isBackground?: boolean): ClientTimer
}

export interface ClientRandom {
  /** A number in [0, 1), for jitter. */
  fraction(): number
  /** An unpredictable idempotency key: a client that knows the key gets the same claim. */
  key(): string
}

/** The part of the global `fetch` that the client uses. */
export type ClientFetch = (url: string, init: RequestInit) => Promise<Response>

/** How to reach the claims API. */
export interface ClaimsClientOptions {
  /** Address of the API. Default: the environment variable CLAIMS_URL in Node, then http://localhost:8080. */
  readonly url?: string | undefined
  /** Bearer token, or a function that is called before each request, for tokens that rotate. Default: none. */
  readonly token?: string | (() => string | Promise<string>) | undefined
  /** Default: the global fetch. */
  readonly fetch?: ClientFetch | undefined
  /** Default: the clock of this machine. */
  readonly clock?: ClientClock | undefined
  /** Default: the randomness of this machine. */
  readonly random?: ClientRandom | undefined
}

/** Limits of one call. */
export interface ClientCallOptions {
  /** Milliseconds for the call with all its retries. Default 30000. An API that cannot be reached at all gets at most 30 s. */
  readonly timeout?: number | undefined
  /** Ends the call: it rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined
  /** Called before each retry with the failure and the delay in milliseconds. */
  readonly onRetry?: ((failure: Error, delay: number) => void) | undefined
}

/** The claim to take. */
export interface TakeOptions extends ClientCallOptions {
  /** Default: the pool `default`. */
  readonly pool?: string | undefined
  /** A duration such as `5m` or `1h30m`. Default: the one of the pool. */
  readonly ttl?: string | undefined
  /** Visible to templates as `.Values.claim`. */
  readonly values?: Readonly<Record<string, unknown>> | undefined
  /** Calls with the same key get the same claim. Default: a random one, so that a retry does not take a second claim. */
  readonly idempotencyKey?: string | undefined
  /** Milliseconds until the claim must be ready. Default 180000: the API itself waits for up to 130 s. */
  readonly timeout?: number | undefined
}

/** A claim that is renewed until it is released. `signal` ends the taking only; to end the claim, release it. */
export interface HoldOptions extends TakeOptions {
  /** The claim has ended without `release`: it expired, reached its maximum TTL, or was released by another client. */
  readonly onLost?: ((reason: Error) => void) | undefined
  /** A renewal, or the release on dispose, failed. The claim lives on until it expires; renewals are repeated until then. */
  readonly onError?: ((failure: Error) => void) | undefined
}

/** The options of `claim()`. */
export interface ClaimCallOptions extends ClaimsClientOptions, HoldOptions {}
