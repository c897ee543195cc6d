import {
  type ApiGroups,
  asError,
  type Kind,
  metadataOf,
  type PartialObjectMetadata,
  type Stored,
  TenureError,
} from '@tenure/kube'
import { CustomResourceDefinition, Deployment, Lease } from '@tenure/kube/kinds'
import { type Actions, type ReconcileContext, remove, requeueAfter, type RequeueAction, status } from '@tenure/runtime'
import type { LeaseSettings } from '../../api/types.ts'
import { LeaseController, type LeaseControllerMode, type LeasedResource } from '../../api/lease-controller.ts'
import { CHILD_KINDS, dedicatedChildren, type DedicatedSettings } from './children.ts'
import { planLeaseController, type LeaseControllerPlan, type PlanOptions, type PlanInput } from './plan.ts'
import { isDefault } from './defaults.ts'
import type { Discovery } from './discovery.ts'
import type { KindClaim, KindControllers } from './kind-controllers.ts'
import { childNames } from './child-names.ts'
import { readReport } from './report.ts'
import { type Resolution, resolveIfNamed, resolveKind } from './resolve-kind.ts'
import { kindOf, type ObservedController, statusOf } from './status.ts'
import { type Target, targetOf, type WantedKind } from './target.ts'

/** What a LeaseController's turn needs besides itself: it is there once the manager runs. */
export interface LeaseControllerContext {
  readonly discovery: Discovery
  readonly pool: KindControllers
  /** Undefined: nowhere to deploy to. */
  readonly dedicated: DedicatedSettings | undefined
  readonly settings: LeaseSettings
  readonly defaultMode: PlanOptions['defaultMode']
}

/** Lists and watches of it never hold the schemas, which are long. */
export const CrdMetadata: Kind<PartialObjectMetadata> = metadataOf(CustomResourceDefinition)
/** What is said in a report is all in the annotations. */
export const LeaseMetadata: Kind<PartialObjectMetadata> = metadataOf(Lease)

/** Milliseconds between looks at the keepers of this process, whose figures go into the status. Costs no request. */
const REFRESH = 5_000
/** A CRD of the group is there: its kind is served any moment. */
const SOON = 500
/** Nothing tells when an API server behind this one begins to serve a kind. */
const SOMETIME = 30_000

type Context = ReconcileContext<LeaseController>

/** Looks, decides, acts, and says how it went, also when it did not go well. */
export async function reconcileLeaseController(
  context: Context,
  deps: LeaseControllerContext,
): Promise<Actions<LeaseController>> {
  const { object } = context
  const { name, generation } = object.metadata
  const target = targetOf(object.spec)
  const { groups, resolution } = target.ok
    ? await resolve(context, deps.discovery, target.wanted)
    : { groups: [], resolution: undefined }
  const decision = decisionOn(context, deps, object, resolution)
  const failure = await carryOut(context, deps, decision, groups)
  const observed = observe(context, deps)
  const before = context.object.status
  const next = statusOf({ name, before, generation, plan: decision, observed, failure, now: context.now })
  if (failure) {
    await context.act([status(next)])
    throw failure
  }
  return [status(next), nextLook(context, deps.discovery, decision, resolution, target)]
}

interface Resolved {
  readonly groups: ApiGroups
  readonly resolution: Resolution
}

async function resolve(context: Context, discovery: Discovery, wanted: WantedKind): Promise<Resolved> {
  const { signal } = context
  const groups = await discovery.groups({ signal })
  const known = resolveKind(groups, wanted)
  if (known.state === 'found') return { groups, resolution: known }
  const fresh = await discovery.freshGroups({ signal })
  return { groups: fresh, resolution: resolveKind(fresh, wanted) }
}

function decisionOn(
  context: Context,
  { defaultMode, dedicated }: LeaseControllerContext,
  object: Stored<LeaseController>,
  resolution: Resolution | undefined,
): LeaseControllerPlan {
  const { spec, status: before, metadata } = object
  const managedBy: PlanInput['managedBy'] = (resource, mode) => dedicatedManager(context, object, resource, mode)
  const facts = { spec, status: before, generation: metadata.generation, target: targetOf(spec), resolution, managedBy }
  return planLeaseController(facts, { defaultMode, canDeploy: dedicated !== undefined })
}

/** The failure, if there was one: it belongs in the status before it is anybody else's. */
async function carryOut(
  context: Context,
  deps: LeaseControllerContext,
  decision: LeaseControllerPlan,
  groups: ApiGroups,
): Promise<Error | undefined> {
  const { name } = context.object.metadata
  try {
    await context.act(actionsFor(context, deps, decision))
  } catch (error) {
    if (context.signal.aborted) throw error
    return asError(error)
  }
  if (decision.run === 'shared') claim(context, deps, decision.resource, groups)
  else if (decision.run !== 'wait') deps.pool.release(name)
  return undefined
}

