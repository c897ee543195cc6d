import { compareResourceVersions } from '@tenure/kube'

interface Unconfirmed {
  readonly resourceVersion: string
  /** Only the metadata is from the write; the rest is from before it. */
  readonly provisional: boolean
}

/** An object that we deleted. */
interface Gone {
  /** A version at which it is known to have existed. */
  readonly lastKnown: string | undefined
  /** When the server said so, on the monotonic clock. */
  readonly at: number
}

/** A place where we know more than the watch has brought, but have nothing to show. */
interface Blind {
  readonly until: string
  /** Whether the state at `until` itself is one to show. */
  readonly inclusive: boolean
  readonly at: number
}

export interface Listed {
  readonly resourceVersion: string
  /** When it was asked for, on the monotonic clock. */
  readonly startedAt: number
  /** Those of the gone objects that it still had. */
  readonly stillThere: ReadonlySet<string>
  /** Whether what it lacks is gone; else it may just have left the selection, for others to bring it back. */
  readonly final: boolean
}

/** Far longer than a watch can lag: the idle time-out ends one that brings nothing. */
const LONGEST_LAG = 600_000
/** Marks are looked through for old ones from this many on; and so many ends are remembered. */
const MANY = 1024

/**
 * Our own writes that the watch has not brought yet. The cache shows them already; what the watch or a list brings
 * from before them must not take them back. Marks go as the watch passes them, so in a quiet moment there are none.
 * Objects are told apart by uid, places by key: what was at a place before is another object.
 */
export class OwnWrites {
  readonly #unconfirmed = new Map<string, Unconfirmed>()
  readonly #gone = new Map<string, Gone>()
  readonly #blind = new Map<string, Blind>()
  /** The last objects whose end the watch brought: it is often faster than the answer to the delete that caused it. */
  readonly #ended = new Set<string>()

  /** How many marks there are. */
  get size(): number {
    return this.#unconfirmed.size + this.#gone.size + this.#blind.size
  }

  /** We wrote this state, and the cache shows it. */
  wrote(uid: string, resourceVersion: string, provisional: boolean): void {
    this.#unconfirmed.set(uid, { resourceVersion, provisional })
  }

  /** We deleted it, and the server says it is gone. */
  deleted(uid: string, lastKnown: string | undefined, now: number): void {
    this.#unconfirmed.delete(uid)
    if (this.#ended.delete(uid)) return
    forgetOld(this.#gone, now)
    this.#gone.set(uid, { lastKnown, at: now })
  }

  /** From now on nothing older than this is shown at a place; with `inclusive` it itself is. */
  blind(key: string, until: string, inclusive: boolean, now: number): void {
    forgetOld(this.#blind, now)
    this.#blind.set(key, { until, inclusive, at: now })
  }

  /** Whether this state is from before a write of ours after which there is nothing to show. */
  hides(key: string, uid: string, resourceVersion: string): boolean {
    if (this.#gone.has(uid)) return true
    const blind = this.#blind.get(key)
    if (!blind) return false
    const order = compareResourceVersions(resourceVersion, blind.until)
    return order < 0 || (order === 0 && !blind.inclusive)
  }

  isProvisional(uid: string): boolean {
    return this.#unconfirmed.get(uid)?.provisional === true
  }

  /** Whether the cached state of this object is a write of ours from after `resourceVersion`. */
  isNewerThan(uid: string, resourceVersion: string): boolean {
    const own = this.#unconfirmed.get(uid)
    return own !== undefined && compareResourceVersions(own.resourceVersion, resourceVersion) > 0
  }

  /** The watch brought this state of the object. */
  confirm(uid: string, resourceVersion: string): void {
    const own = this.#unconfirmed.get(uid)
    if (own && compareResourceVersions(own.resourceVersion, resourceVersion) <= 0) this.#unconfirmed.delete(uid)
  }

  /** The watch brought the object's end; not `final` if it may just have left the selection, for others to bring it back. */
  ended(uid: string, resourceVersion: string, final: boolean): void {
    this.confirm(uid, resourceVersion)
    if (!final || this.#gone.delete(uid)) return
    this.#ended.add(uid)
    if (this.#ended.size <= MANY) return
    for (const oldest of this.#ended) {
      this.#ended.delete(oldest)
      break
    }
  }

  /** The watch has passed `resourceVersion`: everything up to it has been brought. */
  passed(resourceVersion: string, now: number): void {
    for (const [uid, own] of this.#unconfirmed) {
      if (compareResourceVersions(own.resourceVersion, resourceVersion) <= 0) this.#unconfirmed.delete(uid)
    }
    for (const [key, { until }] of this.#blind) {
      if (compareResourceVersions(until, resourceVersion) <= 0) this.#blind.delete(key)
    }
    // The end of an object that was never selected does not come.
    for (const [uid, { at }] of this.#gone) if (now - at > LONGEST_LAG) this.#gone.delete(uid)
  }

  /** A list is in the cache. */
  listed({ resourceVersion, startedAt, stillThere, final }: Listed, now: number): void {
    for (const [uid, { lastKnown, at }] of this.#gone) {
      const wasThere = final && lastKnown !== undefined && compareResourceVersions(lastKnown, resourceVersion) <= 0
      if ((startedAt > at || wasThere) && !stillThere.has(uid)) this.#gone.delete(uid)
    }
    this.passed(resourceVersion, now)
  }

  clear(): void {
    this.#unconfirmed.clear()
    this.#gone.clear()
    this.#blind.clear()
    this.#ended.clear()
  }
}

function forgetOld(marks: Map<string, { readonly at: number }>, now: number): void {
  if (marks.size < MANY) return
  for (const [key, { at }] of marks) if (now - at > LONGEST_LAG) marks.delete(key)
}
