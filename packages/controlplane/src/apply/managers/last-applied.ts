import { isJsonObject } from '@tenure/kube/model'
import type { KubeObject } from '@tenure/kube'

import { compare } from '../merge/compare.ts'
import { fieldSetOf } from '../fields/field-set.ts'
import type { FieldSet } from '../fields/fields.ts'
import { difference } from '../fields/fields.ts'
import { compareText, goEscaped } from '../fields/path-element.ts'
import type { Structure } from '../fields/structure.ts'
import { typeErrors } from '../validate-applied.ts'

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'
const MAX_ANNOTATIONS_BYTES = 256 * 1024

/**
 * The fields that a client-side `kubectl apply` set and that are unchanged since. A migration to server-side apply may
 * take them over without a conflict.
 */
export function unchangedSinceLastApplied(
  live: KubeObject,
  apiVersion: string,
  structure: Structure,
): FieldSet | undefined {
  const text = live.metadata?.annotations?.[LAST_APPLIED]
  if (!text) return undefined
  let applied: unknown
  try {
    applied = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isJsonObject(applied) || applied['apiVersion'] !== apiVersion) return undefined
  if (typeErrors(applied, structure) !== undefined) return undefined
  const { written, removed } = compare(applied, live, structure)
  return difference(difference(fieldSetOf(applied, structure), written), removed)
}

/** Keeps the annotation of client-side apply up to date, for a return to it. */
export function withLastApplied(object: KubeObject, applied: KubeObject): KubeObject {
  const annotations = object.metadata?.annotations
  if (!annotations?.[LAST_APPLIED]) return object
  const { [LAST_APPLIED]: _, ...own } = applied.metadata?.annotations ?? {}
  const stated: KubeObject = applied.metadata?.annotations
    ? { ...applied, metadata: { ...applied.metadata, annotations: own } }
    : applied
  const text = `${goEscaped(sortedJson(stated))}\n`
  const next = { ...annotations, [LAST_APPLIED]: text }
  let bytes = 0
  for (const [key, value] of Object.entries(next)) bytes += Buffer.byteLength(key) + Buffer.byteLength(value)
  const { [LAST_APPLIED]: __, ...others } = next
  return { ...object, metadata: { ...object.metadata, annotations: bytes > MAX_ANNOTATIONS_BYTES ? others : next } }
}

/** JSON with keys in order, as Go writes maps. */
function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    isJsonObject(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => compareText(a, b)))
      : member,
  )
}
