import type { JsonObject } from '@tenure/kube/model'
import { asJsonObject, asString, isJsonObject, valueAtPath } from '@tenure/kube/model'

import { hasCondition } from '../../../model/conditions.ts'
import { asJsonObjects, asNumber } from '../../../model/json.ts'
import { createdAt, isBeingDeleted, nameOf, orNone } from '../../common/columns.ts'
import type { ColumnValues } from '../../common/kind-table.ts'

interface PodSummary {
  ready: number
  restarts: number
  lastRestart: string
  reason: string
}

const isSidecar = (container: JsonObject | undefined): boolean => container?.['restartPolicy'] === 'Always'

function countRestarts(summary: Pick<PodSummary, 'restarts' | 'lastRestart'>, container: JsonObject): void {
  summary.restarts += asNumber(container['restartCount'])
  const finished = asString(valueAtPath(container, 'lastState', 'terminated', 'finishedAt'))
  if (finished > summary.lastRestart) summary.lastRestart = finished
}

/** The columns of a pod; the status is derived from its containers. */
export const podColumns: ColumnValues = (pod, age) => {
  const spec = asJsonObject(pod['spec'])
  const status = asJsonObject(pod['status'])
  const initContainers = asJsonObjects(spec['initContainers'])
  const total = asJsonObjects(spec['containers']).length + initContainers.filter(isSidecar).length
  const summary: PodSummary = {
    ready: 0,
    restarts: 0,
    lastRestart: '',
    reason: asString(status['reason']) || asString(status['phase']),
  }
  if (
    asJsonObjects(status['conditions']).some(
      ({ type, reason }) => type === 'PodScheduled' && reason === 'SchedulingGated',
    )
  ) {
    summary.reason = 'SchedulingGated'
  }
  const sidecars = { restarts: 0, lastRestart: '' }
  const isInitializing = summarizeInitContainers(
    initContainers,
    asJsonObjects(status['initContainerStatuses']),
    summary,
    sidecars,
  )
  if (!isInitializing || hasCondition(pod, 'Initialized')) {
    Object.assign(summary, sidecars)
    summarizeContainers(pod, asJsonObjects(status['containerStatuses']), summary)
  }
  const isOver = status['phase'] === 'Succeeded' || status['phase'] === 'Failed'
  if (isBeingDeleted(pod)) {
    if (status['reason'] === 'NodeLost') summary.reason = 'Unknown'
    else if (!isOver) summary.reason = 'Terminating'
  }
  const restarts =
    summary.restarts !== 0 && summary.lastRestart
      ? `${summary.restarts} (${age(summary.lastRestart)} ago)`
      : String(summary.restarts)
  return [
    nameOf(pod),
    `${summary.ready}/${total}`,
    summary.reason,
    restarts,
    age(createdAt(pod)),
    orNone(asJsonObjects(status['podIPs'])[0]?.['ip']),
    orNone(spec['nodeName']),
    orNone(status['nominatedNodeName']),
    readinessGates(pod, asJsonObjects(spec['readinessGates'])),
  ]
}

/** Returns whether the init containers are still running. */
function summarizeInitContainers(
  containers: readonly JsonObject[],
  statuses: readonly JsonObject[],
  summary: PodSummary,
  sidecars: Pick<PodSummary, 'restarts' | 'lastRestart'>,
): boolean {
  for (const [index, status] of statuses.entries()) {
    countRestarts(summary, status)
    const isSide = isSidecar(containers.find(({ name }) => name === status['name']))
    if (isSide) countRestarts(sidecars, status)
    const terminated = valueAtPath(status, 'state', 'terminated')
    const waiting = asString(valueAtPath(status, 'state', 'waiting', 'reason'))
    if (isJsonObject(terminated) && asNumber(terminated['exitCode']) === 0) continue
    if (isSide && status['started'] === true) {
      if (status['ready'] === true) summary.ready++
      continue
    }
    if (isJsonObject(terminated)) summary.reason = `Init:${exitReason(terminated)}`
    else if (waiting && waiting !== 'PodInitializing') summary.reason = `Init:${waiting}`
    else summary.reason = `Init:${index}/${containers.length}`
    return true
  }
  return false
}

function exitReason(terminated: JsonObject): string {
  if (terminated['reason']) return asString(terminated['reason'])
  const signal = asNumber(terminated['signal'])
  return signal === 0 ? `ExitCode:${asNumber(terminated['exitCode'])}` : `Signal:${signal}`
}

function summarizeContainers(pod: JsonObject, statuses: readonly JsonObject[], summary: PodSummary): void {
  let hasRunning = false
  let failure = ''
  for (const status of statuses.toReversed()) {
    countRestarts(summary, status)
    const waiting = asString(valueAtPath(status, 'state', 'waiting', 'reason'))
    const terminated = valueAtPath(status, 'state', 'terminated')
    if (waiting) summary.reason = waiting
    else if (isJsonObject(terminated)) {
      summary.reason = exitReason(terminated)
      if (asNumber(terminated['exitCode']) !== 0) failure = summary.reason
    } else if (status['ready'] === true && valueAtPath(status, 'state', 'running') !== undefined) {
      hasRunning = true
      summary.ready++
    }
  }
  if (summary.reason !== 'Completed') return
  if (hasRunning && hasCondition(pod, 'Ready')) summary.reason = 'Running'
  else if (failure) summary.reason = failure
  else if (hasRunning) summary.reason = 'NotReady'
}

function readinessGates(pod: JsonObject, gates: readonly JsonObject[]): string {
  if (gates.length === 0) return '<none>'
  const open = gates.filter(({ conditionType }) => hasCondition(pod, asString(conditionType)))
  return `${open.length}/${gates.length}`
}
