import { defineKind, type Kind, kindKey } from '@tenure/kube'
import type { Deployment } from '@tenure/kube/kinds'
import { type NewCondition, rfc3339, setCondition } from '@tenure/runtime'
import type { LeaseControllerMode, LeaseControllerStatus, LeasedResource } from '../../api/lease-controller.ts'
import type { LeaseControllerPlan, ConditionReason } from './plan.ts'
import type { Kept } from './kind-controllers.ts'
import type { LeaseReport } from './report.ts'

/** What is seen of that which keeps the leases. */
export interface Observed {
  readonly deployment: Deployment | undefined
  /** Of the dedicated controller. */
  readonly report: LeaseReport | undefined
  /** Of the keeper in this process. */
  readonly kept: Kept | undefined
}

export interface StatusFacts {
  readonly name: string
  readonly before: LeaseControllerStatus | undefined
  readonly generation: number | undefined
  readonly decision: LeaseControllerPlan
  readonly observed: Observed
  /** What went wrong with carrying the decision out. */
  readonly failure: Error | undefined
  readonly now: number
}

/** How it is going, in the words of a condition. `isAvailable`: the leases are being kept, whatever else is amiss. */
interface State extends ConditionReason {
  readonly isAvailable: boolean
  readonly isReady: boolean
}

/** Pure. The whole status. */
export function statusOf(facts: StatusFacts): LeaseControllerStatus {
  const { before, decision, failure, generation, now } = facts
  const state = failure ? failed(failure, observedState(facts)) : observedState(facts)
  const condition = (type: string, isTrue: boolean): NewCondition => ({
    type,
    status: isTrue ? 'True' : 'False',
    reason: state.reason,
    message: state.message,
    ...(generation !== undefined && { observedGeneration: generation }),
  })
  const available = setCondition(before?.conditions, condition('Available', state.isAvailable), now)
  const { resource } = decision
  const mode = modeOf(decision)
  const report = reportOf(facts)
  return {
    ...(generation !== undefined && { observedGeneration: generation }),
    conditions: setCondition(available, condition('Ready', state.isReady), now),
    ...(mode && { mode }),
    ...(resource && { resource, target: kindKey(kindOf(resource)) }),
    ...('note' in decision && decision.note !== undefined && { note: decision.note }),
    ...(report && { activeLeases: report.activeLeases }),
    ...(report?.nextExpiry !== undefined && { nextExpiry: rfc3339(report.nextExpiry) }),
  }
}

export function kindOf({ group, version, kind, plural, namespaced }: LeasedResource): Kind {
  return defineKind({ apiVersion: group ? `${group}/${version}` : version, kind, plural, namespaced })
}

function modeOf(decision: LeaseControllerPlan): LeaseControllerMode | undefined {
  if (decision.run === 'nothing' || decision.run === 'yield') return undefined
  return decision.run === 'wait' ? decision.mode : decision.run
}

function reportOf({ decision, observed }: StatusFacts): LeaseReport | undefined {
  const mode = modeOf(decision)
  return mode === 'dedicated' ? observed.report : mode === 'shared' ? observed.kept : undefined
}

function observedState(facts: StatusFacts): State {
  const { decision, observed, name } = facts
  switch (decision.run) {
    case 'nothing':
    case 'wait':
      return { ...decision.why, isAvailable: false, isReady: false }
    case 'yield':
      return running(`Leases are kept by the Deployment of ${decision.to}.`)
    case 'dedicated':
      return dedicatedState(observed)
    default:
      return sharedState(observed.kept, name)
  }
}

function dedicatedState({ deployment, report }: Observed): State {
  const { conditions = [], observedGeneration } = deployment?.status ?? {}
  const available = conditions.find(({ type }) => type === 'Available')
  if (!deployment || available?.status !== 'True') {
    const message = available?.message ?? 'The Deployment of the controller has not been looked at yet.'
    return { isAvailable: false, isReady: false, reason: 'DeploymentUnavailable', message }
  }
  if (deployment.spec?.replicas === 0) {
    const message = 'The Deployment of the controller is scaled to nothing.'
    return { isAvailable: false, isReady: false, reason: 'NoReplicas', message }
  }
  if (report?.problem !== undefined) return degraded(report.problem)
  if (observedGeneration !== deployment.metadata?.generation || isRollingOut(deployment)) {
    const message = 'The Deployment of the controller is being rolled out.'
    return { isAvailable: true, isReady: false, reason: 'RollingOut', message }
  }
  return running('Leases are kept by the Deployment.')
}

function isRollingOut({ spec, status }: Deployment): boolean {
  const wanted = spec?.replicas ?? 1
  return (status?.updatedReplicas ?? 0) < wanted || (status?.availableReplicas ?? 0) < wanted
}

function sharedState(kept: Kept | undefined, name: string): State {
  if (kept?.problem !== undefined) return degraded(kept.problem)
  if (!kept?.isStarted) {
    return { isAvailable: false, isReady: false, reason: 'Starting', message: 'The keeping of leases begins.' }
  }
  const whose = kept.decidedBy === name ? '' : `, with the settings of ${kept.decidedBy}`
  return running(`Leases are kept by the operator${whose}.`)
}

function running(message: string): State {
  return { isAvailable: true, isReady: true, reason: 'Running', message }
}

function degraded(problem: string): State {
  return { isAvailable: false, isReady: false, reason: 'Degraded', message: problem }
}

/** What runs goes on running. */
function failed(failure: Error, { isAvailable }: State): State {
  return { isAvailable, isReady: false, reason: 'ApplyFailed', message: failure.message }
}
