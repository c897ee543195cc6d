import type { KubeObject } from '@tenure/kube'
import { asArray, asJsonObject, valueAtPath } from '@tenure/kube/model'
import { readinessOf } from '@tenure/runtime/readiness'
import type { ObjectNode } from './node.ts'

/** A sentence that says why an object is not ready; undefined if it is. The deepest reason is the most useful one. */
export function whyNotReady(object: KubeObject, children: readonly ObjectNode[]): string | undefined {
  const { metadata } = object
  if (metadata?.deletionTimestamp !== undefined) {
    const finalizers = metadata.finalizers ?? []
    if (finalizers.length === 0) return 'It is being deleted.'
    return `It is being deleted and waits for ${finalizers.length === 1 ? 'the finalizer' : 'the finalizers'} ${finalizers.join(', ')}.`
  }
  const own = ownReason(object)
  const unready = own === undefined ? undefined : firstUnready(children)
  if (unready) return sentence(`${unready.kind} ${unready.name}: ${unready.message ?? 'not ready'}`)
  return own && sentence(own)
}

function ownReason(object: KubeObject): string | undefined {
  const phase = valueAtPath(object, 'status', 'phase')
  const message = valueAtPath(object, 'status', 'message')
  for (const condition of asArray(valueAtPath(object, 'status', 'conditions')).map(asJsonObject)) {
    const { type, status, reason, message: text } = condition
    const isProblem =
      (isOneOf(type, ['Ready', 'Available', 'Progressing']) && status === 'False') ||
      (isOneOf(type, ['Degraded', 'ReplicaFailure', 'Failed']) && status === 'True')
    if (isProblem)
      return (
        [reason, text].filter((each) => typeof each === 'string' && each !== '').join(': ') ||
        `${String(type)} is ${status}`
      )
  }
  if (isOneOf(phase, ['Failed', 'Degraded', 'Error']))
    return typeof message === 'string' && message !== '' ? message : `phase=${String(phase)}`
  const { isReady, message: readiness } = readinessOf(object)
  return isReady ? undefined : readiness
}

const isOneOf = (value: unknown, values: readonly string[]): boolean =>
  typeof value === 'string' && values.includes(value)

/** The deepest object that is not ready: a pod says more than its Deployment. */
function firstUnready(nodes: readonly ObjectNode[]): ObjectNode | undefined {
  for (const node of nodes) {
    const below = firstUnready(node.children ?? [])
    if (below) return below
  }
  return nodes.find(({ ready }) => ready === false)
}

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`)
