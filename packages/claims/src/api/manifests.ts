import { type Stored, TenureError } from '@tenure/kube'
import type { ConfigMap, Secret } from '@tenure/kube/kinds'
import { asJsonObject, isJsonObject } from '@tenure/kube/model'
import { isLazy, returnValuesOf } from '../template/return-values.ts'
import type { Manifest, RenderedClaim } from '../template/types.ts'
import { ANNOTATIONS, DATA, TEMPLATE_ANNOTATIONS } from './names.ts'

const manifests = new WeakMap<object, readonly Manifest[]>()

/** The rendered resources in the data of a claim or of its Secret. Secrets are reduced in a claim: see `reduced`. */
export function manifestsOf(object: Stored<ConfigMap> | Stored<Secret>): readonly Manifest[] {
  const known = manifests.get(object)
  if (known) return known
  const text = object.data?.[DATA.renderedResources] ?? '[]'
  const json = object.kind === 'Secret' ? Buffer.from(text, 'base64').toString() : text
  let parsed: unknown
  try {
    parsed = JSON.parse(json)
  } catch {
    // A hand-made claim: the check below reports it.
  }
  if (!Array.isArray(parsed) || !parsed.every(isManifest)) {
    throw new TenureError(
      'TENURE_CLAIM_INVALID',
      `${object.metadata.name} has no valid ${DATA.renderedResources}: release it and take another claim.`,
    )
  }
  manifests.set(object, parsed)
  return parsed
}

function isManifest(value: unknown): value is Manifest {
  if (!isJsonObject(value) || typeof value['apiVersion'] !== 'string' || typeof value['kind'] !== 'string') return false
  return typeof asJsonObject(value['metadata'])['name'] === 'string'
}

/** A reduced manifest says only that the resource exists. Its description is in the Secret of the claim. */
export function isReduced(manifest: Manifest): boolean {
  return asJsonObject(manifest.metadata['annotations'])[ANNOTATIONS.hasSecrets] === 'true'
}

function reduced({ apiVersion, kind, metadata }: Manifest): Manifest {
  const marks = { [ANNOTATIONS.hasSecrets]: 'true' } as Record<string, string>
  if (isLazy({ apiVersion, kind, metadata })) marks[TEMPLATE_ANNOTATIONS.lazy[0]] = 'true'
  return { apiVersion, kind, metadata: { name: metadata.name, annotations: marks } }
}

export function isSameResource(a: Manifest, b: Manifest): boolean {
  return a.apiVersion === b.apiVersion && a.kind === b.kind && a.metadata.name === b.metadata.name
}

/** A part of what was rendered for a claim. */
export interface ClaimPart {
  readonly manifests: readonly Manifest[]
  readonly returnValues: Readonly<Record<string, string>>
}

/** The open part of a claim, and the part that only its Secret may hold. */
export interface StoredParts {
  readonly open: ClaimPart
  /** Undefined if nothing is secret. */
  readonly secret: ClaimPart | undefined
}

/**
 * Separates what must not be readable in a ConfigMap: Secrets, and with `isPersonal` everything, because it may contain
 * values of the caller. Return values belong to the object that returns them.
 */
export function partsOf(rendered: RenderedClaim, isPersonal: boolean): StoredParts {
  const all = rendered.resources.map(({ manifest }) => manifest)
  const isSecret = (manifest: Manifest): boolean =>
    isPersonal || (manifest.kind === 'Secret' && manifest.apiVersion === 'v1')
  const secrets = all.filter(isSecret)
  if (secrets.length === 0) return { open: { manifests: all, returnValues: rendered.returnValues }, secret: undefined }
  const keys = returnValuesOf(secrets)
  const returns = Object.entries(rendered.returnValues)
  return {
    open: {
      manifests: all.map((manifest) => (isSecret(manifest) ? reduced(manifest) : manifest)),
      returnValues: Object.fromEntries(returns.filter(([key]) => !Object.hasOwn(keys, key))),
    },
    secret: {
      manifests: secrets,
      returnValues: Object.fromEntries(returns.filter(([key]) => Object.hasOwn(keys, key))),
    },
  }
}
