import type { Node, NodeSelectorRequirement, NodeSelectorTerm, Pod, Taint, Toleration } from '@tenure/kube/kinds'
import { hasLabels } from '../common/labels.ts'

/** The reason of kube-scheduler why a pod does not fit a node; undefined if it fits. */
export function unschedulableReason(pod: Pod, node: Node): string | undefined {
  const tolerations = pod.spec?.tolerations ?? []
  const unschedulable: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }
  if (node.spec?.unschedulable && !isTolerated(unschedulable, tolerations)) return 'node(s) were unschedulable'
  if (!isSelected(pod, node)) return "node(s) didn't match Pod's node affinity/selector"
  const taint = (node.spec?.taints ?? []).find(
    (each) => each.effect !== 'PreferNoSchedule' && !isTolerated(each, tolerations),
  )
  return taint ? 'node(s) had untolerated taint(s)' : undefined
}

/** The message of kube-scheduler for a pod that fits no node. */
export function unschedulableMessage(reasons: readonly string[]): string {
  if (reasons.length === 0) return 'no nodes available to schedule pods'
  const all = `0/${reasons.length} nodes are available`
  const counts = Map.groupBy(reasons, (reason) => reason)
  const texts = [...counts].map(([text, same]) => `${same.length} ${text}`).toSorted()
  return `${all}: ${texts.join(', ')}. no new claims to deallocate, preemption: ${all}: ${reasons.length} Preemption is not helpful for scheduling.`
}

export function isSelected(pod: Pod, node: Node): boolean {
  if (!hasLabels(node.metadata?.labels, pod.spec?.nodeSelector)) return false
  const terms = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms
  return terms === undefined || terms.some((term) => meets(term, node))
}

function meets(term: NodeSelectorTerm, node: Node): boolean {
  const { matchExpressions = [], matchFields = [] } = term
  if (matchExpressions.length + matchFields.length === 0) return false
  const labels = node.metadata?.labels ?? {}
  return (
    matchExpressions.every((each) => holds(each, Object.hasOwn(labels, each.key) ? labels[each.key] : undefined)) &&
    matchFields.every((each) => holds(each, each.key === 'metadata.name' ? node.metadata?.name : undefined))
  )
}

function holds({ operator, values = [] }: NodeSelectorRequirement, value: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    case 'Gt':
      return value !== undefined && Number(value) > Number(values[0])
    case 'Lt':
      return value !== undefined && Number(value) < Number(values[0])
    default:
      return false
  }
}

export function isTolerated(taint: Taint, tolerations: readonly Toleration[]): boolean {
  return tolerations.some(
    ({ effect, key, operator = 'Equal', value = '' }) =>
      (!effect || effect === taint.effect) &&
      (key ? key === taint.key : operator === 'Exists') &&
      (operator === 'Exists' || value === (taint.value ?? '')),
  )
}
