import type { Kind, KubeObject, LabelSelector, Stored } from '@tenure/kube'
import type { Labels } from '@tenure/kube/model'
import type { Reads } from '@tenure/runtime'

/** Index of objects by each label, so that a selector does not scan a whole namespace. */
export const LABELS = 'labels'
/** Index of selecting objects by one label of their selector. */
export const SELECTOR = 'selector'

export function labelIndex({ metadata }: Stored<KubeObject>): readonly string[] {
  return Object.entries(metadata.labels ?? {}).map(([key, value]) => valueFor(metadata.namespace, key, value))
}

function valueFor(namespace: string | undefined, key: string, value: string): string {
  return `${namespace ?? ''}/${key}=${value}`
}

/** One label that every selected object has; undefined if the selector has none. */
function lastMatchLabel(selector: LabelSelector | Labels | undefined): readonly [string, string] | undefined {
  const labels = (selector && 'matchLabels' in selector ? selector.matchLabels : selector) as Labels | undefined
  const pairs = Object.entries(labels ?? {}).filter(([, value]) => typeof value === 'string')
  // The last by name: it is rarely one that all objects share.
  return pairs.toSorted(([a], [b]) => (a < b ? 1 : -1))[0]
}

/** Indexes a selecting object by one of its labels, or by its namespace alone if it has no matchLabels. */
export function selectorIndex<T extends KubeObject>(
  selectorOf: (object: Stored<T>) => LabelSelector | Labels | undefined,
): (object: Stored<T>) => readonly string[] {
  return (object) => {
    const { namespace } = object.metadata
    const pair = lastMatchLabel(selectorOf(object))
    return [pair ? valueFor(namespace, pair[0], pair[1]) : namespaceValue(namespace)]
  }
}

function namespaceValue(namespace: string | undefined): string {
  return `${namespace ?? ''}/`
}

/** The SELECTOR index values of all objects that may select this one. */
export function selectorValues(object: Stored<KubeObject>): readonly string[] {
  return [...labelIndex(object), namespaceValue(object.metadata.namespace)]
}

/** A superset of the objects that a selector selects. */
export function candidates<T extends KubeObject>(
  { byIndex, list }: Pick<Reads, 'byIndex' | 'list'>,
  kind: Kind<T>,
  namespace: string | undefined,
  selector: LabelSelector | Labels | undefined,
): readonly Stored<T>[] {
  const pair = lastMatchLabel(selector)
  return pair ? byIndex(kind, LABELS, valueFor(namespace, pair[0], pair[1])) : list(kind, namespace ?? '')
}

/** True if all wanted labels are present with their values. */
export function hasLabels(labels: Labels | undefined, wanted: Labels | undefined): boolean {
  return Object.entries(wanted ?? {}).every(
    ([key, value]) => labels !== undefined && Object.hasOwn(labels, key) && labels[key] === value,
  )
}

/** The merge-patch value that turns one map into another: null removes a key. */
export function mapChanges(before: Labels | undefined, after: Labels): Readonly<Record<string, string | null>> {
  const removed = Object.keys(before ?? {}).filter((key) => !Object.hasOwn(after, key))
  return { ...after, ...Object.fromEntries(removed.map((key) => [key, null])) }
}
