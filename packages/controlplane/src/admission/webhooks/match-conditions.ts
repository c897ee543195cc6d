import { refused } from '../../registry/refused.ts'
import type { AdmissionAttributes } from '../../registry/request.ts'
import type { User } from '../../registry/types.ts'
import type { AccessQuestion, AskAccess } from '../../schema/cel/library/authorizer.ts'
import type { Condition } from '../../schema/cel/conditions.ts'
import type { SeenObjects } from './matching.ts'
import type { ReviewRequest } from './review.ts'
import type { Webhook } from './webhook.ts'

/** Answers who may do what. */
export type Authorize = (
  question: Omit<AccessQuestion, 'serviceAccount'> & { readonly user: User },
) => ReturnType<AskAccess>

/** What all conditions of a webhook may cost for one request. */
const BUDGET = 2_500_000

const compiled = new WeakMap<Webhook, readonly Condition[]>()

/**
 * False if a condition is false: the webhook is not called. A condition that can not be judged is taken for false where
 * failures are ignored, and refuses the request where they are not.
 */
export async function conditionsHold(
  webhook: Webhook,
  attributes: AdmissionAttributes,
  request: ReviewRequest,
  { object, oldObject }: SeenObjects,
  authorize: Authorize,
): Promise<boolean> {
  // Few webhooks have conditions, and CEL is large.
  const [{ compileCondition, conditionContext }, { metered }] = await Promise.all([
    import('../../schema/cel/conditions.ts'),
    import('../../schema/cel/cost.ts'),
  ])
  let conditions = compiled.get(webhook)
  if (!conditions) {
    conditions = webhook.matchConditions.map(({ expression }) => compileCondition(expression))
    compiled.set(webhook, conditions)
  }
  const ask: AskAccess = ({ serviceAccount: account, ...question }) =>
    authorize({ ...question, user: account ? accountUser(account.namespace, account.name) : attributes.user })
  const context = conditionContext({ object, oldObject, request, ask })
  let left = BUDGET
  const errors: string[] = []
  for (const { expression, program, error = '' } of conditions) {
    if (!program) {
      errors.push(`compilation error: ${error}`)
      continue
    }
    const { spent, result } = metered(left, () => program.run(context))
    left -= spent
    if (result === false) return false
    if (result !== true) errors.push(`expression '${expression}' resulted in error: ${wordsOf(result)}`)
  }
  if (errors.length === 0) return true
  if (webhook.isFailureIgnored) return false
  const distinct = [...new Set(errors)]
  throw refused(attributes, distinct.length === 1 ? (distinct[0] ?? '') : `[${distinct.join(', ')}]`)
}

function accountUser(namespace: string, name: string): User {
  return {
    name: `system:serviceaccount:${namespace}:${name}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
  }
}

function wordsOf(error: unknown): string {
  const { summary, message } = error as { readonly summary?: unknown; readonly message?: unknown }
  const text = String(summary ?? message ?? error)
  const key = /^No such key: (.*)$/.exec(text)
  const variable = /^Unknown variable: (.*)$/.exec(text)
  if (variable) return `undeclared reference to '${variable[1]}' (in container '')`
  return key ? `no such key: ${key[1]}` : text
}
