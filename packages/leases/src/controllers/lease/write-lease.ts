import { isNotFound, mergePatch, refTo } from '@tenure/kube'
import type { Changes, LeasePlan } from './plan.ts'
import { type Leased, planFor, type LeaseContext } from './context.ts'

/** Writes the lease annotations of an object with one patch. Returns false if it is up to date. */
export async function dateLease(context: LeaseContext, cached: Leased, signal: AbortSignal): Promise<boolean> {
  const { clock, metrics, recordEvent } = context
  let object: Leased | undefined = cached
  let plan = planFor(context, object, clock.now())
  if (plan.startsNow || (plan.isByAge && !context.clockSkew.isAccurate)) {
    // The local clock may be wrong, and the start is written permanently, so the server's time decides.
    const read = await liveRead(context, object, signal)
    if (!read) return false
    object = read.object
    plan = planFor(context, object, read.serverTime ?? clock.now())
  }
  const written = await writeChanges(context, object, plan.changes, signal)
  if (!written) return false
  if (plan.started) metrics.started.inc()
  if (plan.invalid) metrics.invalidTtl.inc()
  for (const event of plan.events) recordEvent(written, event)
  context.log.debug('lease written', factsOf(written, plan))
  return true
}

/**
 * Changes annotations of exactly the object that was read: a 409 says that somebody was faster. Undefined if there is
 * nothing to change, or nothing any more that could be.
 */
export async function writeChanges(
  { api, kind, permissions }: LeaseContext,
  object: Leased,
  changes: Changes,
  signal: AbortSignal,
): Promise<Leased | undefined> {
  if (Object.keys(changes).length === 0) return undefined
  const { uid, resourceVersion } = object.metadata
  const patch = mergePatch({ metadata: { uid, resourceVersion, annotations: changes } })
  try {
    return await permissions.watch(kind, 'patch', api.patch(kind, refTo(object), patch, { signal }))
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

/** The object as it is now, with the server's time; undefined if it is gone. */
export async function liveRead(context: LeaseContext, object: Leased, signal: AbortSignal) {
  const { api, kind, permissions, clockSkew } = context
  try {
    const read = await permissions.watch(kind, 'get', api.getLive(kind, refTo(object), { signal }))
    clockSkew.compare(read.serverTime)
    return read
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

function factsOf({ metadata }: Leased, { changes, lease }: LeasePlan) {
  return {
    namespace: metadata.namespace,
    name: metadata.name,
    changes: Object.keys(changes).length,
    expireAt: lease?.expireAt,
  }
}
