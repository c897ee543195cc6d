import {
  ApiError,
  asError,
  isAlreadyExists,
  isNotFound,
  isObjectRejected,
  metadataOf,
  type ObjectRef,
} from '@tenure/kube'
import { ConfigMap, Job } from '@tenure/kube/kinds'
import { isNamespaceTerminating } from '@tenure/runtime'
import type { LeaseContext } from '../context.ts'
import { type CleanupSubject, cleanupJob, heldJob } from './job.ts'
import type { JobConfig } from './job-config.ts'
import type { JobFailure } from './plan.ts'
import { accessProblem } from './policy.ts'

type Context = Pick<LeaseContext, 'api' | 'settings'>

export type CreateJobResult =
  | { readonly how: 'created' | 'found' }
  /** The job as requested is invalid. */
  | (JobFailure & { readonly how: 'invalid' })
  /** The job must not use what it asks for. */
  | { readonly how: 'forbidden'; readonly message: string }

/** Creates the job, or finds the same job from an interrupted earlier attempt. Throws if the controller may not. */
export async function createJob(
  context: Context,
  subject: CleanupSubject,
  config: JobConfig,
  attempt: number,
  signal: AbortSignal,
): Promise<CreateJobResult> {
  const { api, settings } = context
  const { ref } = heldJob(subject, config, attempt)
  // An existing job has run, even if its script or rights are gone since.
  const refused = async (message: string, how: 'invalid' | 'forbidden' = 'invalid'): Promise<CreateJobResult> =>
    (await jobExists(context, ref, signal)) ? { how: 'found' } : { how, message }
  const forbidden = await accessProblem(context, config, ref.namespace, signal)
  if (forbidden !== undefined) return refused(forbidden, 'forbidden')
  const problem = await scriptProblem(context, { name: config.configMap, namespace: ref.namespace }, config, signal)
  if (problem !== undefined) return refused(problem)
  try {
    await api.create(Job, cleanupJob(subject, config, attempt, settings.cleanup.image), { signal })
    return { how: 'created' }
  } catch (error) {
    if (isAlreadyExists(error)) return { how: 'found' }
    // The object is deleted together with its namespace.
    if (isNamespaceTerminating(error) || !isObjectRejected(error)) throw error
    return refused(asError(error).message.replace(/\.$/, ''))
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
