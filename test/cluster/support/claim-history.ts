/** Everything that happened to the claims of a namespace, from the API server's own watches. */
import type { Kind, KubeApi, KubeObject, Stored } from '@tenure/kube'
import { asError } from '@tenure/kube'
import { ConfigMap, Pod, Service } from '@tenure/kube/kinds'

const PREFIX = 'claim-controller.io'

/** One object, from its creation to its end. */
export interface Track {
  readonly kind: string
  readonly name: string
  readonly uid: string
  /** All versions in order. */
  readonly versions: Stored<KubeObject>[]
  /** Milliseconds since 1970 at which the watch reported the deletion. */
  deletedAt: number | undefined
  /** The state of the API server from which on the object does not exist. */
  deletedIn: number | undefined
}

/** A claim as one version of its ConfigMap describes it. The names are those of the contract, not of the code under test. */
export interface ClaimState {
  readonly isIdle: boolean
  readonly status: string
  readonly claimedAt: string | undefined
  readonly handOut: string | undefined
  readonly key: string | undefined
  /** Milliseconds since 1970; NaN in the pool. */
  readonly expiresAt: number
}

export class ClaimHistory {
  /** By uid. */
  readonly tracks = new Map<string, Track>()
  /** The largest number of idle members that existed at one time. */
  maxIdle = 0
  readonly #api: KubeApi
  readonly #namespace: string
  readonly #end = new AbortController()
  readonly #watches: Promise<void>[] = []
  /** By name of the claim. */
  readonly #claims = new Map<string, Track>()
  /** By uid of the owner. */
  readonly #children = new Map<string, Track[]>()
  readonly #idle = new Set<string>()
  #failure: Error | undefined

  private constructor(api: KubeApi, namespace: string) {
    this.#api = api
    this.#namespace = namespace
  }

  static async open(api: KubeApi, namespace: string): Promise<ClaimHistory> {
    const history = new ClaimHistory(api, namespace)
    for (const kind of [ConfigMap, Pod, Service]) await history.#open(kind)
    return history
  }

  /** Ends the watches. Throws if one of them was interrupted, because events may be missing then. */
  async close(): Promise<void> {
    this.#end.abort()
    await Promise.all(this.#watches)
    if (this.#failure) throw this.#failure
  }

  /** All claims that ever existed. */
  get claims(): readonly Track[] {
    return [...this.#claims.values()]
  }

  /** The claim of an id; undefined if the watch has not reported it yet. */
  claim(id: string): Track | undefined {
    return this.#claims.get(`claim-${id}`)
  }

  /** Objects of claims that exist: claims, records of keys, pods and services. */
  get existing(): readonly Track[] {
    return [...this.tracks.values()].filter(({ deletedAt }) => deletedAt === undefined)
  }

  /** The children that a claim ever had. */
  childrenOf(claim: Track): readonly Track[] {
    return this.#children.get(claim.uid) ?? []
  }

  /** Members of the pool that exist, by status. */
  idle(status: string): number {
    const states = [...this.#idle].map((uid) => this.tracks.get(uid)).map((track) => track && lastState(track))
    return states.filter((state) => state?.status === status).length
  }

  /** The present state of the API server. */
  async revision(): Promise<number> {
    const { metadata } = await this.#api.list(ConfigMap, { namespace: this.#namespace, limit: 1 })
    return Number(metadata.resourceVersion)
  }

  async #open<T extends KubeObject>(kind: Kind<T>): Promise<void> {
    const selection = { namespace: this.#namespace, labelSelector: `${PREFIX}/managed-by=claim-controller` }
    const { metadata } = await this.#api.list(kind, selection)
    const { resourceVersion } = metadata
    const events = this.#api.watch(kind, { ...selection, resourceVersion, signal: this.#end.signal })
    const watch = async (): Promise<void> => {
      try {
        for await (const batch of events) {
          for (const event of batch) {
            if (event.type !== 'BOOKMARK') this.#note(kind.kind, event.type === 'DELETED', event.object)
          }
        }
        throw new Error(`The watch of ${kind.kind} ended`)
      } catch (error) {
        if (!this.#end.signal.aborted) this.#failure = asError(error)
      }
    }
    this.#watches.push(watch())
  }

  #note(kind: string, isDeleted: boolean, object: Stored<KubeObject>): void {
    const { name, uid } = object.metadata
    const known = this.tracks.get(uid)
    const track = known ?? { kind, name, uid, versions: [], deletedAt: undefined, deletedIn: undefined }
    if (!known) this.#add(track, object)
    if (isDeleted) {
      track.deletedAt = Date.now()
      track.deletedIn = Number(object.metadata.resourceVersion)
    } else track.versions.push(object)
    if (!isClaim(track)) return
    this.#claims.set(name, track)
    if (isDeleted || !stateOf(object).isIdle) this.#idle.delete(uid)
    else this.#idle.add(uid)
    this.maxIdle = Math.max(this.maxIdle, this.#idle.size)
  }

  #add(track: Track, { metadata }: Stored<KubeObject>): void {
    this.tracks.set(track.uid, track)
    for (const { uid } of metadata.ownerReferences ?? []) {
      this.#children.set(uid, [...(this.#children.get(uid) ?? []), track])
    }
  }
}

function isClaim({ kind, versions }: Track): boolean {
  return kind === 'ConfigMap' && versions[0]?.metadata.labels?.[`${PREFIX}/claim.id`] !== undefined
}

export function stateOf(object: Stored<KubeObject>): ClaimState {
  const { annotations = {} } = object.metadata
  const { data = {} } = object as Stored<ConfigMap>
  const claimedAt = annotations[`${PREFIX}/claimed-at`]
  return {
    isIdle: annotations[`${PREFIX}/pre-provisioned`] === 'true' && claimedAt === undefined,
    status: data['claimStatus'] ?? '',
    claimedAt,
    handOut: annotations[`${PREFIX}/hand-out`],
    key: annotations[`${PREFIX}/idempotency-key`],
    expiresAt: Date.parse(annotations[`${PREFIX}/expires-at`] ?? ''),
  }
}

/** The last state of a claim before its end. */
export function lastState({ versions }: Track): ClaimState {
  const last = versions.at(-1)
  if (!last) throw new Error('The claim has no version')
  return stateOf(last)
}

/** The version of an object in a state of the API server; undefined if the object did not exist then. */
export function versionAt({ deletedIn, versions }: Track, revision: number): Stored<KubeObject> | undefined {
  if (deletedIn !== undefined && deletedIn <= revision) return undefined
  return versions.findLast(({ metadata }) => Number(metadata.resourceVersion) <= revision)
}

/** Whether a pod can serve. */
export function isPodReady(pod: Stored<KubeObject> | undefined): boolean {
  const { status } = (pod ?? {}) as Partial<Stored<Pod>>
  return status?.phase === 'Running' && (status.conditions?.some(isReadyCondition) ?? false)
}

function isReadyCondition({ type, status }: { readonly type: string; readonly status: string }): boolean {
  return type === 'Ready' && status === 'True'
}
