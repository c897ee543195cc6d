import { type Kind, metadataOf, type ObjectRef, type PartialObjectMetadata, refTo, type Stored } from '@tenure/kube'
import { CustomResourceDefinition, Deployment, Lease } from '@tenure/kube/kinds'
import {
  type Actions,
  call,
  controller,
  type ControllerDefinition,
  type Discovery,
  type OwnedKind,
  type PlanContext,
  remove,
  requeueAfter,
  type RequeueAction,
  type StatusContext,
  watch,
  type Watch,
} from '@tenure/runtime'
import { LeaseController, type LeaseControllerMode, type LeaseControllerStatus } from '../../api/lease-controller.ts'
import type { LeaseSettings } from '../../api/types.ts'
import { childNames } from './child-names.ts'
import { CHILD_KINDS, CHILD_LABEL, dedicatedChildren, type DedicatedSettings } from './children.ts'
import { claimsOn, dedicatedManager } from './claims.ts'
import type { KindControllers } from './kind-controllers.ts'
import { type LeaseControllerPlan, planLeaseController } from './plan.ts'
import { readReport } from './report.ts'
import { type Resolution, resolveKind } from './resolve-kind.ts'
import { type ObservedController, statusOf } from './status.ts'
import { targetOf } from './target.ts'

/** Dependencies of the controller of LeaseControllers. */
export interface LeaseControllerContext {
  readonly discovery: Discovery
  readonly pool: KindControllers
  /** Undefined: dedicated controllers cannot be deployed. */
  readonly dedicated: DedicatedSettings | undefined
  readonly settings: LeaseSettings
  readonly defaultMode: LeaseControllerMode
}

/** Metadata only: the schemas of CRDs are large. */
const CrdMetadata: Kind<PartialObjectMetadata> = metadataOf(CustomResourceDefinition)
/** A report consists of annotations. */
const LeaseMetadata: Kind<PartialObjectMetadata> = metadataOf(Lease)

/** Interval at which the state of controllers inside the operator is copied to the status. Costs no request. */
const STATE_REFRESH_MS = 5_000
/** Interval while a CRD of the group exists, whose kind is about to be served. */
const EXPECTED_KIND_POLL_MS = 500
/** Interval otherwise: an aggregated API server announces its kinds by no event. */
const MISSING_KIND_POLL_MS = 30_000
/** The plan runs again after discovery was read. */
const AFTER_DISCOVERY_MS = 1

/** The controller of LeaseControllers. */
export function leaseControllerController(context: LeaseControllerContext): ControllerDefinition<LeaseController> {
  const canDeploy = context.dedicated !== undefined
  return controller(LeaseController, {
    owns: canDeploy ? ownedKinds() : [],
    watches: [watchCrds(context.discovery), ...(canDeploy ? [watchNeighbours()] : [])],
    // Granted permissions announce themselves by no event.
    backoff: { base: 100, max: 30_000 },
    plan: (input) => planActions(context, input),
    status: (input) => reportStatus(context, input),
    deleted: ({ name }) => context.pool.release(name),
  })
}

function planActions(deps: LeaseControllerContext, input: PlanContext<LeaseController>): Actions<LeaseController> {
  const { discovery } = deps
  const { resolution, plan } = decide(deps, input, input.object)
  if (resolution !== 'invalid' && needsDiscovery(discovery, resolution)) {
    return [
      call('read discovery', async ({ log, requeueAfter: requeue, signal }) => {
        try {
          await discovery.freshGroups({ signal })
          requeue(AFTER_DISCOVERY_MS)
        } catch (error) {
          log.warn('discovery failed, retrying', { error })
          requeue(EXPECTED_KIND_POLL_MS)
        }
      }),
    ]
  }
  if (!plan) return []
  return [...childActions(deps, input, plan), poolAction(deps, input, plan), nextPlan(deps, input, plan, resolution)]
}

function reportStatus(
  deps: LeaseControllerContext,
  input: StatusContext<LeaseController>,
): LeaseControllerStatus | undefined {
  const { plan } = decide(deps, input, input.object)
  if (!plan) return undefined
  const { failure, now, object } = input
  const { name, generation } = object.metadata
  const observed = observe(deps, input)
  // Discovery was read in this reconcile, and the controller is created in the next.
  const isCreated = plan.run === 'dedicated' ? observed.deployment : plan.run !== 'shared' || observed.shared
  if (!isCreated && !failure) return undefined
  return statusOf({ name, before: object.status, generation, plan, observed, failure, now })
}

interface LeaseControllerDecision {
  /** `invalid`: the spec names no kind. Undefined: discovery was not read yet. */
  readonly resolution: Resolution | 'invalid' | undefined
  /** Undefined if discovery was not read yet. */
  readonly plan: LeaseControllerPlan | undefined
}

