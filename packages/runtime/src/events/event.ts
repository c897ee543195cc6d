import type { KubeObject, Random } from '@tenure/kube'
import { defineKind } from '@tenure/kube'

/** core/v1 ObjectReference. */
export interface ObjectReference {
  readonly apiVersion?: string
  readonly kind?: string
  readonly namespace?: string
  readonly name?: string
  readonly uid?: string
  readonly resourceVersion?: string
}

/** events.k8s.io/v1 Event. Times are MicroTime. */
export interface KubeEvent extends KubeObject {
  readonly eventTime?: string
  readonly series?: { readonly count: number; readonly lastObservedTime: string }
  readonly reportingController?: string
  readonly reportingInstance?: string
  readonly action?: string
  readonly reason?: string
  readonly regarding?: ObjectReference
  readonly related?: ObjectReference
  readonly note?: string
  readonly type?: string
}

export const kubeEvent = defineKind<KubeEvent>({ apiVersion: 'events.k8s.io/v1', kind: 'Event' })

/** Limits of the API server: bytes of a note, and characters of reason, action and instance. */
export const MAX_NOTE_BYTES = 1_024
export const MAX_WORD_LENGTH = 128
const MAX_NAME_LENGTH = 253

export function referenceTo(object: KubeObject): ObjectReference {
  const { metadata } = object
  return {
    ...(object.apiVersion && { apiVersion: object.apiVersion }),
    ...(object.kind && { kind: object.kind }),
    ...(metadata?.namespace && { namespace: metadata.namespace }),
    ...(metadata?.name && { name: metadata.name }),
    ...(metadata?.uid && { uid: metadata.uid }),
    ...(metadata?.resourceVersion && { resourceVersion: metadata.resourceVersion }),
  }
}

/**
 * `<object>.<hex>`, the format that kubectl users know; only the hex if the object's name is not allowed in an event's
 * name.
 */
export function eventName(object: string, random: Random): string {
  const unique = Buffer.from(random.bytes(8)).toString('hex')
  const prefix = object.slice(0, MAX_NAME_LENGTH - unique.length - 1).replace(/[-.]+$/, '')
  return /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(prefix)
    ? `${prefix}.${unique}`
    : unique
}

/** `text`, truncated to `limit` bytes with an ellipsis and never inside a character. */
export function cutToBytes(text: string, limit: number): string {
  if (Buffer.byteLength(text) <= limit) return text
  const ellipsis = '…'
  const bytes = Buffer.from(text)
  let end = limit - Buffer.byteLength(ellipsis)
  // Bytes 10xxxxxx continue a character.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return bytes.toString('utf8', 0, end) + ellipsis
}
