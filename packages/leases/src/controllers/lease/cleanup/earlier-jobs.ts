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

const FIRST_RETRY = 1_000
const LONGEST_RETRY = 300_000

/**
 * Finds the jobs that were held by who kept these leases before: one whose object changed or went while nobody looked
 * would stay for good. One list per family of annotations, after the leases were read; those with nothing to hold are
 * filtered out by the server. Never rejects, and nothing waits for it.
 */
export async function findEarlierJobs(context: Context, held: HeldJobs, signal: AbortSignal): Promise<void> {
  const { kind, settings } = context
  // What is in no namespace has no jobs; and a dry run leaves everything as it is.
  if (!kind.namespaced || settings.dryRun) return
  for (const family of settings.families) if (!(await found(context, held, family, signal))) return
}

/** False if there is nothing to be found. */
async function found(context: Context, held: HeldJobs, family: LeaseFamily, signal: AbortSignal): Promise<boolean> {
  const { clock, log, random } = context
  for (let wait = FIRST_RETRY, isFirst = true; !signal.aborted; wait = Math.min(wait * 2, LONGEST_RETRY)) {
    try {
      await list(context, held, family, signal)
      return true
    } catch (error) {
      if (signal.aborted) return false
      if (isNotFound(error) || (error instanceof ApiError && error.status === 403)) {
        // Who may not list jobs is not meant to make any.
        log.debug('cleanup jobs can not be listed', { error })
        return false
      }
      if (isFirst) log.warn('could not look for earlier cleanup jobs, will try again', { error })
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
    // Of a kind by that name in another group. Its version may be another: the object is the same in all of them.
    if (!source || source.group !== kind.group || source.kind !== kind.kind) return
    const ref = refTo(job)
    held.found(keyOf({ name: source.name, namespace: ref.namespace }), { ref, prefix, source })
  }
}
