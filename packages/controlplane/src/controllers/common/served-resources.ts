import { type ApiResource, type Client, defineKind, discover, type Kind } from '@tenure/kube'

/** A resource that the server serves, under the version it prefers. */
export interface ServedResource {
  /** `deployments.apps`: the same for all versions. */
  readonly key: string
  readonly kind: Kind
  readonly verbs: readonly string[]
}

export interface Served {
  readonly resources: readonly ServedResource[]
  /** The resource that an owner reference means: `apiVersion kind`, in any version that is served. */
  readonly byReference: ReadonlyMap<string, ServedResource>
  /** Groups that did not answer: what they have is unknown. */
  readonly failures: readonly Error[]
}

/** All resources that can be listed, watched and deleted, now. */
export async function servedResources(client: Client, signal: AbortSignal): Promise<Served> {
  const groups = await discover(client.requester, { signal })
  const byKey = new Map<string, ServedResource>()
  const byReference = new Map<string, ServedResource>()
  const failures: Error[] = []
  for (const group of groups) {
    // The preferred version comes first; of the others only what it lacks counts.
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