function decide(
  { defaultMode, dedicated, discovery }: LeaseControllerContext,
  { list }: Pick<PlanContext<LeaseController>, 'list'>,
  object: Stored<LeaseController>,
): LeaseControllerDecision {
  const { spec, status, metadata } = object
  const target = targetOf(spec)
  const { current: groups } = discovery
  if (target.ok && !groups) return { resolution: undefined, plan: undefined }
  const resolution = target.ok && groups ? resolveKind(groups, target.wanted) : undefined
  const plan = planLeaseController(
    {
      spec,
      status,
      generation: metadata.generation,
      target,
      resolution,
      managedBy: (resource, mode) => dedicatedManager(list(LeaseController), object, resource, mode),
    },
    { defaultMode, canDeploy: dedicated !== undefined },
  )
  return { resolution: resolution ?? 'invalid', plan }
}

/** Whether a newer snapshot may resolve the kind differently. */
function needsDiscovery(discovery: Discovery, resolution: Resolution | undefined): boolean {
  if (!resolution) return true
  return !discovery.isFresh && (!discovery.isSettled || resolution.state !== 'found')
}

function childActions(
  { dedicated }: LeaseControllerContext,
  { object, owned }: PlanContext<LeaseController>,
  plan: LeaseControllerPlan,
): Actions<LeaseController> {
  if (dedicated === undefined || plan.run === 'wait') return []
  if (plan.run !== 'dedicated') {
    // The Deployment goes first, then the objects that it uses.
    return CHILD_KINDS.toReversed().flatMap((kind) =>
      owned(kind === Lease ? LeaseMetadata : kind).map((child) => remove(kind, child)),
    )
  }
  return dedicatedChildren({ name: object.metadata.name, spec: object.spec, resource: plan.resource }, dedicated)
}

/** Claims the kind for a controller inside the operator, or releases it. */
function poolAction(
  deps: LeaseControllerContext,
  { list, object }: PlanContext<LeaseController>,
  plan: LeaseControllerPlan,
): Actions<LeaseController>[number] {
  const { pool } = deps
  if (plan.run === 'wait') return undefined
  if (plan.run !== 'shared') return call('release the kind', () => pool.release(object.metadata.name))
  const { current: groups = [] } = deps.discovery
  const { resource } = plan
  const wouldRun = (other: Stored<LeaseController>): boolean => {
    const its = decide(deps, { list }, other).plan
    return its?.run === 'shared' && its.resource.group === resource.group && its.resource.plural === resource.plural
  }
  const claims = claimsOn({ resource, groups, object, all: list(LeaseController), wouldRun, settings: deps.settings })
  return call('claim the kind', () => claims.forEach((claim) => pool.claim(claim)))
}

function observe({ dedicated, pool }: LeaseControllerContext, input: PlanContext<LeaseController>): ObservedController {
  const { name } = input.object.metadata
  const shared = pool.state(name)
  if (!dedicated) return { deployment: undefined, report: undefined, shared }
  const names = childNames(name)
  const [deployment] = input.owned(Deployment).filter(({ metadata }) => metadata.name === names.base)
  const [lease] = input.owned(LeaseMetadata).filter(({ metadata }) => metadata.name === names.report)
  return { deployment, report: readReport(lease?.metadata), shared }
}

/** When to plan again although no event announces a change; undefined for never. */
function nextPlan(
  { discovery }: LeaseControllerContext,
  { list, object }: PlanContext<LeaseController>,
  { run }: LeaseControllerPlan,
  resolution: LeaseControllerDecision['resolution'],
): RequeueAction | undefined {
  if (!resolution || resolution === 'invalid') return undefined
  if (!discovery.isSettled) return requeueAfter(EXPECTED_KIND_POLL_MS)
  if (run === 'shared') return requeueAfter(STATE_REFRESH_MS)
  if (resolution.state !== 'missing') return undefined
  const { group = '' } = object.spec
  const isExpected = list(CrdMetadata).some(({ metadata }) => crdGroup(metadata.name) === group)
  return requeueAfter(isExpected ? EXPECTED_KIND_POLL_MS : MISSING_KIND_POLL_MS)
}

function ownedKinds(): readonly OwnedKind[] {
  const selection = { labelSelector: `${CHILD_LABEL}=true` }
  return CHILD_KINDS.map((kind) => ({ kind: kind === Lease ? LeaseMetadata : kind, selection }))
}

/** A kind may appear or disappear with its CRD: all LeaseControllers of its group are planned again. */
function watchCrds(discovery: Discovery): Watch<LeaseController> {
  return watch<PartialObjectMetadata, LeaseController>(CrdMetadata, ({ metadata }, primaries) => {
    discovery.invalidate()
    const group = crdGroup(metadata.name)
    return primaries
      .list()
      .filter(({ spec }) => !spec.group || spec.group === group)
      .map(refTo)
  })
}

/** A dedicated controller concerns other LeaseControllers of the same kind. */
function watchNeighbours(): Watch<LeaseController> {
  return watch<LeaseController, LeaseController>(
    LeaseController,
    ({ metadata, status }, primaries): readonly ObjectRef[] => {
      const { resource } = status ?? {}
      if (!resource) return []
      return primaries
        .list()
        .filter((other) => other.metadata.name !== metadata.name)
        .filter((other) => other.status?.resource?.plural === resource.plural)
        .map(refTo)
    },
  )
}

/** The name of a CRD consists of its plural and its group. */
function crdGroup(name: string): string {
  return name.slice(name.indexOf('.') + 1)
}
