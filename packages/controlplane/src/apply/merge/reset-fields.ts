import type { FieldSet } from '../fields/fields.ts'
import { fieldsAt, LEAF } from '../fields/fields.ts'

/** A path of field names: `['metadata', 'labels']`. */
export type FieldPath = readonly string[]

/** The fields that kube-apiserver's strategies reset, where that is not just the other one of spec and status. */
const STATUS_RESETS: Readonly<Record<string, readonly FieldPath[]>> = {
  'Deployment.apps': [['spec'], ['metadata', 'labels']],
  'Pod.': [['spec'], ['metadata', 'deletionTimestamp'], ['metadata', 'ownerReferences']],
  'CertificateSigningRequest.certificates.k8s.io': [['spec'], ['status', 'conditions']],
}
const MAIN_RESETS: Readonly<Record<string, readonly FieldPath[]>> = {
  'CertificateSigningRequest.certificates.k8s.io': [['spec'], ['status']],
}
/** Groups in which a write to `/status` cannot change metadata, as with custom kinds. */
const METADATA_RESETS = new Set([
  'flowcontrol.apiserver.k8s.io',
  'resource.k8s.io',
  'admissionregistration.k8s.io',
  'internal.apiserver.k8s.io',
  'storagemigration.k8s.io',
  'apiextensions.k8s.io',
  'apiregistration.k8s.io',
])
const SPEC: readonly FieldPath[] = [['spec']]
const STATUS: readonly FieldPath[] = [['status']]
const METADATA_AND_SPEC: readonly FieldPath[] = [['metadata'], ['spec']]
const APPROVAL: readonly FieldPath[] = [['spec'], ['status', 'certificate']]
const NOTHING: readonly FieldPath[] = []
const METADATA_RESET_KINDS = new Set(['VolumeAttachment.storage.k8s.io', 'ServiceCIDR.networking.k8s.io'])

/**
 * The fields that a write may send but never changes, so that its manager does not own them: status for the object
 * itself, spec (and for custom kinds metadata) for its status.
 */
export function defaultResetFields(
  of: { readonly group: string; readonly kind: string; readonly isBuiltIn: boolean; readonly hasStatus: boolean },
  subresource: string,
): readonly FieldPath[] {
  const name = `${of.kind}.${of.group}`
  if (!of.hasStatus) return NOTHING
  if (subresource === 'status') {
    const special = STATUS_RESETS[name]
    if (of.isBuiltIn && special) return special
    const keepsMetadata = of.isBuiltIn && !METADATA_RESETS.has(of.group) && !METADATA_RESET_KINDS.has(name)
    return keepsMetadata ? SPEC : METADATA_AND_SPEC
  }
  if (subresource === 'approval') return APPROVAL
  return (of.isBuiltIn ? MAIN_RESETS[name] : undefined) ?? STATUS
}

const sets = new WeakMap<readonly FieldPath[], FieldSet>()

export function resetSet(paths: readonly FieldPath[]): FieldSet {
  if (paths.length === 0) return LEAF
  const known = sets.get(paths)
  if (known) return known
  const set = fieldsAt(...paths.map((path) => path.map((name) => `f:${name}`)))
  sets.set(paths, set)
  return set
}
