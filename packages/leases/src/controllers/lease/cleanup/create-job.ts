import { ApiError, isAlreadyExists, isNotFound, isRefusedAsIs, metadataOf, type ObjectRef } from '@tenure/kube'
import { ConfigMap, Job } from '@tenure/kube/kinds'
import { isNamespaceEnding } from '@tenure/runtime'
import type { LeaseContext } from '../context.ts'
import { type CleanupSubject, cleanupJob, heldJob } from './job.ts'
import type { JobConfig } from './job-config.ts'
import type { JobFailure } from './plan.ts'

type Context = Pick<LeaseContext, 'api' | 'permissions'>

export type Made =
  | { readonly how: 'created' | 'found' }
  /** It can not be as it is asked for. */
  | (JobFailure & { readonly how: 'invalid' })
  /** It could be, if we were allowed to make it. */
  | { readonly how: 'denied'; readonly error: ApiError }

/** Makes the job, unless it is there: whoever made it before us and was cut off made the same. */
export async function makeJob(
  context: Context,
  subject: CleanupSubject,
  config: JobConfig,
  attempt: number,
  signal: AbortSignal,
): Promise<Made> {
  const { api, permissions } = context
  const { ref } = heldJob(subject, config, attempt)
  // One that was made long ago has run, whatever has become since of what it takes to make another.
  const refused = async (message: string): Promise<Made> =>
    (await isThere(context, ref, signal)) ? { how: 'found' } : { how: 'invalid', message }
  const problem = await scriptProblem(context, { name: config.configMap, namespace: ref.namespace }, config, signal)
  if (problem !== undefined) return refused(problem)
  try {
    await permissions.watch(Job, 'create', api.create(Job, cleanupJob(subject, config, attempt), { signal }))
    return { how: 'created' }
  } catch (error) {
    if (isAlreadyExists(error)) return { how: 'found' }
    // Where a namespace ends, the object ends with it.
    if (isNamespaceEnding(error) || !(error instanceof ApiError)) throw error
    if (isRefusedAsIs(error)) return refused(error.message.replace(/\.$/, ''))
    if (error.status === 403) return { how: 'denied', error }
    throw error
  }
}

async function isThere({ api }: Context, ref: ObjectRef, signal: AbortSignal): Promise<boolean> {
  try {
    await api.get(metadataOf(Job), ref, { signal })
    return true
  } catch (error) {
    // Who may not look has to take it that there is none.
    if (isNotFound(error) || (error instanceof ApiError && error.status === 403)) return false
    throw error
  }
}

/** ConditionReason the script can not be run, as far as that can be seen beforehand. */
async function scriptProblem(
  { api }: Context,
  ref: ObjectRef,
  { scriptKey }: JobConfig,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const configMap = await api.get(ConfigMap, ref, { signal })
    const keys = { ...configMap.data, ...configMap.binaryData }
    return Object.hasOwn(keys, scriptKey) ? undefined : `the ConfigMap ${ref.name} has no key ${scriptKey}`
  } catch (error) {
    if (isNotFound(error)) return `there is no ConfigMap ${ref.name}`
    // Who may not read it may still mount it.
    if (error instanceof ApiError && error.status === 403) return undefined
    throw error
  }
}
