import type { KubeApi, Kind, Stored } from '@tenure/kube'
import { ConfigMap, Secret } from '@tenure/kube/kinds'
import type { JsonObject } from '@tenure/kube/model'
import { claimSecret, type HandOut, newClaim, partsOf } from '../api/claim.ts'
import type { Manifest, RenderedClaim } from '../template/types.ts'
import type { Pool } from './pools.ts'

export interface ClaimMakerContext {
  readonly api: KubeApi
  readonly namespace: string
  readonly kinds: {
    /** The kinds of manifests, in their order. Rejects with a ClaimTemplateError if one does not exist or has no namespace. */
    resolve(manifests: readonly Manifest[], signal?: AbortSignal): Promise<readonly Kind[]>
  }
}

export interface ClaimRequest {
  readonly id: string
  readonly pool: Pool
  /** Undefined for a member of the pool. */
  readonly handOut: HandOut | undefined
  /** Default: none. */
  readonly values?: JsonObject | undefined
  readonly signal: AbortSignal
}

/** A claim that was made, and what was rendered for it. */
export interface MadeClaim {
  readonly object: Stored<ConfigMap>
  readonly rendered: RenderedClaim
}

/** Renders and creates a claim. Its resources are created by the controller of claims. */
export async function makeClaim(
  { api, kinds, namespace }: ClaimMakerContext,
  { id, pool, handOut, values, signal }: ClaimRequest,
  onCreated: (object: Stored<ConfigMap>) => void = () => undefined,
): Promise<MadeClaim> {
  const template = pool.source.current()
  const rendered = template.render({ id, ...(values && { values }) })
  await kinds.resolve(
    rendered.resources.map(({ manifest }) => manifest),
    signal,
  )
  const parts = partsOf(rendered, values !== undefined)
  const { owner } = pool.source
  const claim = newClaim({ id, namespace, pool: pool.name, revision: template.revision, parts, owner, handOut })
  const object = await api.create(ConfigMap, claim, { signal })
  onCreated(object)
  if (parts.secret) await api.create(Secret, claimSecret(object, parts.secret), { signal })
  return { object, rendered }
}
