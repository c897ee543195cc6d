import type { Stored } from '@tenure/kube'
import type { Job, Pod } from '@tenure/kube/kinds'

type Rule = NonNullable<NonNullable<Job['spec']>['podFailurePolicy']>['rules'][number]

/** What a job's policy makes of a failed pod. */
export interface FailureRuling {
  readonly action: Rule['action']
  /** Why the job fails, if that is what the policy wants. */
  readonly message: string
}

/** By the first rule that fits; undefined if none does, and the failure counts as any other. */
export function rulingOn(job: Job, pod: Stored<Pod>): FailureRuling | undefined {
  for (const [index, rule] of (job.spec?.podFailurePolicy?.rules ?? []).entries()) {
    const what = whatFits(rule, pod)
    if (what !== undefined)
      return { action: rule.action, message: `${what} matching ${rule.action} rule at index ${index}` }
  }
  return undefined
}

/** Why the job is to fail at once, if one of its pods says so. */
export function fatalFailure(job: Job, failed: readonly Stored<Pod>[]): string | undefined {
  if (!job.spec?.podFailurePolicy) return undefined
  for (const pod of failed) {
    const ruling = rulingOn(job, pod)
    if (ruling?.action === 'FailJob') return ruling.message
  }
  return undefined
}

function whatFits({ onExitCodes, onPodConditions }: Rule, { metadata, status }: Stored<Pod>): string | undefined {
  const place = `${metadata.namespace ?? ''}/${metadata.name}`
  if (onExitCodes) {
    const { containerName, operator, values } = onExitCodes
    for (const { name, state } of [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])]) {
      const code = state?.terminated?.exitCode ?? 0
      if (code === 0 || (containerName !== undefined && containerName !== name)) continue
      if (values.includes(code) === (operator === 'In')) {
        return `Container ${name} for pod ${place} failed with exit code ${code}`
      }
    }
    return undefined
  }
  const condition = status?.conditions?.find((found) =>
    onPodConditions?.some(({ type, status: wanted = 'True' }) => type === found.type && wanted === found.status),
  )
  return condition && `Pod ${place} has condition ${condition.type}`
}
