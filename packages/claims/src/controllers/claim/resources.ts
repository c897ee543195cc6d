import type { Kind, KubeObject, Stored } from '@tenure/kube'
import { type ConfigMap, Secret } from '@tenure/kube/kinds'
import type { PlanContext } from '@tenure/runtime'
import { type Claim, claimOf } from '../../api/claim.ts'
import { claimSecretName } from '../../api/id.ts'
import { isReduced, isSameResource, manifestsOf } from '../../api/manifests.ts'
import { isLazy } from '../../template/return-values.ts'
import type { Manifest } from '../../template/types.ts'

/** Kinds that are known without a request. */
export interface KnownKinds {
  known(apiVersion: string, kind: string): Kind | undefined
}

export type ClaimContext = Pick<PlanContext<ConfigMap>, 'object' | 'owned'>

/** A resource that a claim needs now, and its object in the cluster. */
export interface ClaimResource {
  /** Reduced if the claim's Secret, which describes it, is missing. */
  readonly manifest: Manifest
  readonly isLazy: boolean
  /** Only the claim's Secret describes it. */
  readonly isSecret: boolean
  /** Undefined while the kind is not known. */
  readonly kind: Kind | undefined
  /** Undefined if it does not exist, or belongs to another owner. */
  readonly child: Stored<KubeObject> | undefined
}

/** The resources that a claim needs: lazy ones only after the hand-out. */
export function resourcesOf(
  claim: Claim,
  kinds: KnownKinds,
  { object, owned }: ClaimContext,
): readonly ClaimResource[] {
  const secret = claim.hasSecrets ? owned(Secret, claimSecretName(object.metadata.name)) : undefined
  const descriptions = secret ? manifestsOf(secret) : []
  return neededManifests(claim).map((manifest): ClaimResource => {
    const kind = kinds.known(manifest.apiVersion, manifest.kind)
    const isSecret = isReduced(manifest)
    const described = isSecret
      ? (descriptions.find((description) => isSameResource(description, manifest)) ?? manifest)
      : manifest
    const child = kind && owned(kind, manifest.metadata.name)
    return { manifest: described, isLazy: isLazy(manifest), isSecret, kind, child }
  })
}

export function neededManifests(claim: Claim): readonly Manifest[] {
  const manifests = manifestsOf(claim.object)
  return claim.isIdle ? manifests.filter((manifest) => !isLazy(manifest)) : manifests
}

/** The kinds that a claim's controller must watch for it. */
export function kindsOfClaim(object: Stored<ConfigMap>, kinds: KnownKinds): readonly Kind[] {
  const claim = claimOf(object)
  if (!claim) return []
  const found = new Set<Kind>(claim.hasSecrets ? [Secret] : [])
  for (const { apiVersion, kind } of readableManifests(claim)) {
    const known = kinds.known(apiVersion, kind)
    if (known) found.add(known)
  }
  return [...found]
}

/** No manifests if they cannot be read: the plan reports that. */
export function readableManifests(claim: Claim): readonly Manifest[] {
  try {
    return neededManifests(claim)
  } catch {
    return []
  }
}
