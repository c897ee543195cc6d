import type { JsonObject } from '@tenure/kube/model'
import { asJsonObject, asString, isJsonObject, valueAtPath } from '@tenure/kube/model'

import { hasCondition } from '../../../model/conditions.ts'
import { asJsonObjects, asNumber } from '../../../model/json.ts'
import { createdAt, isBeingDeleted, nameOf, orNone } from '../../common/columns.ts'
import type { ColumnValues } from '../../common/kind-table.ts'

interface Tally {
  ready: number
  restarts: number
  lastRestart: string
  reason: string
}

const isSidecar = (container: JsonObject | undefined): boolean => container?.['restartPolicy'] === 'Always'

function countRestarts(tally: Pick<Tally, 'restarts' | 'lastRestart'>, container: JsonObject): void {
  tally.restarts += asNumber(container['restartCount'])
  const finished = asString(valueAtPath(container, 'lastState', 'terminated', 'finishedAt'))
  if (finished > tally.lastRestart) tally.lastRestart = finished
}

/** The columns of a pod; the status is derived from its containers. */
export const podColumns: ColumnValues = (pod, age) => {
  const spec = asJsonObject(pod['spec'])
  const status = asJsonObject(pod['status'])
  const initContainers = asJsonObjects(spec['initContainers'])
  const total = asJsonObjects(spec['containers']).length + initContainers.filter(isSidecar).length
  const tally: Tally = {
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
    tally.reason = 'SchedulingGated'
  }
  const sidecars = { restarts: 0, lastRestart: '' }
  const isInitializing = lookAtInitContainers(
    initContainers,
    asJsonObjects(status['initContainerStatuses']),
    tally,
    sidecars,
  )
  if (!isInitializing || hasCondition(pod, 'Initialized')) {
    Object.assign(tally, sidecars)
    lookAtContainers(pod, asJsonObjects(status['containerStatuses']), tally)
  }
  const isOver = status['phase'] === 'Succeeded' || status['phase'] === 'Failed'
  if (isBeingDeleted(pod)) {
    if (status['reason'] === 'NodeLost') tally.reason = 'Unknown'
    else if (!isOver) tally.reason = 'Terminating'
  }
  const restarts =
    tally.restarts !== 0 && tally.lastRestart
      ? `${tally.restarts} (${age(tally.lastRestart)} ago)`
      : String(tally.restarts)
  return [
    nameOf(pod),
    `${tally.ready}/${total}`,
    tally.reason,
    restarts,
    age(createdAt(pod)),
    orNone(asJsonObjects(status['podIPs'])[0]?.['ip']),
    orNone(spec['nodeName']),
    orNone(status['nominatedNodeName']),
    readinessGates(pod, asJsonObjects(spec['readinessGates'])),
  ]
}

/** Returns whether the init containers are still running. */
function lookAtInitContainers(
  containers: readonly JsonObject[],
  statuses: readonly JsonObject[],
  tally: Tally,
  sidecars: Pick<Tally, 'restarts' | 'lastRestart'>,
): boolean {
  for (const [index, status] of statuses.entries()) {
    countRestarts(tally, status)
    const isSide = isSidecar(containers.find(({ name }) => name === status['name']))
    if (isSide) countRestarts(sidecars, status)
    const terminated = valueAtPath(status, 'state', 'terminated')
    const waiting = asString(valueAtPath(status, 'state', 'waiting', 'reason'))
    if (isJsonObject(terminated) && asNumber(terminated['exitCode']) === 0) continue
    if (isSide && status['started'] === true) {
      if (status['ready'] === true) tally.ready++
      continue
    }
    if (isJsonObject(terminated)) tally.reason = `Init:${exitReason(terminated)}`
    else if (waiting && waiting !== 'PodInitializing') tally.reason = `Init:${waiting}`
    else tally.reason = `Init:${index}/${containers.length}`
    return true
  }
  return false
}

function exitReason(terminated: JsonObject): string {
  if (terminated['reason']) return asString(terminated['reason'])
  const signal = asNumber(terminated['signal'])
  return signal === 0 ? `ExitCode:${asNumber(terminated['exitCode'])}` : `Signal:${signal}`
}

function lookAtContainers(pod: JsonObject, statuses: readonly JsonObject[], tally: Tally): void {
  let hasRunning = false
  let failure = ''
  for (const status of statuses.toReversed()) {
    countRestarts(tally, status)
    const waiting = asString(valueAtPath(status, 'state', 'waiting', 'reason'))
    const terminated = valueAtPath(status, 'state', 'terminated')
    if (waiting) tally.reason = waiting
    else if (isJsonObject(terminated)) {
      tally.reason = exitReason(terminated)
      if (asNumber(terminated['exitCode']) !== 0) failure = tally.reason
    } else if (status['ready'] === true && valueAtPath(status, 'state', 'running') !== undefined) {
      hasRunning = true
      tally.ready++
    }
  }
  if (tally.reason !== 'Completed') return
  if (hasRunning && hasCondition(pod, 'Ready')) tally.reason = 'Running'
  else if (failure) tally.reason = failure
  else if (hasRunning) tally.reason = 'NotReady'
}

function readinessGates(pod: JsonObject, gates: readonly JsonObject[]): string {
  if (gates.length === 0) return '<none>'
  const open = gates.filter(({ conditionType }) => hasCondition(pod, asString(conditionType)))
  return `${open.length}/${gates.length}`
}
