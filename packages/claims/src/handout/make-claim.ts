import { isAlreadyExists, type KubeApi, type Kind, type Stored } from '@tenure/kube'
import { ConfigMap, Secret } from '@tenure/kube/kinds'
import type { JsonObject } from '@tenure/kube/model'
import { claimSecret } from '../api/children.ts'
import { claimRef } from '../api/claim.ts'
import { partsOf } from '../api/manifests.ts'
import { ANNOTATIONS } from '../api/names.ts'
import { type HandOut, newClaim } from '../api/new-claim.ts'
import { ClaimTemplateError, type Manifest, type RenderedClaim } from '../template/types.ts'
import type { Pool } from './pools.ts'
import { isUncertain, orUndefined } from './uncertain-writes.ts'

/** The API server stores at most 1 MiB; the status and the metadata need the rest. */
const MAX_RENDERED_BYTES = 900 * 1024
/** A creation whose outcome is not known is repeated: the name makes sure that there is one claim. */
const MAX_CREATE_ATTEMPTS = 2

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
  /** Called before the first write; throws to prevent it. Default: nothing. */
  readonly beforeWrite?: () => void
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
  { id, pool, handOut, values, beforeWrite, signal }: ClaimRequest,
  onCreated: (object: Stored<ConfigMap>) => void = () => undefined,
): Promise<MadeClaim> {
  const template = pool.source.current()
  const rendered = template.render({ id, ...(values && { values }) })
  await kinds.resolve(
    rendered.resources.map(({ manifest }) => manifest),
    signal,
  )
  const parts = partsOf(rendered, values !== undefined)
  refuseTooLarge([parts.open.manifests, parts.secret?.manifests ?? []])
  const { owner } = pool.source
  const claim = newClaim({ id, namespace, pool: pool.name, revision: template.revision, parts, owner, handOut })
  beforeWrite?.()
  const object = await createOnce(api, { claim, id, namespace }, signal)
  onCreated(object)
  if (parts.secret) await createSecret(api, claimSecret(object, parts.secret), signal)
  return { object, rendered }
}

function refuseTooLarge(parts: readonly (readonly Manifest[])[]): void {
  if (parts.every((manifests) => Buffer.byteLength(JSON.stringify(manifests)) <= MAX_RENDERED_BYTES)) return
  throw new ClaimTemplateError(`the template renders more than ${MAX_RENDERED_BYTES / 1024} KiB`)
}

interface ClaimCreation {
  readonly claim: ConfigMap
  readonly id: string
  readonly namespace: string
}

/** Creates a claim also if the response is lost. The hand-out's nonce tells our object from another of the same name. */
async function createOnce(
  api: KubeApi,
  { claim, id, namespace }: ClaimCreation,
  signal: AbortSignal,
): Promise<Stored<ConfigMap>> {
  const nonce = claim.metadata?.annotations?.[ANNOTATIONS.handOut]
  for (let attempt = 1; ; attempt++) {
    try {
      return await api.create(ConfigMap, claim, { signal })
    } catch (error) {
      const isRepeated = attempt > 1 && isAlreadyExists(error)
      if (!isRepeated && !isUncertain(error, signal)) throw error
      const stored = await orUndefined(api.get(ConfigMap, claimRef(namespace, id), { signal }))
      if (stored && stored.metadata.annotations?.[ANNOTATIONS.handOut] === nonce) return stored
      if (stored || attempt === MAX_CREATE_ATTEMPTS) throw error
    }
  }
}

/** The Secret of a new claim. If one exists, an earlier attempt has made it: no other claim has this name. */
async function createSecret(api: KubeApi, secret: Secret, signal: AbortSignal): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await api.create(Secret, secret, { signal })
      return
    } catch (error) {
      if (attempt > 1 && isAlreadyExists(error)) return
      if (!isUncertain(error, signal) || attempt === MAX_CREATE_ATTEMPTS) throw error
    }
  }
}
