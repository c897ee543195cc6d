import { type Stored, TenureError } from '@tenure/kube'
import { ConfigMap } from '@tenure/kube/kinds'
import {
  type Action,
  type Actions,
  call,
  create,
  event,
  patch,
  type PlanContext,
  readLive,
  remove,
  requeueAfter,
  requeueAt,
} from '@tenure/runtime'
import { childFailure } from '../../api/child-failure.ts'
import { childOf } from '../../api/children.ts'
import { type Claim, claimOf } from '../../api/claim.ts'
import { isReduced } from '../../api/manifests.ts'
import { ANNOTATIONS, REASONS } from '../../api/names.ts'
import { ceiledText } from '../../api/new-claim.ts'
import type { Manifest } from '../../template/types.ts'
import { type ClaimResource, type KnownKinds, resourcesOf } from './resources.ts'

/** The replica that hands a claim out creates its lazy resources itself. After this long it has probably died. */
export const LAZY_GRACE_MS = 2_000
/** The replica that creates a claim creates its Secret right after. After this long it has probably died. */
export const SECRET_GRACE_MS = 10_000

export interface ClaimPlanOptions {
  readonly kinds: KnownKinds & {
    /** Finds the kinds of these manifests. Rejects if one does not exist. */
    resolve(manifests: readonly Manifest[], signal?: AbortSignal): Promise<unknown>
  }
  /** Milliseconds: the life of a claim whose expiry cannot be read. */
  defaultTtl(pool: string): number
}

/** Creates what is missing of a claim. */
export function planClaim(options: ClaimPlanOptions, context: PlanContext<ConfigMap>): Actions<ConfigMap> {
  const { isLive, now, object } = context
  const claim = claimOf(object)
  if (!claim) return []
  if (!claim.isIdle && claim.expiresAt === undefined) {
    // By the time of the API server: a wrong clock here would make the claim end early.
    return [isLive ? repairExpiry(options, claim, now) : readLive()]
  }
  const resources = resourcesOf(claim, options.kinds, context)
  const unknown = resources.filter(({ kind }) => kind === undefined).map(({ manifest }) => manifest)
  if (unknown.length > 0) return [findKinds(options, unknown)]
  if (isIncomplete(claim, resources)) return planIncomplete(claim, now)
  const missing = resources.filter(({ child }) => child === undefined)
  const lazyUntil = lazyDueAt(claim)
  const due = missing.filter((resource) => now >= lazyUntil || !resource.isLazy)
  return [...due.map((resource) => createChild(object, resource)), due.length < missing.length && requeueAt(lazyUntil)]
}

/** When the controller creates the lazy resources of a claim that are missing: milliseconds since 1970. */
export function lazyDueAt({ claimedAt = 0, isPreProvisioned }: Claim): number {
  return isPreProvisioned ? claimedAt + LAZY_GRACE_MS : 0
}

/** Removes a claim whose time is over. Its children go with it. */
export function expireClaim({ object }: PlanContext<ConfigMap>, onExpired: (claim: Claim) => void): Actions<ConfigMap> {
  const claim = claimOf(object)
  if (!claim) return []
  const afterwards = [
    event({ type: 'Normal', reason: REASONS.expired, message: 'Claim expired and resources were deleted' }),
    call('observe expiry', () => onExpired(claim)),
  ]
  return [remove(ConfigMap, object, { propagation: 'Background', afterwards })]
}

function repairExpiry({ defaultTtl }: ClaimPlanOptions, claim: Claim, now: number): Action {
  const expiresAt = ceiledText(now + defaultTtl(claim.pool))
  const message = `The expiry of the claim could not be read; it is ${expiresAt} now`
  return patch(
    ConfigMap,
    claim.object,
    { metadata: { annotations: { [ANNOTATIONS.expiresAt]: expiresAt } } },
    { afterwards: [event({ type: 'Warning', reason: REASONS.expiryRepaired, message })] },
  )
}

function findKinds({ kinds }: ClaimPlanOptions, unknown: readonly Manifest[]): Action {
  return call('find kinds', async ({ signal, requeueAfter: again }) => {
    await kinds.resolve(unknown, signal)
    again(0)
  })
}

/** Whether a resource is described only by a Secret that does not exist. */
export function isIncomplete(claim: Claim, resources: readonly ClaimResource[]): boolean {
  return claim.hasSecrets && resources.some(({ child, manifest }) => child === undefined && isReduced(manifest))
}

/**
 * The Secret follows the claim. If it does not, the replica that made the claim has died, and no caller waits for it. A
 * claim that was ready is never removed: its caller has it, and only its expiry ends it.
 */
function planIncomplete(claim: Claim, now: number): Actions<ConfigMap> {
  const since = Math.max(claim.createdAt, claim.claimedAt ?? 0)
  if (now < since + SECRET_GRACE_MS) return [requeueAfter(since + SECRET_GRACE_MS - now)]
  const message = 'the Secret with the resources of the claim is missing'
  if (claim.status !== 'pending') throw new TenureError('TENURE_CLAIM_INCOMPLETE', `Resources are gone, and ${message}`)
  return [
    remove(ConfigMap, claim.object, {
      ifUnchanged: true,
      propagation: 'Background',
      afterwards: [
        event({
          type: 'Warning',
          reason: REASONS.incomplete,
          message: `The claim was never completed: ${message}`,
        }),
      ],
    }),
  ]
}

function createChild(claim: Stored<ConfigMap>, { isSecret, kind, manifest }: ClaimResource): Action | undefined {
  if (!kind) return undefined
  const { name } = manifest.metadata
  const message = `Created ${kind.kind} ${name}`
  return create(kind, childOf(claim, manifest), {
    adopt: () => nameTaken(kind.kind, name),
    ...(isSecret && { describeFailure: childFailure(kind.kind, name) }),
    afterwards: [event({ type: 'Normal', reason: REASONS.createdResource, message })],
  })
}

/** An object of that name that the claim does not own is never touched. */
export function nameTaken(kind: string, name: string): TenureError {
  return new TenureError(
    'TENURE_CLAIM_NAME_TAKEN',
    `${kind} ${name} already exists and does not belong to this claim. Use a name in the template that contains .Release.Name.`,
  )
}
