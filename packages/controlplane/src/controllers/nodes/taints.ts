import { isDeepEqual } from '@tenure/kube/model'
import { Node, type Taint } from '@tenure/kube/kinds'
import { controller, patch } from '@tenure/runtime'
import { builtIn } from '../component.ts'

const PREFIX = 'node.kubernetes.io/'

/** Conditions that taint a node. */
const TAINTS: readonly (readonly [condition: string, status: string, taint: string])[] = [
  ['Ready', 'False', 'not-ready'],
  ['Ready', 'Unknown', 'unreachable'],
  ['MemoryPressure', 'True', 'memory-pressure'],
  ['DiskPressure', 'True', 'disk-pressure'],
  ['NetworkUnavailable', 'True', 'network-unavailable'],
  ['PIDPressure', 'True', 'pid-pressure'],
]
const UNSCHEDULABLE = 'unschedulable'
const MANAGED_TAINTS = new Set([...TAINTS.map(([, , taint]) => taint), UNSCHEDULABLE].map((taint) => PREFIX + taint))

const isManaged = ({ key, effect }: Taint): boolean => effect === 'NoSchedule' && MANAGED_TAINTS.has(key)

/** Sets and removes NoSchedule taints by the conditions of a node. */
export const nodeTaints = builtIn('node-lifecycle', () =>
  controller(Node, {
    name: 'node-lifecycle',
    plan: ({ object: node }) => {
      const taints = taintsOf(node)
      return isDeepEqual(node.spec?.taints ?? [], taints) ? [] : [patch(Node, node, { spec: { taints } })]
    },
  }),
)

/** The desired taints: managed ones follow the conditions, others stay unchanged. */
export function taintsOf({ spec, status }: Node): readonly Taint[] {
  const conditions = status?.conditions ?? []
  const hasNoReadyCondition = !conditions.some(({ type }) => type === 'Ready')
  const wanted = TAINTS.filter(([condition, value]) =>
    conditions.some(({ type, status: is }) => type === condition && is === value),
  ).map(([, , taint]) => PREFIX + taint)
  if (spec?.unschedulable) wanted.push(PREFIX + UNSCHEDULABLE)
  const before = spec?.taints ?? []
  // A node without Ready condition keeps its initial not-ready taint.
  const isKept = (taint: Taint): boolean =>
    !isManaged(taint) || wanted.includes(taint.key) || (hasNoReadyCondition && taint.key === `${PREFIX}not-ready`)
  const kept = before.filter(isKept)
  const added = wanted.filter((key) => !kept.some((taint) => taint.key === key && taint.effect === 'NoSchedule'))
  return added.length === 0 && kept.length === before.length
    ? before
    : [...kept, ...added.map((key): Taint => ({ key, effect: 'NoSchedule' }))]
}
