import { isConflict, isNotFound, mergePatch } from '@tenure/kube'
import { Node, type Taint } from '@tenure/kube/kinds'
import { controller } from '@tenure/runtime'
import { sameJson } from '../common/json.ts'
import { builtIn } from '../component.ts'

const PREFIX = 'node.kubernetes.io/'

/** Which condition, being what, keeps pods away, and under what name. */
const TAINTS: readonly (readonly [condition: string, status: string, taint: string])[] = [
  ['Ready', 'False', 'not-ready'],
  ['Ready', 'Unknown', 'unreachable'],
  ['MemoryPressure', 'True', 'memory-pressure'],
  ['DiskPressure', 'True', 'disk-pressure'],
  ['NetworkUnavailable', 'True', 'network-unavailable'],
  ['PIDPressure', 'True', 'pid-pressure'],
]
const UNSCHEDULABLE = 'unschedulable'
const OURS = new Set([...TAINTS.map(([, , taint]) => taint), UNSCHEDULABLE].map((taint) => PREFIX + taint))

const isOurs = ({ key, effect }: Taint): boolean => effect === 'NoSchedule' && OURS.has(key)

/** Marks nodes on which nothing should start, and takes the mark off again: every node is marked when it is new. */
export const nodeTaints = builtIn('node-lifecycle', () =>
  controller(Node, {
    name: 'node-lifecycle',
    async reconcile({ api, object: node, signal }) {
      const taints = node.spec?.taints ?? []
      const next = taintsOf(node)
      if (sameJson(taints, next)) return
      const { name, resourceVersion } = node.metadata
      try {
        await api.patch(Node, { name }, mergePatch({ metadata: { resourceVersion }, spec: { taints: next } }), {
          signal,
        })
      } catch (error) {
        // Somebody else wrote first: that event brings it here again.
        if (!isConflict(error) && !isNotFound(error)) throw error
      }
    },
  }),
)

/** The taints that a node should have: those of others as they are, and ours as its conditions say. */
export function taintsOf({ spec, status }: Node): readonly Taint[] {
  const conditions = status?.conditions ?? []
  const isSilent = !conditions.some(({ type }) => type === 'Ready')
  const wanted = TAINTS.filter(([condition, value]) =>
    conditions.some(({ type, status: is }) => type === condition && is === value),
  ).map(([, , taint]) => PREFIX + taint)
  if (spec?.unschedulable) wanted.push(PREFIX + UNSCHEDULABLE)
  const before = spec?.taints ?? []
  // A node that has not said whether it is ready keeps the mark it was born with.
  const isKept = (taint: Taint): boolean =>
    !isOurs(taint) || wanted.includes(taint.key) || (isSilent && taint.key === `${PREFIX}not-ready`)
  const kept = before.filter(isKept)
  const added = wanted.filter((key) => !kept.some((taint) => taint.key === key && taint.effect === 'NoSchedule'))
  return added.length === 0 && kept.length === before.length
    ? before
    : [...kept, ...added.map((key): Taint => ({ key, effect: 'NoSchedule' }))]
}
