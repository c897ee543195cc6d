import type { KubeObject, OwnerReference, Stored } from '@tenure/kube'
import type { ConfigMap, Secret } from '@tenure/kube/kinds'
import { asJsonObject } from '@tenure/kube/model'
import type { Manifest } from '../template/types.ts'
import { claimSecretName } from './id.ts'
import type { ClaimPart } from './manifests.ts'
import { DATA, LABELS, OPERATOR } from './names.ts'

/** The Secret with the parts of a claim that must stay secret; it goes with the claim. */
export function claimSecret(claim: Stored<ConfigMap>, secret: ClaimPart): Secret {
  const { name, namespace = '' } = claim.metadata
  return {
    metadata: {
      name: claimSecretName(name),
      namespace,
      labels: childLabels(name),
      ownerReferences: [ownerReference(claim)],
    },
    type: 'Opaque',
    // Not stringData: a server-side apply would own fields that are never stored.
    data: {
      [DATA.renderedResources]: encoded(secret.manifests),
      [DATA.returnValues]: encoded(secret.returnValues),
    },
  }
}

function encoded(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64')
}

export function childLabels(claim: string): Readonly<Record<string, string>> {
  return { [LABELS.managedBy]: OPERATOR, [LABELS.claim]: claim }
}

/** Labels of claims: a child that had them would be taken for a claim. */
const CLAIM_LABELS: ReadonlySet<string> = new Set([LABELS.id, LABELS.pool, LABELS.caller])

/** A child of a claim, ready to be created: with our labels, in the namespace of the claim, controlled by it. */
export function childOf(claim: Stored<ConfigMap>, manifest: Manifest): KubeObject {
  const { name, namespace = '' } = claim.metadata
  const own = Object.entries(asJsonObject(manifest.metadata['labels'])).filter(([label]) => !CLAIM_LABELS.has(label))
  const labels = { ...Object.fromEntries(own), ...childLabels(name) }
  const metadata = { ...manifest.metadata, namespace, labels, ownerReferences: [ownerReference(claim)] }
  // Rendered manifests are validated by the API server.
  return { ...manifest, metadata } as unknown as KubeObject
}

export function ownerReference({ metadata }: Stored<ConfigMap>): OwnerReference {
  const { name, uid } = metadata
  return { apiVersion: 'v1', kind: 'ConfigMap', name, uid, controller: true, blockOwnerDeletion: true }
}
