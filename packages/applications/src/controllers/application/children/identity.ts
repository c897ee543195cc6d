import { keyOf, type ObjectRef, type Selection } from '@tenure/kube'
import { LABELS, OPERATOR } from '../../../api/index.ts'

/** Every child carries this label, so that caches hold the operator's objects and not the whole cluster. */
export const MANAGED_SELECTOR = { labelSelector: `${LABELS.managedBy}=${OPERATOR}` } as const satisfies Selection

/** Names of an Application's children, by purpose. */
export const childNames = (name: string) =>
  ({
    workload: name,
    service: name,
    autoscaler: name,
    ingress: name,
    config: `${name}-config`,
    data: `${name}-data`,
  }) as const

/** Labels of all children. They are the pod selector, which is immutable. */
export function labelsOf(name: string): Readonly<Record<string, string>> {
  return { [LABELS.name]: name, [LABELS.instance]: name, [LABELS.managedBy]: OPERATOR }
}

/** The pod selector as text, for the scale subresource. */
export function selectorText(name: string): string {
  return Object.entries(labelsOf(name))
    .map(([label, value]) => `${label}=${value}`)
    .toSorted()
    .join(',')
}

/** Application of an object, by its labels. */
export function applicationOf(metadata: {
  readonly namespace?: string
  readonly labels?: Readonly<Record<string, string>>
}): ObjectRef | undefined {
  const name = metadata.labels?.[LABELS.instance]
  return name ? { name, namespace: metadata.namespace } : undefined
}

export function applicationKey(metadata: Parameters<typeof applicationOf>[0]): string | undefined {
  const ref = applicationOf(metadata)
  return ref && keyOf(ref)
}
