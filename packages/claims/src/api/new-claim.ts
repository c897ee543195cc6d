import type { ConfigMap } from '@tenure/kube/kinds'
import { ceilSecond, rfc3339 } from '@tenure/runtime'
import { isLazy } from '../template/return-values.ts'
import type { Manifest } from '../template/types.ts'
import type { ClaimStatus, ResourceStatus } from './claim.ts'
import { claimName } from './id.ts'
import type { StoredParts } from './manifests.ts'
import { ANNOTATIONS, DATA, LABELS, OPERATOR } from './names.ts'

export interface NewClaim {
  readonly id: string
  readonly namespace: string
  readonly pool: string
  readonly revision: string
  readonly parts: StoredParts
  /** The ConfigMap of the values: the claim goes with it. Default: no owner. */
  readonly owner?: { readonly name: string; readonly uid: string } | undefined
  /** Undefined for a member of the pool. */
  readonly handOut: HandOut | undefined
}

/** The facts that a hand-out adds to a claim. */
export interface HandOut {
  /** Milliseconds since 1970. */
  readonly claimedAt: number
  readonly expiresAt: number
  /** See `ANNOTATIONS.handOut`. */
  readonly nonce: string
  /** Hash of the Idempotency-Key. Default: none. */
  readonly idempotencyKey?: string | undefined
  /** Hash of the caller. Default: not counted. */
  readonly caller?: string | undefined
}

export function handOutAnnotations({
  claimedAt,
  expiresAt,
  nonce,
  idempotencyKey,
}: HandOut): Readonly<Record<string, string>> {
  return {
    // Rounded up like the expiry: their difference never exceeds the maximum TTL.
    [ANNOTATIONS.claimedAt]: ceiledText(claimedAt),
    [ANNOTATIONS.expiresAt]: ceiledText(expiresAt),
    [ANNOTATIONS.handOut]: nonce,
    ...(idempotencyKey !== undefined && { [ANNOTATIONS.idempotencyKey]: idempotencyKey }),
  }
}

/** Rounded up to whole seconds, so that no claim ends early. */
export function ceiledText(milliseconds: number): string {
  return rfc3339(ceilSecond(milliseconds))
}

/** The ConfigMap of a new claim. */
export function newClaim({ id, namespace, pool, revision, parts, owner, handOut }: NewClaim): ConfigMap {
  const name = claimName(id)
  const { manifests: open, returnValues } = parts.open
  const waiting = open.filter((manifest) => handOut !== undefined || !isLazy(manifest))
  return {
    metadata: {
      name,
      namespace,
      labels: {
        [LABELS.managedBy]: OPERATOR,
        [LABELS.claim]: name,
        [LABELS.id]: id,
        [LABELS.pool]: pool,
        ...(handOut?.caller !== undefined && { [LABELS.caller]: handOut.caller }),
      },
      annotations: {
        [ANNOTATIONS.createdBy]: OPERATOR,
        [ANNOTATIONS.preProvisioned]: String(handOut === undefined),
        [ANNOTATIONS.revision]: revision,
        ...secretAnnotations(parts.secret),
        ...(handOut && handOutAnnotations(handOut)),
      },
      ...(owner && { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', ...owner }] }),
    },
    data: {
      [DATA.renderedResources]: JSON.stringify(open),
      [DATA.returnValues]: JSON.stringify(returnValues),
      ...statusData(
        'pending',
        'waiting for resources to be created',
        waiting.map((manifest) => notCreated(manifest, namespace)),
      ),
    },
  }
}

/** The annotations that say what only the claim's Secret holds. */
export function secretAnnotations(secret: StoredParts['secret']): Readonly<Record<string, string>> {
  if (!secret) return {}
  return {
    [ANNOTATIONS.hasSecrets]: 'true',
    ...(Object.keys(secret.returnValues).length > 0 && { [ANNOTATIONS.hasSecretReturns]: 'true' }),
  }
}

function notCreated({ kind, metadata }: Manifest, namespace: string): ResourceStatus {
  return { kind, name: metadata.name, namespace, ready: false, message: 'not created yet' }
}

/** The part of a claim's data that reports its state. */
export function statusData(
  status: ClaimStatus,
  message: string,
  resources: readonly ResourceStatus[],
): Readonly<Record<string, string>> {
  return {
    [DATA.status]: status,
    [DATA.message]: message,
    [DATA.resourcesStatus]: JSON.stringify(resources),
  }
}
