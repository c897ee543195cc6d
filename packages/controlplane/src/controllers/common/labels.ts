import type { Kind, KubeObject, LabelSelector, Stored } from '@tenure/kube'
import type { Reads } from '@tenure/runtime'

/** Index: objects by each of their labels, so that a selector need not look at a whole namespace. */
export const LABELS = 'labels'
/** Index: those that select by labels, by one label that all they select has. */
export const SELECTOR = 'selector'

type Labels = Readonly<Record<string, string>>

export function labelIndex({ metadata }: Stored<KubeObject>): readonly string[] {
  return Object.entries(metadata.labels ?? {}).map(([key, value]) => valueFor(metadata.namespace, key, value))
}

function valueFor(namespace: string | undefined, key: string, value: string): string {
  return `${namespace ?? ''}/${key}=${value}`
}

/** One label that everything selected has; undefined if there is none. */
function oneOf(selector: LabelSelector | Labels | undefined): readonly [string, string] | undefined {
  const labels = (selector && 'matchLabels' in selector ? selector.matchLabels : selector) as Labels | undefined
  const pairs = Object.entries(labels ?? {}).filter(([, value]) => typeof value === 'string')
  // Of several the last by name, which is rarely the one that all objects share.
  return pairs.toSorted(([a], [b]) => (a < b ? 1 : -1))[0]
}

/** For an index of selecting objects: under one label, or under none if they select otherwise. */
export function selectorIndex(selectorOf: (object: Stored<KubeObject>) => LabelSelector | Labels | undefined) {
  return (object: Stored<KubeObject>): readonly string[] => {
    const { namespace } = object.metadata
    const pair = oneOf(selectorOf(object))
    return [pair ? valueFor(namespace, pair[0], pair[1]) : anyIn(namespace)]
  }
}

function anyIn(namespace: string | undefined): string {
  return `${namespace ?? ''}/`
}

/** Under what those stand that may select an object. */
export function selectorValues(object: Stored<KubeObject>): readonly string[] {
  return [...labelIndex(object), anyIn(object.metadata.namespace)]
}

/** Objects that a selector may select: fewer than all, and none of them missing. */
export function candidates<T extends KubeObject>(
  { byIndex, list }: Pick<Reads, 'byIndex' | 'list'>,
  kind: Kind<T>,
  namespace: string | undefined,
  selector: LabelSelector | Labels | undefined,
): readonly Stored<T>[] {
  const pair = oneOf(selector)
  return pair ? byIndex(kind, LABELS, valueFor(namespace, pair[0], pair[1])) : list(kind, namespace ?? '')
}
