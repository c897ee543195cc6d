import { type Kind, kindKey, type KubeObject, type Stored, TenureError } from '@tenure/kube'
import type { DeclaredKinds, Source } from './declared-kinds.ts'
import { canOwn, type NamedKinds } from './definition.ts'

export interface DynamicKindsOptions {
  /** The controller's. */
  readonly kind: Kind
  readonly named: NamedKinds<KubeObject>
  readonly kinds: DeclaredKinds
  /** Aborts when the controller stops. */
  readonly stopping: AbortSignal
  readonly onAdded: (source: Source) => void
  /** The caches that an object waited for are filled. */
  readonly onSynced: (key: string) => void
}

/** The object of a reconcile, and its key. */
interface NamingObject {
  readonly key: string
  readonly object: Stored<KubeObject>
}

/** The kinds of children that the controller's objects name: declared when the first object names them. */
export class DynamicKinds {
  readonly #options: DynamicKindsOptions
  /** Kinds whose caches are not filled, and the keys of objects that wait for that. */
  readonly #waiting = new Map<string, Set<string>>()

  constructor(options: DynamicKindsOptions) {
    this.#options = options
  }

  /** Declares the kinds that the object names. False: a cache is not filled, and `onSynced` is called when it is. */
  isReady({ key, object }: NamingObject): boolean {
    let ready = true
    for (const kind of this.#options.named.of(object)) {
      this.#declare(kind, key)
      const waiting = this.#waiting.get(kindKey(kind))
      waiting?.add(key)
      if (waiting) ready = false
    }
    return ready
  }

  /** Declares the kinds for the reads of `expire`. An object whose kinds are wrong must still expire. */
  declareForExpiry({ key, object }: NamingObject): void {
    try {
      for (const kind of this.#options.named.of(object)) this.#declare(kind, key)
    } catch {
      // The reconciles before the expiry have failed with the same error, and reported it.
    }
  }

  /** The object is gone: it waits for nothing. */
  forget(key: string): void {
    for (const waiting of this.#waiting.values()) waiting.delete(key)
  }

  #declare(kind: Kind, key: string): void {
    const { kind: owner, kinds, named, onAdded } = this.#options
    if (kinds.find(kind)?.owned) return
    if (!canOwn(owner, kind)) {
      throw new TenureError(
        'TENURE_OWNER_SCOPE',
        `${owner.kind} ${key} cannot own a ${kind.kind}: ${kind.kind} is cluster-scoped and ${owner.kind} is not.`,
        { fate: 'terminal' },
      )
    }
    const source = kinds.addOwned(kind, named.selection)
    if (!source) return
    if (!source.informer.synced) void this.#await(source)
    onAdded(source)
  }

  async #await({ informer }: Source): Promise<void> {
    const name = kindKey(informer.kind)
    const waiting = new Set<string>()
    this.#waiting.set(name, waiting)
    try {
      await informer.whenSynced(this.#options.stopping)
    } catch {
      // The controller stops.
      return
    }
    this.#waiting.delete(name)
    for (const key of waiting) this.#options.onSynced(key)
  }
}
