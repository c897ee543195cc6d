import { compareResourceVersions } from '@tenure/kube'

interface Unconfirmed {
  readonly resourceVersion: string
  /** Only the metadata is from the write; the rest is older. */
  readonly provisional: boolean
}

/** An object that this process deleted. */
interface Gone {
  /** A version at which it is known to have existed. */
  readonly lastKnown: string | undefined
  /** Monotonic time of the server's confirmation. */
  readonly at: number
}

/** A key for which this process knows more than the watch, but has no object to show. */
interface Suppressed {
  readonly until: string
  /** True if the state at `until` itself may be shown. */
  readonly inclusive: boolean
  readonly at: number
}

export interface Listed {
  readonly resourceVersion: string
  /** Monotonic time at which the list was requested. */
  readonly startedAt: number
  /** Uids of deleted objects that the list still contains. */
  readonly stillThere: ReadonlySet<string>
  /**
   * True if objects missing in the list are deleted; otherwise they may only have left the selection and may return.
   */
  readonly final: boolean
}

/** Milliseconds that a watch lags at most: the idle timeout ends a watch that delivers nothing. */
const MAX_WATCH_LAG_MS = 600_000
/** Number of marks from which old ones are removed, and maximum number of remembered deletions. */
const MAX_MARKS = 1024

/**
 * Own writes that the watch has not delivered yet. The cache already shows them; older states from the watch or a list
 * must not replace them. Marks are removed as the watch passes them, so a quiet cache has none. Objects are identified
 * by uid, names by key: an earlier object of the same name is a different object.
 */
export class OwnWrites {
  readonly #unconfirmed = new Map<string, Unconfirmed>()
  readonly #gone = new Map<string, Gone>()
  readonly #suppress = new Map<string, Suppressed>()
  /** The latest objects whose deletion the watch delivered: it is often faster than the response to the delete. */
  readonly #ended = new Set<string>()

  /** Number of marks. */
  get size(): number {
    return this.#unconfirmed.size + this.#gone.size + this.#suppress.size
  }

  /** Records a write that the cache shows. */
  wrote(uid: string, resourceVersion: string, provisional: boolean): void {
    this.#unconfirmed.set(uid, { resourceVersion, provisional })
  }

  /** Records a deletion that the server confirmed. */
  deleted(uid: string, lastKnown: string | undefined, now: number): void {
    this.#unconfirmed.delete(uid)
    if (this.#ended.delete(uid)) return
    removeOld(this.#gone, now)
    this.#gone.set(uid, { lastKnown, at: now })
  }

  /** Suppresses states of a key that are older than `until`; with `inclusive`, `until` itself may be shown. */
  suppress(key: string, until: string, inclusive: boolean, now: number): void {
    removeOld(this.#suppress, now)
    this.#suppress.set(key, { until, inclusive, at: now })
  }

  /** True if this state is older than an own write after which there is nothing to show. */
  hides(key: string, uid: string, resourceVersion: string): boolean {
    if (this.#gone.has(uid)) return true
    const suppress = this.#suppress.get(key)
    if (!suppress) return false
    const order = compareResourceVersions(resourceVersion, suppress.until)
    return order < 0 || (order === 0 && !suppress.inclusive)
  }

  isProvisional(uid: string): boolean {
    return this.#unconfirmed.get(uid)?.provisional === true
  }

  /** True if the cached state of this object is an own write newer than `resourceVersion`. */
  isNewerThan(uid: string, resourceVersion: string): boolean {
    const own = this.#unconfirmed.get(uid)
    return own !== undefined && compareResourceVersions(own.resourceVersion, resourceVersion) > 0
  }

  /** The watch delivered this state of the object. */
  confirm(uid: string, resourceVersion: string): void {
    const own = this.#unconfirmed.get(uid)
    if (own && compareResourceVersions(own.resourceVersion, resourceVersion) <= 0) this.#unconfirmed.delete(uid)
  }

  /** The watch delivered the object's deletion; not `final` if it may only have left the selection and may return. */
  ended(uid: string, resourceVersion: string, final: boolean): void {
    this.confirm(uid, resourceVersion)
    if (!final || this.#gone.delete(uid)) return
    this.#ended.add(uid)
    if (this.#ended.size <= MAX_MARKS) return
    for (const oldest of this.#ended) {
      this.#ended.delete(oldest)
      break
    }
  }

  /** The watch has passed `resourceVersion`: everything up to it was delivered. */
  passed(resourceVersion: string, now: number): void {
    for (const [uid, own] of this.#unconfirmed) {
      if (compareResourceVersions(own.resourceVersion, resourceVersion) <= 0) this.#unconfirmed.delete(uid)
    }
    for (const [key, { until }] of this.#suppress) {
      if (compareResourceVersions(until, resourceVersion) <= 0) this.#suppress.delete(key)
    }
    // The watch never delivers the deletion of an object that was never selected.
    for (const [uid, { at }] of this.#gone) if (now - at > MAX_WATCH_LAG_MS) this.#gone.delete(uid)
  }

  /** A list was committed. */
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
    this.#suppress.clear()
    this.#ended.clear()
  }
}

function removeOld(marks: Map<string, { readonly at: number }>, now: number): void {
  if (marks.size < MAX_MARKS) return
  for (const [key, { at }] of marks) if (now - at > MAX_WATCH_LAG_MS) marks.delete(key)
}
