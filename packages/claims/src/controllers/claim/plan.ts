import { type KubeObject, type Stored, TenureError } from '@tenure/kube'
import { ConfigMap } from '@tenure/kube/kinds'
import {
  type Action,
  type Actions,
  call,
  create,
  event,
  patch,
  type PlanContext,
  remove,
  requeueAfter,
  requeueAt,
} from '@tenure/runtime'
import { type Claim, childLabels, claimOf, expiryText, isReduced } from '../../api/claim.ts'
import { ANNOTATIONS, REASONS } from '../../api/names.ts'
import type { Manifest } from '../../template/types.ts'
import { type ClaimResource, type KnownKinds, resourcesOf } from './resources.ts'
import { asJsonObject } from '@tenure/kube/model'

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
  const { now, object } = context
  const claim = claimOf(object)
  if (!claim) return []
  if (!claim.isIdle && claim.expiresAt === undefined) return [repairExpiry(options, claim, now)]
  const resources = resourcesOf(claim, options.kinds, context)
  const unknown = resources.filter(({ kind }) => kind === undefined).map(({ manifest }) => manifest)
  if (unknown.length > 0) return [findKinds(options, unknown)]
  if (isIncomplete(claim, resources)) return planIncomplete(claim, now)
  const missing = resources.filter(({ child }) => child === undefined)
  const lazyUntil = (claim.claimedAt ?? 0) + LAZY_GRACE_MS
  const isFresh = claim.isPreProvisioned && now < lazyUntil
  const due = missing.filter((resource) => !isFresh || !resource.isLazy)
  return [...due.map((resource) => createChild(object, resource)), due.length < missing.length && requeueAt(lazyUntil)]
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
  const expiresAt = expiryText(now + defaultTtl(claim.pool))
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

/** The Secret follows the claim. If it does not, the replica that made the claim has died, and no caller waits for it. */
function planIncomplete(claim: Claim, now: number): Actions<ConfigMap> {
  const since = Math.max(claim.createdAt, claim.claimedAt ?? 0)
  if (now < since + SECRET_GRACE_MS) return [requeueAfter(since + SECRET_GRACE_MS - now)]
  const message = 'The claim was never completed: the Secret with its resources is missing'
  return [
    remove(ConfigMap, claim.object, {
      ifUnchanged: true,
      propagation: 'Background',
      afterwards: [event({ type: 'Warning', reason: REASONS.incomplete, message })],
    }),
  ]
}

function createChild(claim: Stored<ConfigMap>, { kind, manifest }: ClaimResource): Action | undefined {
  if (!kind) return undefined
  const { name } = manifest.metadata
  const labels = { ...asJsonObject(manifest.metadata['labels']), ...childLabels(claim.metadata.name) }
  // Rendered manifests are validated by the API server.
  const child = { ...manifest, metadata: { ...manifest.metadata, labels } } as unknown as KubeObject
  const message = `Created ${kind.kind} ${name}`
  return create(kind, child, {
    adopt: () => nameTaken(kind.kind, name),
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
