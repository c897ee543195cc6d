import type { JsonPatchOperation } from '@tenure/kube'
import { jsonPointer } from '@tenure/kube'
import { ANNOTATIONS, FINALIZER, LABELS, OPERATOR, STRATEGIES } from '../api/index.ts'
import { isRecord, own } from '../validation/schema.ts'
import { writtenApplication, type AdmissionFacts } from './request.ts'

const DEFAULT_STRATEGY = STRATEGIES[0]

/**
 * What an Application lacks on its way in: the default strategy, whose it is, and that it came by here. None if it
 * lacks nothing, so that doing it twice changes nothing. What has a shape that the API server will refuse is left alone.
 */
export function mutation(facts: AdmissionFacts): readonly JsonPatchOperation[] {
  const object = writtenApplication(facts)
  if (!object) return []
  const spec = own(object, 'spec')
  const operations: JsonPatchOperation[] = []
  if (isRecord(spec) && (own(spec, 'strategy') ?? '') === '') {
    operations.push({ op: 'add', path: jsonPointer('spec', 'strategy'), value: DEFAULT_STRATEGY })
  }
  const metadata = own(object, 'metadata')
  const labels = { [LABELS.managedBy]: OPERATOR }
  const annotations = { [ANNOTATIONS.mutated]: 'true' }
  if (metadata === undefined) {
    operations.push({ op: 'add', path: jsonPointer('metadata'), value: { labels, annotations } })
  } else if (isRecord(metadata)) {
    operations.push(...entries(metadata, 'labels', labels), ...entries(metadata, 'annotations', annotations))
  }
  return operations
}

/**
 * Puts our finalizer on an Application that is being created, which saves the controller a write. To come after
 * `mutation`, which makes the metadata. Not on a later write: somebody may just be taking it off.
 */
export function finalization(facts: AdmissionFacts): readonly JsonPatchOperation[] {
  const object = writtenApplication(facts)
  if (!object || facts.operation !== 'CREATE') return []
  const metadata = own(object, 'metadata') ?? {}
  if (!isRecord(metadata)) return []
  const found = own(metadata, 'finalizers')
  if (found === undefined) return [{ op: 'add', path: jsonPointer('metadata', 'finalizers'), value: [FINALIZER] }]
  if (!Array.isArray(found) || found.includes(FINALIZER)) return []
  return [{ op: 'add', path: jsonPointer('metadata', 'finalizers', '-'), value: FINALIZER }]
}

/** Adds entries to a map in the metadata. `add` also replaces, and makes the map if there is none. */
function entries(
  metadata: Readonly<Record<string, unknown>>,
  map: 'labels' | 'annotations',
  wanted: Readonly<Record<string, string>>,
): readonly JsonPatchOperation[] {
  const found = own(metadata, map)
  if (found === undefined) return [{ op: 'add', path: jsonPointer('metadata', map), value: wanted }]
  if (!isRecord(found)) return []
  return Object.entries(wanted)
    .filter(([key, value]) => own(found, key) !== value)
    .map(([key, value]) => ({ op: 'add', path: jsonPointer('metadata', map, key), value }))
}
