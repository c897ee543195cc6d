import {
  type ApiGroups,
  type CallOptions,
  type Clock,
  type GroupVersionKind,
  type Kind,
  type Requester,
  RestMapper,
} from '@tenure/kube'

/** Maximum age in milliseconds of a response that may settle an open question. */
const MAX_AGE_MS = 400
/** Milliseconds after a change for which the API server may still serve its previous state. */
const SETTLING_MS = 3_000
/** Milliseconds between two reads for kinds that are not served. */
const UNKNOWN_KIND_PAUSE_MS = 2_000

/**
 * A cache of the groups and kinds that the API server serves: read once, and again when something hints at a change.
 * There is one per process, so that many questions cost one request.
 */
export class Discovery {
  readonly #mapper: RestMapper
  readonly #clock: Clock
  #readAt: number | undefined
  #hasRead = false
  #unsettledUntil = -Infinity
  #current: ApiGroups | undefined

  constructor(requester: Requester, clock: Clock) {
    this.#mapper = new RestMapper(requester, { refreshAfter: UNKNOWN_KIND_PAUSE_MS })
    this.#clock = clock
  }

  /** The last response, without a request; undefined before the first read. For plans, which must not wait. */
  get current(): ApiGroups | undefined {
    return this.#current
  }

  /** False shortly after a change: the response may still change, so ask again soon. */
  get isSettled(): boolean {
    return this.#clock.monotonic() >= this.#unsettledUntil
  }

  /** Whether `current` was read just now: reading it again would bring nothing new. */
  get isFresh(): boolean {
    return this.#readAt !== undefined && this.#clock.monotonic() - this.#readAt < MAX_AGE_MS
  }

  /** The last response. Reads it if it was never read or something changed since. */
  async groups(options?: CallOptions): Promise<ApiGroups> {
    if (!this.isSettled) this.#dropOldAnswer()
    if (this.#readAt === undefined) {
      this.#hasRead = true
      // Taken before the request, so that a change during the request counts as later.
      this.#readAt = this.#clock.monotonic()
      this.#mapper.invalidate()
    }
    this.#current = await this.#mapper.groups(options)
    return this.#current
  }

  /** A current response, for a caller that did not find a kind in the last one. */
  async freshGroups(options?: CallOptions): Promise<ApiGroups> {
    this.#dropOldAnswer()
    return await this.groups(options)
  }

  /** The Kind with its name in URLs. Rejects with `TENURE_KIND_UNKNOWN` while the API server does not serve it. */
  async kind({ group, version, kind }: GroupVersionKind, options?: CallOptions): Promise<Kind> {
    return await this.#mapper.kind({ name: kind, group, version }, options)
  }

  /** Notes a change, such as a CRD: the next question goes to the API server. */
  invalidate(): void {
    this.#readAt = undefined
    this.#mapper.invalidate()
    // Before the first read there is nothing that could have changed.
    if (this.#hasRead) this.#unsettledUntil = this.#clock.monotonic() + SETTLING_MS
  }

  #dropOldAnswer(): void {
    if (this.#readAt !== undefined && this.#clock.monotonic() - this.#readAt >= MAX_AGE_MS) this.#readAt = undefined
  }
}
