import { admissionDenied } from '../../registry/admission-denied.ts'
import type { AdmissionAttributes } from '../../registry/request.ts'
import type { User } from '../../registry/types.ts'
import type { AccessCheck, CheckAccess } from '../../schema/cel/library/authorizer.ts'
import type { CompiledCondition } from '../../schema/cel/conditions.ts'
import type { ReviewedObjects } from './matching.ts'
import type { SentReviewRequest } from './review.ts'
import type { StoredWebhookConfig } from './webhook.ts'

/** Authorizes the access check of a match condition. */
export type Authorize = (
  check: Omit<AccessCheck, 'serviceAccount'> & { readonly user: User },
) => ReturnType<CheckAccess>

/** CEL cost limit for all conditions of a webhook per request. */
const COST_BUDGET = 2_500_000

const compiled = new WeakMap<StoredWebhookConfig, readonly CompiledCondition[]>()

/**
 * Returns false if a condition is false: the webhook is not called. A condition that fails to evaluate counts as false
 * with failurePolicy Ignore and refuses the request otherwise.
 */
export async function conditionsHold(
  webhook: StoredWebhookConfig,
  attributes: AdmissionAttributes,
  request: SentReviewRequest,
  { object, oldObject }: ReviewedObjects,
  authorize: Authorize,
): Promise<boolean> {
  // Loaded on demand: few webhooks have conditions, and CEL is large.
  const [{ compileCondition, conditionContext }, { metered }] = await Promise.all([
    import('../../schema/cel/conditions.ts'),
    import('../../schema/cel/cost.ts'),
  ])
  let conditions = compiled.get(webhook)
  if (!conditions) {
    conditions = webhook.matchConditions.map(({ expression }) => compileCondition(expression))
    compiled.set(webhook, conditions)
  }
  const checkAccess: CheckAccess = ({ serviceAccount: account, ...check }) =>
    authorize({ ...check, user: account ? accountUser(account.namespace, account.name) : attributes.user })
  const context = conditionContext({ object, oldObject, request, checkAccess })
  let budget = COST_BUDGET
  const errors: string[] = []
  for (const { expression, program, error = '' } of conditions) {
    if (!program) {
      errors.push(`compilation error: ${error}`)
      continue
    }
    const { spent, result } = metered(budget, () => program.run(context))
    budget -= spent
    if (result === false) return false
    if (result !== true) errors.push(`expression '${expression}' resulted in error: ${messageOf(result)}`)
  }
  if (errors.length === 0) return true
  if (webhook.isFailureIgnored) return false
  const distinct = [...new Set(errors)]
  throw admissionDenied(attributes, distinct.length === 1 ? (distinct[0] ?? '') : `[${distinct.join(', ')}]`)
}

function accountUser(namespace: string, name: string): User {
  return {
    name: `system:serviceaccount:${namespace}:${name}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
  }
}

function messageOf(error: unknown): string {
  const { summary, message } = error as { readonly summary?: unknown; readonly message?: unknown }
  const text = String(summary ?? message ?? error)
  const key = /^No such key: (.*)$/.exec(text)
  const variable = /^Unknown variable: (.*)$/.exec(text)
  if (variable) return `undeclared reference to '${variable[1]}' (in container '')`
  return key ? `no such key: ${key[1]}` : text
}
