import { ApiError, isNotFound, type Kind, metadataOf, type ObjectRef } from '@tenure/kube'
import { Secret, ServiceAccount } from '@tenure/kube/kinds'
import { RESOURCE_ANNOTATIONS } from '../../../api/annotations.ts'
import type { CleanupSettings } from '../../../api/types.ts'
import type { LeaseContext } from '../context.ts'
import { DEFAULT_SERVICE_ACCOUNT, type JobConfig, type JobConfigReading } from './job-config.ts'

type Context = Pick<LeaseContext, 'api' | 'settings'>

/**
 * The job that an object asks for, or why its image is not allowed. The object is then kept, whatever it asks for: its
 * user wanted something cleaned up, and that did not happen.
 */
export function withAllowedImage(
  job: JobConfigReading | undefined,
  { image: defaultImage, images, policy }: CleanupSettings,
): JobConfigReading | undefined {
  if (!job?.ok || policy === 'any') return job
  const { image } = job.config
  if (image === undefined || image === defaultImage || isListed(image, images)) return job
  const reason = `the image ${image} is not allowed; list it in cleanup.images of the LeaseController, or leave job-image out`
  return { ok: false, reason, onFailure: 'keep' }
}

/** Why the job may not use its ServiceAccount or its Secrets; undefined if it may. Reads only metadata. */
export async function accessProblem(
  context: Context,
  { envSecrets, serviceAccount }: JobConfig,
  namespace: string | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { policy, secrets, serviceAccounts } = context.settings.cleanup
  if (policy === 'any') return undefined
  if (serviceAccount !== DEFAULT_SERVICE_ACCOUNT && !isListed(serviceAccount, serviceAccounts)) {
    const problem = await optInProblem(context, ServiceAccount, { name: serviceAccount, namespace }, signal)
    if (problem !== undefined) return `${problem}, or list it in cleanup.serviceAccounts of the LeaseController`
  }
  for (const name of envSecrets) {
    if (isListed(name, secrets)) continue
    const problem = await optInProblem(context, Secret, { name, namespace }, signal)
    if (problem !== undefined) return `${problem}, or list it in cleanup.secrets of the LeaseController`
  }
  return undefined
}

/** Why an object does not allow cleanup jobs itself; undefined if it does. */
async function optInProblem(
  { api, settings }: Context,
  kind: Kind,
  ref: ObjectRef,
  signal: AbortSignal,
): Promise<string | undefined> {
  const what = `the ${kind.kind} ${ref.name} is not allowed`
  const [first] = settings.families
  const name = `${first?.prefix ?? ''}${RESOURCE_ANNOTATIONS.allowJobs}`
  try {
    const { metadata } = await api.get(metadataOf(kind), ref, { signal })
    const isAllowed = settings.families.some(
      ({ prefix }) => metadata.annotations?.[prefix + RESOURCE_ANNOTATIONS.allowJobs] === 'true',
    )
    return isAllowed ? undefined : `${what}; annotate it with ${name}=true`
  } catch (error) {
    if (isNotFound(error)) return `${what}: it does not exist; create it with the annotation ${name}=true`
    if (error instanceof ApiError && error.status === 403)
      return `${what}, and its annotations are not readable; grant the lease controller get on it and annotate it with ${name}=true`
    throw error
  }
}

function isListed(text: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => matchesPattern(text, pattern))
}

/** Whether a text matches a pattern in which `*` stands for any text. Linear: users choose the text. */
export function matchesPattern(text: string, pattern: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return text === pattern
  if (!text.startsWith(first)) return false
  let position = first.length
  for (const part of rest) {
    const found = text.indexOf(part, position)
    if (found === -1) return false
    position = found + part.length
  }
  return text.length - last.length >= position && text.endsWith(last)
}