/**
 * Claims a kind for all who would have it kept here, who decides first: of one whose turn has not come yet, the settings
 * count already. Or else, after a restart, what one keeps in a dry run would be deleted in the name of another.
 */
function claim(context: Context, deps: LeaseControllerContext, resource: LeasedResource, groups: ApiGroups): void {
  const others = context.list(LeaseController).filter((other) => {
    if (other.metadata.name === context.object.metadata.name) return false
    const target = targetOf(other.spec)
    const resolution = target.ok ? resolveIfNamed(groups, target.wanted, resource) : undefined
    if (!resolution) return false
    const { run, resource: its } = decisionOn(context, deps, other, resolution)
    return run === 'shared' && its.group === resource.group && its.plural === resource.plural
  })
  const claims = [context.object, ...others].map((object) => claimFor(object, resource, deps.settings))
  for (const each of claims.toSorted((a, b) => (a.rank < b.rank ? -1 : 1))) deps.pool.claim(each)
}

function actionsFor(
  context: Context,
  { dedicated }: LeaseControllerContext,
  decision: LeaseControllerPlan,
): Actions<LeaseController> {
  if (dedicated === undefined || decision.run === 'wait') return []
  if (decision.run !== 'dedicated') {
    // What works goes first, what it works with after it.
    return CHILD_KINDS.toReversed().flatMap((kind) =>
      context.owned(kind === Lease ? LeaseMetadata : kind).map((child) => remove(kind, child)),
    )
  }
  const { name } = context.object.metadata
  return dedicatedChildren({ name, spec: context.object.spec, resource: decision.resource }, dedicated)
}

function claimFor(object: Stored<LeaseController>, resource: LeasedResource, settings: LeaseSettings): KindClaim {
  const { optIn, dryRun } = object.spec
  return {
    claimant: object.metadata.name,
    rank: rankOf(object),
    kind: kindOf(resource),
    settings: { ...settings, ...(optIn && { optIn }), ...(dryRun !== undefined && { dryRun }) },
  }
}

/** The lowest decides: the oldest, and those that nobody asked for give way to any that somebody did. */
function rankOf(object: Stored<LeaseController>): string {
  const { name, creationTimestamp } = object.metadata
  return `${isDefault(object) ? 1 : 0} ${creationTimestamp} ${name}`
}

function observe(context: Context, { pool, dedicated }: LeaseControllerContext): ObservedController {
  const { name } = context.object.metadata
  const shared = pool.state(name)
  if (!dedicated) return { deployment: undefined, report: undefined, shared }
  const names = childNames(name)
  const [deployment] = context.owned(Deployment).filter(({ metadata }) => metadata.name === names.base)
  const [lease] = context.owned(LeaseMetadata).filter(({ metadata }) => metadata.name === names.report)
  return { deployment, report: readReport(lease?.metadata), shared }
}

/** Who is deployed goes before who is not; of several, only one could ever lead: the one that decides. */
function dedicatedManager(
  context: Context,
  object: Stored<LeaseController>,
  { group, plural }: LeasedResource,
  mode: LeaseControllerMode,
): string | undefined {
  return context.list(LeaseController).find((other) => {
    const { metadata, spec, status: its = {} } = other
    const isSame = its.resource?.group === group && its.resource.plural === plural
    const isDeployed = its.mode === 'dedicated' && !spec.suspend && metadata.uid !== object.metadata.uid
    return isSame && isDeployed && (mode === 'shared' || rankOf(other) < rankOf(object))
  })?.metadata.name
}

/** When to look again although nothing tells of a change. Undefined: never. */
function nextLook(
  context: Context,
  discovery: Discovery,
  { run }: LeaseControllerPlan,
  resolution: Resolution | undefined,
  target: Target,
): RequeueAction | undefined {
  if (!target.ok) return undefined
  if (!discovery.isSettled) return requeueAfter(SOON)
  if (run === 'shared') return requeueAfter(REFRESH)
  if (resolution?.state !== 'missing') return undefined
  const isExpected = context.list(CrdMetadata).some(({ metadata }) => crdGroup(metadata.name) === target.wanted.group)
  return requeueAfter(isExpected ? SOON : SOMETIME)
}

/** A CRD is called by its plural and its group. */
export function crdGroup(name: string): string {
  return name.slice(name.indexOf('.') + 1)
}

export function notRunning(): TenureError {
  return new TenureError('TENURE_LEASE_OPERATOR', 'The operator of LeaseControllers works only within a manager.', {
    fate: 'bug',
  })
}
