import { TenureError } from '@tenure/kube'
import { fromNow } from '@tenure/runtime/cli'
import { formatTime } from '../api/time.ts'
import { defaultLeaseSettings } from '../api/types.ts'
import type { LeaseTarget } from '../changes/lease-target.ts'
import {
  type LeaseChange,
  type LeaseChangeContext,
  planClear,
  planRestart,
  planSet,
  type SetLeaseOptions,
} from '../changes/plan-change.ts'
import { readTerms, type Terms } from '../changes/terms.ts'
import { writeLeaseChange, type WrittenLeaseChange } from '../changes/write-change.ts'
import type { LeaseCliContext, LeaseCliOptions } from './context.ts'
import { managementProblem } from './management-problem.ts'
import { namedObject } from './named-object.ts'

/** Sets a lease: a TTL that starts now, a time of expiry, or `forever`. */
export async function setLease(
  context: LeaseCliContext,
  target: string,
  text: string,
  options: LeaseCliOptions,
): Promise<void> {
  // Fails before any request if the terms are invalid at any time.
  const renewOn = renewOnOf(readTerms(text, context.clock.now()), options)
  const object = await namedObject(context, target, options)
  await change(context, object, (input) => planSet(input, text, { renewOn }))
}

/** Restarts a lease, with another TTL if one is given. Never shortens it. */
export async function extendLease(
  context: LeaseCliContext,
  target: string,
  text: string | undefined,
  options: LeaseCliOptions,
): Promise<void> {
  const object = await namedObject(context, target, options)
  await change(context, object, (input) => planRestart(input, text))
}

/** Removes an object's lease: it will not expire. */
export async function clearLease(context: LeaseCliContext, target: string, options: LeaseCliOptions): Promise<void> {
  const object = await namedObject(context, target, options)
  const { isChanged } = await write(context, object, planClear)
  context.write(`${object.label} ${isChanged ? 'will not expire' : 'has no lease'}`)
}

/** Writes a change, and prints the end of the lease and why it would not come. */
async function change(
  context: LeaseCliContext,
  object: LeaseTarget,
  plan: (input: LeaseChangeContext) => LeaseChange,
): Promise<void> {
  let at = 0
  const { terms } = await write(context, object, (input) => {
    at = input.now
    return plan(input)
  })
  if (!terms) return
  const problem = terms.type === 'forever' ? undefined : await managementProblem(context, object)
  const said = ending(terms, at)
  context.write(`${object.label} ${problem === undefined ? said : said.replace(/^expires/, 'would expire')}`)
  if (problem !== undefined) context.warn(problem)
}

function write(
  { api, clock, families = defaultLeaseSettings.families }: LeaseCliContext,
  target: LeaseTarget,
  plan: (input: LeaseChangeContext) => LeaseChange,
): Promise<WrittenLeaseChange> {
  return writeLeaseChange({ api, clock }, target, (current, now) => plan({ target, current, families, now }))
}

/** Throws if `--renew-on` is invalid or has no effect. */
function renewOnOf({ type }: Terms, { renewOn }: LeaseCliOptions): SetLeaseOptions['renewOn'] {
  if (renewOn === undefined) return undefined
  if (renewOn !== 'update' && renewOn !== 'never')
    throw new TenureError('TENURE_LEASE_ARGUMENT', `--renew-on must be update or never, not "${renewOn}".`)
  if (renewOn === 'update' && type !== 'ttl')
    throw new TenureError('TENURE_LEASE_ARGUMENT', '--renew-on needs a duration: an update cannot move a fixed end.')
  return renewOn
}

function ending(terms: Terms, now: number): string {
  if (terms.type === 'forever') return 'never expires'
  return `expires at ${formatTime(terms.end)} (${fromNow(terms.end, now)})`
}
