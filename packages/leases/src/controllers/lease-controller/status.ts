import { defineKind, type Kind, kindKey, TenureError } from '@tenure/kube'
import type { Deployment } from '@tenure/kube/kinds'
import { type NewCondition, rfc3339, setCondition } from '@tenure/runtime'
import type { LeaseControllerMode, LeaseControllerStatus, LeasedResource } from '../../api/lease-controller.ts'
import { NAME_TAKEN } from './name-taken.ts'
import type { LeaseControllerPlan, ConditionReason } from './plan.ts'
import type { SharedControllerState } from './kind-controllers.ts'
import type { LeaseReport } from './report.ts'

/** The observed state of the controller. */
export interface ObservedController {
  readonly deployment: Deployment | undefined
  /** Report of the dedicated controller. */
  readonly report: LeaseReport | undefined
  /** State of the controller inside the operator. */
  readonly shared: SharedControllerState | undefined
}

export interface StatusFacts {
  readonly name: string
  readonly before: LeaseControllerStatus | undefined
  readonly generation: number | undefined
  readonly plan: LeaseControllerPlan
  readonly observed: ObservedController
  /** The error of the actions, if one failed. */
  readonly failure: Error | undefined
  readonly now: number
}

/** `isAvailable` means that leases are managed, even if something else is wrong. */
interface State extends ConditionReason {
  readonly isAvailable: boolean
  readonly isReady: boolean
}

/** The whole status. Pure. */
export function statusOf(facts: StatusFacts): LeaseControllerStatus {
  const { before, plan, failure, generation, now } = facts
  const state = failure ? failed(failure, observedState(facts)) : observedState(facts)
  const condition = (type: string, isTrue: boolean): NewCondition => ({
    type,
    status: isTrue ? 'True' : 'False',
    reason: state.reason,
    message: state.message,
    ...(generation !== undefined && { observedGeneration: generation }),
  })
  const available = setCondition(before?.conditions, condition('Available', state.isAvailable), now)
  const { resource } = plan
  const mode = modeOf(plan)
  const report = reportOf(facts)
  return {
    ...(generation !== undefined && { observedGeneration: generation }),
    conditions: setCondition(available, condition('Ready', state.isReady), now),
    ...(mode && { mode }),
    ...(resource && { resource, target: kindKey(kindOf(resource)) }),
    ...('note' in plan && plan.note !== undefined && { note: plan.note }),
    ...(report && { activeLeases: report.activeLeases }),
    ...(report?.nextExpiry !== undefined && { nextExpiry: rfc3339(report.nextExpiry) }),
  }
}

export function kindOf({ group, version, kind, plural, namespaced }: LeasedResource): Kind {
  return defineKind({ apiVersion: group ? `${group}/${version}` : version, kind, plural, namespaced })
}

function modeOf(plan: LeaseControllerPlan): LeaseControllerMode | undefined {
  if (plan.run === 'nothing' || plan.run === 'yield') return undefined
  return plan.run === 'wait' ? plan.mode : plan.run
}

function reportOf({ plan, observed }: StatusFacts): LeaseReport | undefined {
  const mode = modeOf(plan)
  return mode === 'dedicated' ? observed.report : mode === 'shared' ? observed.shared : undefined
}

function observedState(facts: StatusFacts): State {
  const { plan, observed, name } = facts
  switch (plan.run) {
    case 'nothing':
    case 'wait':
      return { ...plan.condition, isAvailable: false, isReady: false }
    case 'yield':
      return running(`The Deployment of ${plan.to} manages the leases.`)
    case 'dedicated':
      return dedicatedState(observed)
    default:
      return sharedState(observed.shared, name)
  }
}

function dedicatedState({ deployment, report }: ObservedController): State {
  const { conditions = [], observedGeneration } = deployment?.status ?? {}
  const available = conditions.find(({ type }) => type === 'Available')
  if (!deployment || available?.status !== 'True') {
    const message = available?.message ?? 'The Deployment of the controller has no status yet.'
    return { isAvailable: false, isReady: false, reason: 'DeploymentUnavailable', message }
  }
  if (deployment.spec?.replicas === 0) {
    const message = 'The Deployment of the controller is scaled to zero.'
    return { isAvailable: false, isReady: false, reason: 'NoReplicas', message }
  }
  if (report?.problem !== undefined) return degraded(report.problem)
  if (observedGeneration !== deployment.metadata?.generation || isRollingOut(deployment)) {
    const message = 'The Deployment of the controller is being rolled out.'
    return { isAvailable: true, isReady: false, reason: 'RollingOut', message }
  }
  return running('The Deployment manages the leases.')
}

function isRollingOut({ spec, status }: Deployment): boolean {
  const wanted = spec?.replicas ?? 1
  return (status?.updatedReplicas ?? 0) < wanted || (status?.availableReplicas ?? 0) < wanted
}

function sharedState(shared: SharedControllerState | undefined, name: string): State {
  if (shared?.problem !== undefined) return degraded(shared.problem)
  if (!shared?.isStarted) {
    return { isAvailable: false, isReady: false, reason: 'Starting', message: 'The controller is starting.' }
  }
  const whose = shared.decidedBy === name ? '' : `, with the settings of ${shared.decidedBy}`
  return running(`The operator manages the leases${whose}.`)
}

function running(message: string): State {
  return { isAvailable: true, isReady: true, reason: 'Running', message }
}

function degraded(problem: string): State {
  return { isAvailable: false, isReady: false, reason: 'Degraded', message: problem }
}

/** A failed update does not stop a running controller. */
function failed(failure: Error, { isAvailable }: State): State {
  const isTaken = failure instanceof TenureError && failure.code === NAME_TAKEN
  return { isAvailable, isReady: false, reason: isTaken ? 'NameTaken' : 'ApplyFailed', message: failure.message }
}
