import { hasCondition } from '../../../model/conditions.ts'
import type { Json } from '../../../model/json.ts'
import { asJson, asJsons, asNumber, asText, at, isJson } from '../../../model/json.ts'
import { createdAt, isBeingDeleted, nameOf, orNone } from '../../common/columns.ts'
import type { ColumnValues } from '../../common/kind-table.ts'

interface Tally {
  ready: number
  restarts: number
  lastRestart: string
  reason: string
}

const isSidecar = (container: Json | undefined): boolean => container?.['restartPolicy'] === 'Always'

function countRestarts(tally: Pick<Tally, 'restarts' | 'lastRestart'>, container: Json): void {
  tally.restarts += asNumber(container['restartCount'])
  const finished = asText(at(container, 'lastState', 'terminated', 'finishedAt'))
  if (finished > tally.lastRestart) tally.lastRestart = finished
}

/** The columns of a pod; the status is derived from its containers. */
export const podColumns: ColumnValues = (pod, age) => {
  const spec = asJson(pod['spec'])
  const status = asJson(pod['status'])
  const initContainers = asJsons(spec['initContainers'])
  const total = asJsons(spec['containers']).length + initContainers.filter(isSidecar).length
  const tally: Tally = {
    ready: 0,
    restarts: 0,
    lastRestart: '',
    reason: asText(status['reason']) || asText(status['phase']),
  }
  if (
    asJsons(status['conditions']).some(({ type, reason }) => type === 'PodScheduled' && reason === 'SchedulingGated')
  ) {
    tally.reason = 'SchedulingGated'
  }
  const sidecars = { restarts: 0, lastRestart: '' }
  const isInitializing = lookAtInitContainers(initContainers, asJsons(status['initContainerStatuses']), tally, sidecars)
  if (!isInitializing || hasCondition(pod, 'Initialized')) {
    Object.assign(tally, sidecars)
    lookAtContainers(pod, asJsons(status['containerStatuses']), tally)
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
    orNone(asJsons(status['podIPs'])[0]?.['ip']),
    orNone(spec['nodeName']),
    orNone(status['nominatedNodeName']),
    readinessGates(pod, asJsons(spec['readinessGates'])),
  ]
}

/** Returns whether the init containers are still running. */
function lookAtInitContainers(
  containers: readonly Json[],
  statuses: readonly Json[],
  tally: Tally,
  sidecars: Pick<Tally, 'restarts' | 'lastRestart'>,
): boolean {
  for (const [index, status] of statuses.entries()) {
    countRestarts(tally, status)
    const isSide = isSidecar(containers.find(({ name }) => name === status['name']))
    if (isSide) countRestarts(sidecars, status)
    const terminated = at(status, 'state', 'terminated')
    const waiting = asText(at(status, 'state', 'waiting', 'reason'))
    if (isJson(terminated) && asNumber(terminated['exitCode']) === 0) continue
    if (isSide && status['started'] === true) {
      if (status['ready'] === true) tally.ready++
      continue
    }
    if (isJson(terminated)) tally.reason = `Init:${exitReason(terminated)}`
    else if (waiting && waiting !== 'PodInitializing') tally.reason = `Init:${waiting}`
    else tally.reason = `Init:${index}/${containers.length}`
    return true
  }
  return false
}

function exitReason(terminated: Json): string {
  if (terminated['reason']) return asText(terminated['reason'])
  const signal = asNumber(terminated['signal'])
  return signal === 0 ? `ExitCode:${asNumber(terminated['exitCode'])}` : `Signal:${signal}`
}

function lookAtContainers(pod: Json, statuses: readonly Json[], tally: Tally): void {
  let hasRunning = false
  let failure = ''
  for (const status of statuses.toReversed()) {
    countRestarts(tally, status)
    const waiting = asText(at(status, 'state', 'waiting', 'reason'))
    const terminated = at(status, 'state', 'terminated')
    if (waiting) tally.reason = waiting
    else if (isJson(terminated)) {
      tally.reason = exitReason(terminated)
      if (asNumber(terminated['exitCode']) !== 0) failure = tally.reason
    } else if (status['ready'] === true && at(status, 'state', 'running') !== undefined) {
      hasRunning = true
      tally.ready++
    }
  }
  if (tally.reason !== 'Completed') return
  if (hasRunning && hasCondition(pod, 'Ready')) tally.reason = 'Running'
  else if (failure) tally.reason = failure
  else if (hasRunning) tally.reason = 'NotReady'
}

function readinessGates(pod: Json, gates: readonly Json[]): string {
  if (gates.length === 0) return '<none>'
  const open = gates.filter(({ conditionType }) => hasCondition(pod, asText(conditionType)))
  return `${open.length}/${gates.length}`
}
