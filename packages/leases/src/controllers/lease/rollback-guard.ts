import { keyOf, refTo } from '@tenure/kube'
import { USER_ANNOTATIONS, STATUS_ANNOTATIONS, type LeaseFamily } from '../../api/annotations.ts'
import type { LeaseSettings } from '../../api/types.ts'
import { planLease } from './plan.ts'
import type { Leased } from './context.ts'
import { formatTime } from '../../api/time.ts'

/**
 * Leases that came back with an earlier description of their object. `kubectl rollout undo` gives a Deployment all
 * annotations of an old ReplicaSet: an extension since then is gone, or a lease is there again that somebody had ended,
 * and it is over. Nobody who rolls back asks for that; so such a lease starts anew.
 */
export class RollbackGuard {
  /** What the lease of an object says, by key. */
  readonly #leases = new Map<string, string>()

  /** Looks at a change that somebody made. */
  note(
    key: string,
    { old, object }: { readonly old: Leased; readonly object: Leased },
    settings: Pick<LeaseSettings, 'families'>,
    now: number,
  ): void {
    // We never change more than annotations, nor do those who extend a lease.
    if (object.metadata.generation === old.metadata.generation) return
    const { lease } = planLease(object, settings, true, now)
    if (!lease || lease.expireAt > now) return
    const name = lease.family.prefix + STATUS_ANNOTATIONS.expireAt
    const expireAt = formatTime(lease.expireAt)
    // A date that is ours, but not of this time.
    const isOurs = object.metadata.annotations?.[name] === expireAt
    if (isOurs && old.metadata.annotations?.[name] !== expireAt)
      this.#leases.set(key, saidBy(object, settings.families))
  }

  /** Whether the lease of this object is one that came back, and nobody has written another since. */
  has(object: Leased, { families }: Pick<LeaseSettings, 'families'>): boolean {
    // Nearly always so, and asked for every event.
    if (this.#leases.size === 0) return false
    const said = this.#leases.get(keyOf(refTo(object)))
    return said !== undefined && said === saidBy(object, families)
  }

  forget(key: string): void {
    this.#leases.delete(key)
  }
}

/** When a lease starts and ends, as users write it. */
function saidBy({ metadata }: Leased, families: readonly LeaseFamily[]): string {
  const names = families.flatMap(({ prefix, start }) =>
    [USER_ANNOTATIONS.ttl, USER_ANNOTATIONS.expires, start].map((name) => prefix + name),
  )
  return JSON.stringify([metadata.uid, ...names.map((name) => metadata.annotations?.[name] ?? null)])
}
