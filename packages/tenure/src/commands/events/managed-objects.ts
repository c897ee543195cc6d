import { MANAGED_SELECTOR as APPLICATION_CHILDREN, OPERATOR as APPLICATIONS } from '@tenure/applications/rows'
import { MANAGED_SELECTOR as CLAIM_CHILDREN, OPERATOR as CLAIMS } from '@tenure/claims/rows'
import { MANAGED_BY_LABEL, OPERATOR as DATABASES } from '@tenure/databases/cli'
import { type Kind, metadataOf } from '@tenure/kube'
import { Deployment, Job, Pod, ReplicaSet, StatefulSet } from '@tenure/kube/kinds'
import { KIND_OPERATOR, LEASE_OPERATOR } from '@tenure/leases/cli'
import type { Lists } from '../cluster/lists.ts'
import type { Managed } from '../cluster/managed.ts'

/** Reporters whose events are all about managed objects, also about those that are gone. */
export const REPORTERS: ReadonlySet<string> = new Set([APPLICATIONS, CLAIMS, DATABASES, LEASE_OPERATOR, KIND_OPERATOR])

/** Kinds of children that other programs report events about. */
const CHILD_KINDS: readonly Kind[] = [Deployment, ReplicaSet, StatefulSet, Job, Pod]
const CHILD_SELECTORS: readonly string[] = [
  APPLICATION_CHILDREN.labelSelector,
  CLAIM_CHILDREN,
  `${MANAGED_BY_LABEL}=${DATABASES}`,
]

export interface NamedObject {
  readonly kind?: string | undefined
  readonly namespace?: string | undefined
  readonly name?: string | undefined
}

export function keyOfObject({ kind = '', name = '', namespace = '' }: NamedObject): string {
  return `${kind}/${namespace}/${name}`
}

/** The objects that operators manage, and their children, as keys. */
export async function managedObjects(
  managed: Managed,
  lists: Lists,
  namespace: string | undefined,
): Promise<ReadonlySet<string>> {
  const [applications, claims, leases, controllers, ...children] = await Promise.all([
    managed.applications(),
    managed.claims(),
    managed.leases(),
    managed.leaseControllers(),
    ...CHILD_KINDS.flatMap((kind) =>
      CHILD_SELECTORS.map(async (labelSelector) => {
        const objects = await lists.list(metadataOf(kind), { namespace, labelSelector })
        return objects.map(({ metadata }) => ({ kind: kind.kind, ...metadata }))
      }),
    ),
  ])
  const named: readonly NamedObject[] = [
    ...applications.map((row) => ({ kind: 'Application', namespace: row.namespace, name: row.name })),
    ...claims.map(({ object }) => ({ kind: 'ConfigMap', ...object.metadata })),
    ...leases,
    ...controllers.map(({ name }) => ({ kind: 'LeaseController', name })),
    ...children.flat(),
  ]
  return new Set(named.map(keyOfObject))
}
