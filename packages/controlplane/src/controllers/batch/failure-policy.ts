import type { Stored } from '@tenure/kube'
import type { Job, Pod } from '@tenure/kube/kinds'

type Rule = NonNullable<NonNullable<Job['spec']>['podFailurePolicy']>['rules'][number]

/** The rule of a Job's podFailurePolicy that matches a failed pod. */
export interface FailureRuleMatch {
  readonly action: Rule['action']
  /** Message of the Job's failure if the action is FailJob. */
  readonly message: string
}

/** Returns the first matching rule. Without a match the failure counts towards the backoff limit. */
export function matchFailureRule(job: Job, pod: Stored<Pod>): FailureRuleMatch | undefined {
  for (const [index, rule] of (job.spec?.podFailurePolicy?.rules ?? []).entries()) {
    const description = matchDescription(rule, pod)
    if (description !== undefined)
      return { action: rule.action, message: `${description} matching ${rule.action} rule at index ${index}` }
  }
  return undefined
}

/** The message of the first failed pod that matches a FailJob rule. */
export function fatalFailure(job: Job, failed: readonly Stored<Pod>[]): string | undefined {
  if (!job.spec?.podFailurePolicy) return undefined
  for (const pod of failed) {
    const match = matchFailureRule(job, pod)
    if (match?.action === 'FailJob') return match.message
  }
  return undefined
}

function matchDescription(
  { onExitCodes, onPodConditions }: Rule,
  { metadata, status }: Stored<Pod>,
): string | undefined {
  const key = `${metadata.namespace ?? ''}/${metadata.name}`
  if (onExitCodes) {
    const { containerName, operator, values } = onExitCodes
    for (const { name, state } of [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])]) {
      const code = state?.terminated?.exitCode ?? 0
      if (code === 0 || (containerName !== undefined && containerName !== name)) continue
      if (values.includes(code) === (operator === 'In')) {
        return `Container ${name} for pod ${key} failed with exit code ${code}`
      }
    }
    return undefined
  }
  const condition = status?.conditions?.find((found) =>
    onPodConditions?.some(({ type, status: wanted = 'True' }) => type === found.type && wanted === found.status),
  )
  return condition && `Pod ${key} has condition ${condition.type}`
}
