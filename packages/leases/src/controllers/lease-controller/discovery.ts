import {
  type ApiGroups,
  type CallOptions,
  Client,
  type Clock,
  type KubeApi,
  RestMapper,
  TenureError,
} from '@tenure/kube'

/** Age from which on a snapshot is read again when something is missing in it. */
const MIN_REFRESH_AGE_MS = 400
/** After a change of a CRD, discovery may lag for this long. */
const SETTLE_MS = 3_000

/** The resources that the API server serves, as last read. */
export class Discovery {
  readonly #mapper: RestMapper
  readonly #clock: Clock
  #groups: ApiGroups | undefined
  #readAt = -Infinity
  #unsettledUntil = -Infinity

  constructor(api: KubeApi, clock: Clock) {
    this.#mapper = new RestMapper(requesterOf(api))
    this.#clock = clock
  }

  /** Undefined before the first read. */
  get groups(): ApiGroups | undefined {
    return this.#groups
  }

  /** False shortly after a change of a CRD: the server may start or stop serving a kind at any moment. */
  get isSettled(): boolean {
    return this.#clock.monotonic() >= this.#unsettledUntil
  }

  /** Whether the snapshot was read just now. */
  get isFresh(): boolean {
    return this.#clock.monotonic() - this.#readAt < MIN_REFRESH_AGE_MS
  }

  async refresh(options?: CallOptions): Promise<void> {
    // The time before the request: a change during it counts as later.
    const at = this.#clock.monotonic()
    this.#mapper.invalidate()
    this.#groups = await this.#mapper.groups(options)
    this.#readAt = at
  }

  /** A CRD has changed. */
  invalidate(): void {
    this.#readAt = -Infinity
    // Events before the first read are not changes.
    if (this.#groups) this.#unsettledUntil = this.#clock.monotonic() + SETTLE_MS
  }
}

function requesterOf(api: KubeApi): Client['requester'] {
  if (api instanceof Client) return api.requester
  throw new TenureError('TENURE_LEASE_DISCOVERY', 'Discovery needs the Client of a manager, not another KubeApi.', {
    fate: 'bug',
  })
}
