import {
  type ApiGroups,
  type CallOptions,
  type Clock,
  type GroupVersionKind,
  type Kind,
  type Requester,
  RestMapper,
} from '@tenure/kube'

/** An answer older than this, in milliseconds, does not settle a question that it left open. */
const MAX_AGE_MS = 400
/** The API server may serve its previous state for this long, in milliseconds, after a change. */
const SETTLING_MS = 3_000
/** Pause between two reads for kinds that are not served. */
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

  /** As last read, without a request; undefined before the first read. For a plan, which must not wait. */
  get current(): ApiGroups | undefined {
    return this.#current
  }

  /** False: something changed just now, and the answer may change any moment. Ask again soon. */
  get isSettled(): boolean {
    return this.#clock.monotonic() >= this.#unsettledUntil
  }

  /** As last read. Reads it if it was never read, or if something changed since. */
  async groups(options?: CallOptions): Promise<ApiGroups> {
    if (!this.isSettled) this.#dropOldAnswer()
    if (this.#readAt === undefined) {
      this.#hasRead = true
      // Taken before the request: a change while it is under way counts as later.
      this.#readAt = this.#clock.monotonic()
      this.#mapper.invalidate()
    }
    this.#current = await this.#mapper.groups(options)
    return this.#current
  }

  /** As it is now, give or take a moment: for a caller that did not find what it looked for. */
  async freshGroups(options?: CallOptions): Promise<ApiGroups> {
    this.#dropOldAnswer()
    return await this.groups(options)
  }

  /** The Kind with its name in URLs. Rejects with `TENURE_KIND_UNKNOWN` while the API server does not serve it. */
  async kind({ group, version, kind }: GroupVersionKind, options?: CallOptions): Promise<Kind> {
    return await this.#mapper.kind({ name: kind, group, version }, options)
  }

  /** Something changed, a CRD for example: the next question goes to the API server. */
  invalidate(): void {
    this.#readAt = undefined
    this.#mapper.invalidate()
    // Before the first question there is nothing that could have changed.
    if (this.#hasRead) this.#unsettledUntil = this.#clock.monotonic() + SETTLING_MS
  }

  #dropOldAnswer(): void {
    if (this.#readAt !== undefined && this.#clock.monotonic() - this.#readAt >= MAX_AGE_MS) this.#readAt = undefined
  }
}
