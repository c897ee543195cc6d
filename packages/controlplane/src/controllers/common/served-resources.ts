import { type ApiResource, type Client, defineKind, discover, type Kind } from '@tenure/kube'

/** A served resource in its preferred version. */
export interface ServedResource {
  /** For example `deployments.apps`; the same for all versions. */
  readonly key: string
  readonly kind: Kind
  readonly verbs: readonly string[]
}

export interface ServedResources {
  readonly resources: readonly ServedResource[]
  /** Resources by `apiVersion kind` of an owner reference, in any served version. */
  readonly byReference: ReadonlyMap<string, ServedResource>
  /** Failures of API groups, whose resources are unknown. */
  readonly failures: readonly Error[]
}

/** Discovers all resources with the verbs list, watch and delete. */
export async function servedResources(client: Client, signal: AbortSignal): Promise<ServedResources> {
  const groups = await discover(client.requester, { signal })
  const byKey = new Map<string, ServedResource>()
  const byReference = new Map<string, ServedResource>()
  const failures: Error[] = []
  for (const group of groups) {
    // The preferred version comes first; the others only add missing resources.
    for (const { failure, resources } of group.versions) {
      if (failure) failures.push(failure)
      for (const resource of resources) {
        if (!['list', 'watch', 'delete'].every((verb) => resource.verbs.includes(verb))) continue
        const key = resource.group ? `${resource.plural}.${resource.group}` : resource.plural
        const served = byKey.get(key) ?? { key, kind: kindOf(resource), verbs: resource.verbs }
        byKey.set(key, served)
        byReference.set(referenceKey(apiVersionOf(resource), resource.kind), served)
      }
    }
  }
  return { resources: [...byKey.values()], byReference, failures }
}

export function referenceKey(apiVersion: string, kind: string): string {
  return `${apiVersion} ${kind}`
}

function apiVersionOf({ group, version }: ApiResource): string {
  return group ? `${group}/${version}` : version
}

function kindOf(resource: ApiResource): Kind {
  const { kind, namespaced, plural } = resource
  return defineKind({ apiVersion: apiVersionOf(resource), kind, plural, namespaced })
}
