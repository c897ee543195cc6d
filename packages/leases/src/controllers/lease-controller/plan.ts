import { optInProblem } from '../lease/namespace-filter.ts'
import type {
  LeaseControllerMode,
  LeaseControllerSpec,
  LeaseControllerStatus,
  LeasedResource,
} from '../../api/lease-controller.ts'
import type { Resolution } from './resolve-kind.ts'
import type { Target } from './target.ts'

/** What is to be done about one LeaseController. */
export type LeaseControllerPlan =
  /** Its leases are kept: by a Deployment of its own or by this process. */
  | {
      readonly run: LeaseControllerMode
      readonly resource: LeasedResource
      readonly note: string | undefined
    }
  /** Its kind is away for now: what keeps it waits for it, and is left alone. */
  | {
      readonly run: 'wait'
      readonly mode: LeaseControllerMode
      readonly resource: LeasedResource
      readonly why: ConditionReason
    }
  /** Its leases are kept already, by the Deployment of another. */
  | { readonly run: 'yield'; readonly to: string; readonly resource: LeasedResource; readonly note: string | undefined }
  /** Nothing is to run. */
  | { readonly run: 'nothing'; readonly why: ConditionReason; readonly resource?: undefined }

/** A condition's reason and message. */
export interface ConditionReason {
  readonly reason: string
  readonly message: string
}

export interface PlanOptions {
  /** For a LeaseController that does not say. */
  readonly defaultMode: LeaseControllerMode
  /** False: nowhere to deploy to, so that `dedicated` means `shared`, with a note. */
  readonly canDeploy: boolean
}

export interface Facts {
  readonly spec: LeaseControllerSpec
  readonly status: LeaseControllerStatus | undefined
  readonly generation: number | undefined
  readonly target: Target
  /** Undefined: there was no target to look for. */
  readonly resolution: Resolution | undefined
  /** Another LeaseController that keeps the leases of a resource in a Deployment of its own, so that this one need not. */
  readonly keptBy: (resource: LeasedResource, mode: LeaseControllerMode) => string | undefined
}

/** Pure. */
export function planLeaseController(facts: Facts, options: PlanOptions): LeaseControllerPlan {
  const { spec, target, resolution } = facts
  if (!target.ok) return nothing('InvalidSpec', target.reason)
  const optIn = spec.optIn && optInProblem(spec.optIn)
  if (optIn !== undefined) return nothing('InvalidSpec', `spec.optIn: ${optIn}.`)
  if (!resolution || resolution.state === 'unfit') return nothing('KindUnfit', resolution?.reason ?? '')
  if (spec.suspend) return nothing('Suspended', 'spec.suspend is set: no leases are kept.')
  const { mode, note } = modeOf(spec, options)
  if (resolution.state === 'missing') {
    const why = { reason: 'KindNotServed', message: resolution.reason }
    const before = knownBefore(facts)
    return before ? { run: 'wait', mode, resource: before, why } : { run: 'nothing', why }
  }
  const { resource } = resolution
  const said = notes(resolution.note, note)
  const keeper = facts.keptBy(resource, mode)
  return keeper === undefined ? { run: mode, resource, note: said } : { run: 'yield', to: keeper, resource, note: said }
}

/** What was resolved for this very spec, while the kind was there. */
function knownBefore({ status, generation }: Facts): LeasedResource | undefined {
  return status?.observedGeneration === generation ? status?.resource : undefined
}

function modeOf(
  { mode }: LeaseControllerSpec,
  { defaultMode, canDeploy }: PlanOptions,
): { readonly mode: LeaseControllerMode; readonly note: string | undefined } {
  const wanted = mode ?? defaultMode
  if (wanted === 'shared' || canDeploy) return { mode: wanted, note: undefined }
  return { mode: 'shared', note: 'there is nowhere to deploy to; the operator keeps the leases itself' }
}

function notes(...texts: readonly (string | undefined)[]): string | undefined {
  const said = texts.filter((text) => text !== undefined)
  return said.length > 0 ? said.join('; ') : undefined
}

function nothing(reason: string, message: string): LeaseControllerPlan {
  return { run: 'nothing', why: { reason, message } }
}
