import { isAlreadyExists, isNotFound, type Kind, type KubeApi, type KubeObject, type Stored } from '@tenure/kube'
import { isDeepEqual } from '@tenure/kube/model'
import { ControllerRevision, type PodTemplateSpec } from '@tenure/kube/kinds'
import { shortHash } from '../common/hash.ts'
import { controllerReference } from '../common/owners.ts'

export interface RevisionsOptions {
  readonly api: KubeApi
  readonly ownerKind: Kind
  readonly owner: Stored<KubeObject>
  readonly template: PodTemplateSpec
  /** Revisions of the owner. */
  readonly revisions: readonly Stored<ControllerRevision>[]
  /** Label of the hash. */
  readonly hashLabel: string
  readonly annotations?: Readonly<Record<string, string>> | undefined
  readonly signal: AbortSignal
}

export type Revision = Stored<ControllerRevision>

export function byRevision(revisions: readonly Revision[]): readonly Revision[] {
  return revisions.toSorted((a, b) => a.revision - b.revision || (a.metadata.name < b.metadata.name ? -1 : 1))
}

/** Finds or creates the revision of the current template; an older equal revision becomes the latest. */
export async function currentRevision(options: RevisionsOptions): Promise<Revision> {
  const { api, signal, template } = options
  const data = { spec: { template: { ...template, $patch: 'replace' } } }
  const sorted = byRevision(options.revisions)
  const latest = sorted.at(-1)
  const same = sorted.findLast((revision) => isDeepEqual(revision.data, data))
  if (same && same === latest) return same
  const number = (latest?.revision ?? 0) + 1
  if (same) return api.update<ControllerRevision>(ControllerRevision, { ...same, revision: number }, { signal })
  for (let collisions = 0; ; collisions++) {
    const wanted = newRevision(options, data, number, collisions)
    try {
      return await api.create(ControllerRevision, wanted, { signal })
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
      const { name = '', namespace } = wanted.metadata ?? {}
      const existing = await api.get(ControllerRevision, { name, namespace }, { signal })
      if (isDeepEqual(existing.data, data)) return existing
    }
  }
}

function newRevision(
  { annotations, hashLabel, owner, ownerKind, template }: RevisionsOptions,
  data: ControllerRevision['data'] & object,
  revision: number,
  collisions: number,
): ControllerRevision {
  const hash = shortHash(data, collisions)
  const { name, namespace } = owner.metadata
  return {
    metadata: {
      name: `${name.slice(0, 223)}-${hash}`,
      ...(namespace && { namespace }),
      labels: { ...template.metadata?.labels, [hashLabel]: hash },
      ...(annotations && { annotations }),
      ownerReferences: [controllerReference(ownerKind, owner)],
    },
    data,
    revision,
  }
}

/** The pod template of a revision. */
export function templateOf(revision: ControllerRevision): PodTemplateSpec {
  const { template } = (revision.data as { spec?: { template?: PodTemplateSpec & { $patch?: string } } }).spec ?? {}
  const { $patch: _, ...rest } = template ?? {}
  return rest
}

/** Deletes the oldest unused revisions beyond the limit. */
export async function truncateHistory(
  api: KubeApi,
  revisions: readonly Revision[],
  used: ReadonlySet<string>,
  limit: number,
  signal: AbortSignal,
): Promise<void> {
  const unused = byRevision(revisions).filter(({ metadata }) => !used.has(metadata.name))
  for (const { metadata } of unused.slice(0, Math.max(unused.length - limit, 0))) {
    await api
      .delete(ControllerRevision, metadata, { preconditions: { uid: metadata.uid }, signal })
      .catch((error: unknown) => {
        if (!isNotFound(error)) throw error
      })
  }
}
