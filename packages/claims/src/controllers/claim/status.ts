import { fateOf, isObjectRejected } from '@tenure/kube'
import { ConfigMap } from '@tenure/kube/kinds'
import { type Actions, event, patch, requeueAt, type StatusContext } from '@tenure/runtime'
import { type Claim, claimOf, type ClaimStatus, type FailureCause, type ResourceStatus } from '../../api/claim.ts'
import { ANNOTATIONS, DATA, REASONS } from '../../api/names.ts'
import { statusData } from '../../api/new-claim.ts'
import { isIncomplete, lazyDueAt } from './plan.ts'
import { readinessOf } from '@tenure/runtime/readiness'
import { type KnownKinds, resourcesOf } from './resources.ts'

/**
 * Progress is written only for claims that take longer than this: a claim that becomes ready in time costs one write of
 * its status.
 */
export const PROGRESS_DELAY_MS = 5_000

/** The state of a claim. */
export interface ClaimReport {
  readonly status: ClaimStatus
  readonly message: string
  readonly failure: FailureCause | undefined
  readonly resources: readonly ResourceStatus[]
}

/** Derives the state of a claim from its resources, and from the failure of its plan. */
export function reportClaim(claim: Claim, kinds: KnownKinds, context: StatusContext<ConfigMap>): ClaimReport {
  const { failure, object } = context
  const namespace = object.metadata.namespace ?? ''
  const needed = resourcesOf(claim, kinds, context)
  const readiness = needed.map(({ child }) => readinessOf(child))
  const resources = needed.map(({ manifest }, at): ResourceStatus => {
    const { isReady = false, message = '' } = readiness[at] ?? {}
    return { kind: manifest.kind, name: manifest.metadata.name, namespace, ready: isReady, message }
  })
  const failed = readiness.findIndex(({ hasFailed }) => hasFailed)
  const stuck = readiness.findIndex(({ isStuck }) => isStuck)
  const describe = (at: number): string => `${resources[at]?.kind} ${resources[at]?.name}: ${resources[at]?.message}`
  if (failed >= 0) {
    const cause = readiness[failed]?.isDisrupted ? 'disrupted' : 'failed'
    return { status: 'failed', message: describe(failed), failure: cause, resources }
  }
  if (failure && (isObjectRejected(failure) || fateOf(failure) === 'terminal')) {
    return { status: 'failed', message: failure.message, failure: 'failed', resources }
  }
  if (failure) return { status: 'pending', message: failure.message, failure: undefined, resources }
  if (stuck >= 0) return { status: 'pending', message: describe(stuck), failure: 'stuck', resources }
  const ready = resources.filter((resource) => resource.ready).length
  if (ready === resources.length && !isIncomplete(claim, needed)) {
    return { status: 'ready', message: 'all resources ready', failure: undefined, resources }
  }
  const message =
    ready === 0 && needed.every(({ child }) => child === undefined)
      ? 'waiting for resources to be created'
      : `${ready}/${resources.length} resources ready`
  return { status: 'pending', message, failure: undefined, resources }
}

/** Writes the state of a claim if it changed. */
export function claimStatus(kinds: KnownKinds, context: StatusContext<ConfigMap>): Actions<ConfigMap> | undefined {
  const { now, object } = context
  const claim = claimOf(object)
  if (!claim || object.metadata.deletionTimestamp) return undefined
  const report = unreadable(context) ?? reportClaim(claim, kinds, context)
  const data = statusData(report.status, report.message, report.resources)
  const isEqual =
    Object.entries(data).every(([key, value]) => object.data?.[key] === value) && claim.failure === report.failure
  if (isEqual) return undefined
  if (claim.status === 'ready' && now < lazyDueAt(claim) && isWaitingForLazy(claim, kinds, context)) {
    // The replica that hands the claim out creates them, and has announced them in its status.
    return [requeueAt(lazyDueAt(claim))]
  }
  const isProgress = report.status === 'pending' && claim.status === 'pending' && report.failure === claim.failure
  const since = Math.max(claim.createdAt, claim.claimedAt ?? 0) + PROGRESS_DELAY_MS
  if (isProgress && now < since) return [requeueAt(since)]
  const failed = report.status === 'failed' && object.data?.[DATA.message] !== report.message
  return [
    patch(
      ConfigMap,
      object,
      {
        metadata: { annotations: { [ANNOTATIONS.failure]: report.failure ?? null } },
        data,
      },
      { afterwards: [failed && event({ type: 'Warning', reason: REASONS.failed, message: report.message })] },
    ),
  ]
}

/** Whether all that is not ready are lazy resources that do not exist yet. */
function isWaitingForLazy(claim: Claim, kinds: KnownKinds, context: StatusContext<ConfigMap>): boolean {
  if (context.failure) return false
  return resourcesOf(claim, kinds, context).every(
    (resource) => (resource.isLazy && !resource.child) || readinessOf(resource.child).isReady,
  )
}

/** A claim whose manifests cannot be read has failed; its resources are unknown. */
function unreadable({ failure }: StatusContext<ConfigMap>): ClaimReport | undefined {
  const isUnreadable = failure !== undefined && 'code' in failure && failure.code === 'TENURE_CLAIM_INVALID'
  return isUnreadable ? { status: 'failed', message: failure.message, failure: 'failed', resources: [] } : undefined
}
