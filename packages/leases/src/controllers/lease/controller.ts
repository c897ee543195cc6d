import { keyOf, type PartialObjectMetadata, refTo } from '@tenure/kube'
import {
  type Actions,
  call,
  controller,
  type ControllerDefinition,
  event,
  patch,
  type PlanContext,
  readLive,
  type ReconcileOutcome,
  type Recorder,
  requeueAfter,
  requeueAt,
} from '@tenure/runtime'
import { STATUS_ANNOTATIONS } from '../../api/annotations.ts'
import type { Cleanup } from './cleanup/cleanup.ts'
import type { ClockSkew } from './clock-skew.ts'
import type { Leased, LeaseContext } from './context.ts'
import { expireLease, leaseExpiry } from './expirer.ts'
import type { ExpiryWarnings } from './expiry-warning.ts'
import { datedExpiry, expiryWarningAt, type LeasePlan } from './plan.ts'
import type { WriteBackoff } from './write-backoff.ts'

const RETRY_BACKOFF = { base: 20, max: 30_000 }
const STATUS_ANNOTATION_NAMES: ReadonlySet<string> = new Set(Object.values(STATUS_ANNOTATIONS))

export interface LeaseControllerDeps {
  readonly name: string
  readonly context: LeaseContext
  readonly cleanup: Cleanup
  readonly clockSkew: ClockSkew
  readonly warnings: ExpiryWarnings
  readonly writeBackoff: WriteBackoff
  readonly recorder: Recorder
  /** Objects reconciled at once, for writes and for deletions. */
  readonly concurrency: number
  readonly onReconciled: (outcome: ReconcileOutcome) => void
}

/** The controller of one kind's leases: writes dates, warns, and deletes expired objects. */
export function leaseController(deps: LeaseControllerDeps): ControllerDefinition<PartialObjectMetadata> {
  const { cleanup, concurrency, context, name, onReconciled, recorder } = deps
  return controller(context.kind, {
    name,
    concurrency,
    recorder,
    onReconciled,
    backoff: RETRY_BACKOFF,
    // A policy or a permission may change without a change of the object.
    retryTerminal: true,
    predicate: (object, old) => needsReconcile(deps, object, old),
    plan: (input) => planActions(deps, input),
    expiresAt: (object) => leaseExpiry(context, object),
    expire: (input) => expireLease(context, cleanup, input),
  })
}

/** An object that is up to date costs nothing: most events end here. */
function needsReconcile({ context, warnings }: LeaseControllerDeps, object: Leased, old: Leased | undefined): boolean {
  const { clock, namespaces, settings } = context
  if (!namespaces.has(object.metadata.namespace)) return false
  const now = clock.now()
  const { changes, lease } = context.planOf(object, now)
  if (!isEmpty(changes)) return true
  if (!lease) return false
  // A user may have corrected what keeps an expired object from its deletion.
  if (lease.expireAt <= now) return old !== undefined && isUserChange(context, object, old)
  // A later warning is scheduled with the event: it needs no reconcile now.
  if (lease.expireAt - settings.expiryWarning.atMost > now) return false
  const isScheduled = old !== undefined && expireAtOf(object, lease) === expireAtOf(old, lease)
  const isWarned = warnings.has(keyOf(refTo(object)), lease.expireAt)
  return !isScheduled && !isWarned && expiryWarningAt(lease, settings.expiryWarning) !== undefined
}

function planActions(
  deps: LeaseControllerDeps,
  { object, now, isLive }: Pick<PlanContext<PartialObjectMetadata>, 'object' | 'now' | 'isLive'>,
): Actions {
  const { clockSkew, context, writeBackoff } = deps
  const { kind, namespaces } = context
  if (!namespaces.has(object.metadata.namespace)) return []
  const plan = context.planOf(object, now)
  const warning = warningActions(deps, object, plan, now)
  if (isEmpty(plan.changes)) return warning
  const delay = writeBackoff.delay(keyOf(refTo(object)))
  if (delay > 0) return [requeueAfter(delay), ...warning]
  // The local clock may be wrong, and the start is written permanently, so the server's time decides.
  if (!isLive && (plan.startsNow || (plan.isByAge && !clockSkew.isAccurate))) return [readLive()]
  const annotations = plan.changes
  return [
    isLive && call('compare the clocks', () => clockSkew.compare(now)),
    patch(kind, object, { metadata: { annotations } }, { afterwards: writtenActions(deps, object, plan) }),
    ...warning,
  ]
}

function writtenActions({ context, writeBackoff }: LeaseControllerDeps, object: Leased, plan: LeasePlan): Actions {
  const { log, metrics } = context
  return [
    ...plan.events.map(event),
    call('count the write', () => {
      writeBackoff.written(keyOf(refTo(object)))
      if (plan.started) metrics.started.inc()
      if (plan.invalid) metrics.invalidTtl.inc()
      log.debug('lease written', { ...refTo(object), expireAt: plan.lease?.expireAt })
    }),
  ]
}

/** Warns of the expiry now, or asks to be called again then. */
function warningActions(
  { context, warnings }: LeaseControllerDeps,
  object: Leased,
  plan: LeasePlan,
  now: number,
): Actions {
  const { lease } = plan
  // A new date is written first; its event brings the object back.
  if (!lease || datedExpiry(plan) === undefined) return []
  const key = keyOf(refTo(object))
  const at = expiryWarningAt(lease, context.settings.expiryWarning)
  if (at === undefined || now >= lease.expireAt || warnings.has(key, lease.expireAt)) return []
  return [at > now ? requeueAt(at) : call('warn of the expiry', () => warnings.add(key))]
}

function expireAtOf({ metadata }: Leased, { family }: NonNullable<LeasePlan['lease']>): string | undefined {
  return metadata.annotations?.[family.names.expireAt]
}

/** Whether annotations of a lease differ that users write. */
function isUserChange({ settings }: LeaseContext, object: Leased, old: Leased): boolean {
  const before = old.metadata.annotations ?? {}
  const after = object.metadata.annotations ?? {}
  return settings.families.some(({ prefix }) =>
    [...Object.keys(before), ...Object.keys(after)].some(
      (name) =>
        name.startsWith(prefix) &&
        !STATUS_ANNOTATION_NAMES.has(name.slice(prefix.length)) &&
        before[name] !== after[name],
    ),
  )
}

function isEmpty(changes: LeasePlan['changes']): boolean {
  for (const _ in changes) return false
  return true
}
