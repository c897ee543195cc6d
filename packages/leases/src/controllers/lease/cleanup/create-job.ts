import { ApiError, isAlreadyExists, isNotFound, isObjectRejected, metadataOf, type ObjectRef } from '@tenure/kube'
import { ConfigMap, Job } from '@tenure/kube/kinds'
import { isNamespaceTerminating } from '@tenure/runtime'
import type { LeaseContext } from '../context.ts'
import { type CleanupSubject, cleanupJob, heldJob } from './job.ts'
import type { JobConfig } from './job-config.ts'
import type { JobFailure } from './plan.ts'

type Context = Pick<LeaseContext, 'api'>

export type CreateJobResult =
  | { readonly how: 'created' | 'found' }
  /** The job as requested is invalid. */
  | (JobFailure & { readonly how: 'invalid' })
  /** The controller may not create Jobs. */
  | { readonly how: 'denied'; readonly error: ApiError }

/** Creates the job, or finds the same job from an interrupted earlier attempt. */
export async function createJob(
  context: Context,
  subject: CleanupSubject,
  config: JobConfig,
  attempt: number,
  signal: AbortSignal,
): Promise<CreateJobResult> {
  const { api } = context
  const { ref } = heldJob(subject, config, attempt)
  // An existing job has run, even if its script or rights are gone since.
  const refused = async (message: string): Promise<CreateJobResult> =>
    (await jobExists(context, ref, signal)) ? { how: 'found' } : { how: 'invalid', message }
  const problem = await scriptProblem(context, { name: config.configMap, namespace: ref.namespace }, config, signal)
  if (problem !== undefined) return refused(problem)
  try {
    await api.create(Job, cleanupJob(subject, config, attempt), { signal })
    return { how: 'created' }
  } catch (error) {
    if (isAlreadyExists(error)) return { how: 'found' }
    // The object is deleted together with its namespace.
    if (isNamespaceTerminating(error) || !(error instanceof ApiError)) throw error
    if (isObjectRejected(error)) return refused(error.message.replace(/\.$/, ''))
    if (error.status === 403) return { how: 'denied', error }
    throw error
  }
}

async function jobExists({ api }: Context, ref: ObjectRef, signal: AbortSignal): Promise<boolean> {
  try {
    await api.get(metadataOf(Job), ref, { signal })
    return true
  } catch (error) {
    // Without the right to get Jobs, assume that there is none.
    if (isNotFound(error) || (error instanceof ApiError && error.status === 403)) return false
    throw error
  }
}

/** Why the script cannot be run, as far as the ConfigMap shows. */
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
    // Without the right to read the ConfigMap, the pod may still mount it.
    if (error instanceof ApiError && error.status === 403) return undefined
    throw error
  }
}
