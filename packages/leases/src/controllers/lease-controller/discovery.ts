import {
  type ApiGroups,
  type CallOptions,
  Client,
  type Clock,
  type KubeApi,
  RestMapper,
  TenureError,
} from '@tenure/kube'

/** How old an answer of the server must be, in milliseconds, before the same question is asked again. */
const FRESH = 400
/** How long after a change, in milliseconds, the server may still tell what was before it. */
const DOUBT = 3_000

/** What the API server serves: asked once, and again when somebody has reason to think that it changed. */
export class Discovery {
  readonly #mapper: RestMapper
  readonly #clock: Clock
  #readAt: number | undefined
  #hasRead = false
  #doubtfulUntil = -Infinity

  constructor(api: KubeApi, clock: Clock) {
    this.#mapper = new RestMapper(requesterOf(api))
    this.#clock = clock
  }

  /** False: something has just changed, and what is served may change any moment. Look again soon. */
  get isSettled(): boolean {
    return this.#clock.monotonic() >= this.#doubtfulUntil
  }

  /** As it was last read. */
  async groups(options?: CallOptions): Promise<ApiGroups> {
    if (!this.isSettled) this.#forgetOld()
    if (this.#readAt === undefined) {
      this.#hasRead = true
      // Before it is asked, so that what changes meanwhile counts as later.
      this.#readAt = this.#clock.monotonic()
      this.#mapper.invalidate()
    }
    return await this.#mapper.groups(options)
  }

  /** As it is now, give or take a moment: for who did not find what it looked for. */
  async freshGroups(options?: CallOptions): Promise<ApiGroups> {
    this.#forgetOld()
    return await this.groups(options)
  }

  /** Something has changed: the next questions go to the server. */
  invalidate(): void {
    this.#readAt = undefined
    // What is told before the first question was asked is no change to anybody.
    if (this.#hasRead) this.#doubtfulUntil = this.#clock.monotonic() + DOUBT
  }

  #forgetOld(): void {
    if (this.#readAt !== undefined && this.#clock.monotonic() - this.#readAt >= FRESH) this.#readAt = undefined
  }
}

/** Discovery is no verb of a resource, so it takes more than a KubeApi: the Client that every manager lends. */
function requesterOf(api: KubeApi): Client['requester'] {
  if (api instanceof Client) return api.requester
  throw new TenureError('TENURE_LEASE_DISCOVERY', 'Discovery needs the Client of a manager, not another KubeApi.', {
    fate: 'bug',
  })
}
