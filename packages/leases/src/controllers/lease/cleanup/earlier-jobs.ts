import {
  ApiError,
  isNotFound,
  jitter,
  keyOf,
  metadataOf,
  type PartialObjectMetadata,
  refTo,
  sleep,
  type Stored,
} from '@tenure/kube'
import { Job } from '@tenure/kube/kinds'
import type { LeaseFamily } from '../../../api/annotations.ts'
import type { LeaseContext } from '../context.ts'
import type { HeldJobs } from './held-jobs.ts'
import { heldJobSelector } from './job.ts'
import { readSource } from './job-source.ts'

type Context = Pick<LeaseContext, 'api' | 'clock' | 'kind' | 'log' | 'random' | 'settings'>

const MIN_RETRY_MS = 1_000
const MAX_RETRY_MS = 300_000

/**
 * Finds jobs that an earlier process held: a job whose object changed or was deleted in between would stay forever. Sends
 * one list per family after the cache has synced, with a label selector. Never rejects; runs beside the controller.
 */
export async function findEarlierJobs(context: Context, held: HeldJobs, signal: AbortSignal): Promise<void> {
  const { kind, settings } = context
  // Cluster-scoped objects have no jobs, and a dry run changes nothing.
  if (!kind.namespaced || settings.dryRun) return
  for (const family of settings.families) if (!(await findInFamily(context, held, family, signal))) return
}

/** Returns false if Jobs cannot be listed. */
async function findInFamily(
  context: Context,
  held: HeldJobs,
  family: LeaseFamily,
  signal: AbortSignal,
): Promise<boolean> {
  const { clock, log, random } = context
  for (let wait = MIN_RETRY_MS, isFirst = true; !signal.aborted; wait = Math.min(wait * 2, MAX_RETRY_MS)) {
    try {
      await list(context, held, family, signal)
      return true
    } catch (error) {
      if (signal.aborted) return false
      if (isNotFound(error) || (error instanceof ApiError && error.status === 403)) {
        // Without the right to list Jobs, the controller is not meant to create any.
        log.debug('cleanup jobs not listed', { error })
        return false
      }
      if (isFirst) log.warn('list of earlier cleanup jobs failed, retrying', { error })
      isFirst = false
    }
    await sleep(clock, jitter(random, wait, 0.2), signal).catch(() => undefined)
  }
  return false
}

async function list({ api, kind }: Context, held: HeldJobs, { prefix }: LeaseFamily, signal: AbortSignal) {
  const labelSelector = heldJobSelector(prefix, kind)
  for await (const { items } of api.pages(metadataOf(Job), { labelSelector, signal })) {
    for (const item of items) look(item)
  }

  function look(job: Stored<PartialObjectMetadata>): void {
    const source = readSource(job, prefix)
    // A kind of the same name in another group is another kind; versions share their objects.
    if (!source || source.group !== kind.group || source.kind !== kind.kind) return
    const ref = refTo(job)
    held.found(keyOf({ name: source.name, namespace: ref.namespace }), { ref, prefix, source })
  }
}
