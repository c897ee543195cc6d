import type { Clock, Kind, KubeApi, KubeObject, ObjectRef, Propagation, Stored } from '@tenure/kube'
import { TenureError, isConflict, isNotFound, keyOf } from '@tenure/kube'

export interface ExpireOptions<T extends KubeObject> {
  readonly clock: Clock
  /** Whether `object` has had its time at `now`, in milliseconds since 1970. Pure: once due stays due as `now` grows. */
  readonly isDue: (object: Stored<T>, now: number) => boolean
  /** Default: the kind's own, Background for most. */
  readonly propagation?: Propagation
  /**
   * Refuse to delete when the server's answer carries no `Date`, so that two clocks always agree. Default true; false
   * trusts our own clock alone.
   */
  readonly requireServerTime?: boolean
  /** How often to read again when the object changed between read and delete, before it is left for later. Default 5. */
  readonly attempts?: number
  readonly signal?: AbortSignal | undefined
}

export type Expired<T extends KubeObject> =
  /** Deleted by us, and gone. */
  | { readonly outcome: 'deleted'; readonly object: Stored<T> }
  /** Deleted by us, and on its way: finalizers or a grace period. */
  | { readonly outcome: 'deleting'; readonly object: Stored<T> }
  /** It was no longer there. */
  | { readonly outcome: 'gone' }
  /** Someone else deletes it already: left alone. */
  | { readonly outcome: 'terminating'; readonly object: Stored<T> }
  /** Not due as it is stored now: an extension won, or the caller's news were old. */
  | { readonly outcome: 'not-due'; readonly object: Stored<T> }
  /** Due by our clock but not by the server's: ours runs ahead. Try again after `retryAfter` milliseconds. */
  | { readonly outcome: 'early'; readonly object: Stored<T>; readonly serverTime: number; readonly retryAfter: number }

/**
 * Deletes an object whose time has come, and nothing else: reads it live, asks whether it is due by our clock and by
 * the server's, and deletes exactly what was read. Whoever changes it in between wins.
 */
export async function expire<T extends KubeObject>(
  api: KubeApi,
  kind: Kind<T>,
  ref: ObjectRef,
  options: ExpireOptions<T>,
): Promise<Expired<T>> {
  const { clock, isDue, signal } = options
  let conflict: unknown
  for (let attempt = 0; attempt < (options.attempts ?? 5); attempt++) {
    const read = await orUndefined(api.getLive(kind, ref, { signal }), isNotFound)
    if (!read) return { outcome: 'gone' }
    const { object, serverTime } = read
    if (object.metadata.deletionTimestamp !== undefined) return { outcome: 'terminating', object }
    const now = clock.now()
    if (!isDue(object, now)) return { outcome: 'not-due', object }
    if (serverTime === undefined) {
      if (options.requireServerTime ?? true) throw withoutServerTime(kind, ref)
    } else if (!isDue(object, serverTime)) {
      return { outcome: 'early', object, serverTime, retryAfter: untilDue(object, isDue, serverTime, now) }
    }
    const { uid, resourceVersion } = object.metadata
    try {
      const deleted = await api.delete(kind, ref, {
        preconditions: { uid, resourceVersion },
        ...(options.propagation && { propagation: options.propagation }),
        signal,
      })
      return deleted.gone ? { outcome: 'deleted', object } : { outcome: 'deleting', object: deleted.object }
    } catch (error) {
      if (isNotFound(error)) return { outcome: 'gone' }
      if (!isConflict(error)) throw error
      conflict = error
    }
  }
  throw new TenureError(
    'TENURE_EXPIRY_CONTENDED',
    `${kind.kind} ${keyOf(ref)} is due but changes faster than it can be deleted; it will be tried again.`,
    { fate: 'retry', cause: conflict },
  )
}

/** Clocks this close may well be equal: the header is cut to whole seconds and was written before it arrived. */
const NEARLY_EQUAL = 2_000
const SHORTEST_RETRY = 250

/**
 * How long to wait until the server's clock says due, too. When it fell due is found by halving, from `isDue` alone;
 * that only costs anything when the two clocks differ.
 */
function untilDue<T extends KubeObject>(
  object: Stored<T>,
  isDue: ExpireOptions<T>['isDue'],
  serverTime: number,
  now: number,
): number {
  let notDue = serverTime
  let due = now
  while (due - notDue > 1) {
    const middle = Math.floor((notDue + due) / 2)
    if (isDue(object, middle)) due = middle
    else notDue = middle
  }
  if (now - serverTime >= NEARLY_EQUAL) return due - serverTime
  // The header will say so at the next full second; ours may be ahead by a little, so look again shortly after.
  return Math.max(Math.ceil(due / 1_000) * 1_000 - now, SHORTEST_RETRY)
}

async function orUndefined<R>(promise: Promise<R>, is: (error: unknown) => boolean): Promise<R | undefined> {
  try {
    return await promise
  } catch (error) {
    if (is(error)) return undefined
    throw error
  }
}

function withoutServerTime(kind: Kind, ref: ObjectRef): TenureError {
  return new TenureError(
    'TENURE_EXPIRY_NO_SERVER_TIME',
    `${kind.kind} ${keyOf(ref)} is due by our clock, but the API server's answer has no Date header to confirm it; ` +
      'let the proxy in front of it pass that header on, or set requireServerTime to false.',
    { fate: 'retry' },
  )
}
