import type { JsonPatchOperation } from '@tenure/kube'
import { jsonPointer } from '@tenure/kube'
import { isJsonObject, type JsonObject } from '@tenure/kube/model'
import { ANNOTATIONS, FINALIZER, LABELS, OPERATOR, STRATEGIES } from '../api/index.ts'
import { own } from '../validation/schema.ts'
import { writtenApplication, type AdmissionFacts } from './request.ts'

const DEFAULT_STRATEGY = STRATEGIES[0]

/**
 * Adds the default strategy, the managed-by label and the annotation of the webhook, where they are missing. Idempotent.
 * Fields of a wrong type are left for the API server to refuse.
 */
export function defaultsPatch(facts: AdmissionFacts): readonly JsonPatchOperation[] {
  const object = writtenApplication(facts)
  if (!object) return []
  const spec = own(object, 'spec')
  const operations: JsonPatchOperation[] = []
  if (isJsonObject(spec) && (own(spec, 'strategy') ?? '') === '') {
    operations.push({ op: 'add', path: jsonPointer('spec', 'strategy'), value: DEFAULT_STRATEGY })
  }
  const metadata = own(object, 'metadata')
  const labels = { [LABELS.managedBy]: OPERATOR }
  const annotations = { [ANNOTATIONS.mutated]: 'true' }
  if (metadata === undefined) {
    operations.push({ op: 'add', path: jsonPointer('metadata'), value: { labels, annotations } })
  } else if (isJsonObject(metadata)) {
    operations.push(...entries(metadata, 'labels', labels), ...entries(metadata, 'annotations', annotations))
  }
  return operations
}

/**
 * Adds the finalizer to an Application that is being created, which saves the controller a write. Must follow
 * `defaultsPatch`, which creates the metadata. Not on UPDATE: that write may be the one that removes the finalizer.
 */
export function finalizerPatch(facts: AdmissionFacts): readonly JsonPatchOperation[] {
  const object = writtenApplication(facts)
  if (!object || facts.operation !== 'CREATE') return []
  const metadata = own(object, 'metadata') ?? {}
  if (!isJsonObject(metadata)) return []
  const found = own(metadata, 'finalizers')
  if (found === undefined) return [{ op: 'add', path: jsonPointer('metadata', 'finalizers'), value: [FINALIZER] }]
  if (!Array.isArray(found) || found.includes(FINALIZER)) return []
  return [{ op: 'add', path: jsonPointer('metadata', 'finalizers', '-'), value: FINALIZER }]
}

/**
 * Labels an Application as its children are labelled, so that one selector finds them all. A label that is there stays:
 * charts use it for the name of a release. Must follow `defaultsPatch`, which creates the labels. The name is not known
 * yet if the API server generates it.
 */
export function instancePatch(facts: AdmissionFacts): readonly JsonPatchOperation[] {
  const object = writtenApplication(facts)
  const metadata = object && own(object, 'metadata')
  if (!isJsonObject(metadata)) return []
  const name = own(metadata, 'name')
  const labels = own(metadata, 'labels') ?? {}
  if (typeof name !== 'string' || name === '' || !isJsonObject(labels)) return []
  if (own(labels, LABELS.instance) !== undefined) return []
  return [{ op: 'add', path: jsonPointer('metadata', 'labels', LABELS.instance), value: name }]
}

/** Adds or replaces entries of a map in the metadata, and creates the map if it is missing. */
function entries(
  metadata: JsonObject,
  map: 'labels' | 'annotations',
  wanted: Readonly<Record<string, string>>,
): readonly JsonPatchOperation[] {
  const found = own(metadata, map)
  if (found === undefined) return [{ op: 'add', path: jsonPointer('metadata', map), value: wanted }]
  if (!isJsonObject(found)) return []
  return Object.entries(wanted)
    .filter(([key, value]) => own(found, key) !== value)
    .map(([key, value]) => ({ op: 'add', path: jsonPointer('metadata', map, key), value }))
}
