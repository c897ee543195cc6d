import { optInLabelProblem } from '../lease/namespace-filter.ts'
import type {
  LeaseControllerMode,
  LeaseControllerSpec,
  LeaseControllerStatus,
  LeasedResource,
} from '../../api/lease-controller.ts'
import { cleanupProblem } from './allowed-resources.ts'
import type { Resolution } from './resolve-kind.ts'
import type { Target } from './target.ts'

/** The plan for one LeaseController. */
export type LeaseControllerPlan =
  /** Run its controller, in its own Deployment or inside the operator. */
  | {
      readonly run: LeaseControllerMode
      readonly resource: LeasedResource
      readonly note: string | undefined
    }
  /** Its kind is not served now: its running controller waits for it and is left alone. */
  | {
      readonly run: 'wait'
      readonly mode: LeaseControllerMode
      readonly resource: LeasedResource
      readonly condition: ConditionReason
    }
  /** Run nothing: the Deployment of another LeaseController manages the same kind. */
  | { readonly run: 'yield'; readonly to: string; readonly resource: LeasedResource; readonly note: string | undefined }
  /** Run nothing. */
  | { readonly run: 'nothing'; readonly condition: ConditionReason; readonly resource?: undefined }

/** A condition's reason and message. */
export interface ConditionReason {
  readonly reason: string
  readonly message: string
}

export interface PlanOptions {
  /** Mode of a LeaseController without one. */
  readonly defaultMode: LeaseControllerMode
  /** If false, `dedicated` falls back to `shared`, with a note. */
  readonly canDeploy: boolean
}

export interface PlanInput {
  readonly spec: LeaseControllerSpec
  readonly status: LeaseControllerStatus | undefined
  readonly generation: number | undefined
  readonly target: Target
  /** Undefined if the target is invalid. */
  readonly resolution: Resolution | undefined
  /** Name of another LeaseController whose Deployment manages the resource, if any. */
  readonly managedBy: (resource: LeasedResource, mode: LeaseControllerMode) => string | undefined
}

/** Pure. */
export function planLeaseController(input: PlanInput, options: PlanOptions): LeaseControllerPlan {
  const { spec, target, resolution } = input
  if (!target.ok) return nothing('InvalidSpec', target.reason)
  const optIn = spec.optIn && optInLabelProblem(spec.optIn)
  if (optIn !== undefined) return nothing('InvalidSpec', `spec.optIn: ${optIn}.`)
  const cleanup = cleanupProblem(spec)
  if (cleanup !== undefined) return nothing('InvalidSpec', `spec.cleanup: ${cleanup}.`)
  if (!resolution || resolution.state === 'unfit') return nothing('KindUnfit', resolution?.reason ?? '')
  if (spec.suspend) return nothing('Suspended', 'spec.suspend is set: no leases are managed.')
  const { mode, note: modeNote } = modeOf(spec, options)
  if (resolution.state === 'missing') {
    const condition = { reason: 'KindNotServed', message: resolution.reason }
    const before = lastResolved(input)
    return before ? { run: 'wait', mode, resource: before, condition } : { run: 'nothing', condition }
  }
  const { resource } = resolution
  const note = notes(resolution.note, modeNote)
  const other = input.managedBy(resource, mode)
  return other === undefined ? { run: mode, resource, note } : { run: 'yield', to: other, resource, note }
}

/** The resource that was resolved for the same spec while the kind was served. */
function lastResolved({ status, generation }: PlanInput): LeasedResource | undefined {
  return status?.observedGeneration === generation ? status?.resource : undefined
}

function modeOf(
  { mode }: LeaseControllerSpec,
  { defaultMode, canDeploy }: PlanOptions,
): { readonly mode: LeaseControllerMode; readonly note: string | undefined } {
  const wanted = mode ?? defaultMode
  if (wanted === 'shared' || canDeploy) return { mode: wanted, note: undefined }
  return { mode: 'shared', note: 'no image for dedicated controllers is set; running inside the operator' }
}

function notes(...texts: readonly (string | undefined)[]): string | undefined {
  const given = texts.filter((text) => text !== undefined)
  return given.length > 0 ? given.join('; ') : undefined
}

function nothing(reason: string, message: string): LeaseControllerPlan {
  return { run: 'nothing', condition: { reason, message } }
}
