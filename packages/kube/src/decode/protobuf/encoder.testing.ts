import type { ListMeta, ManagedFieldsEntry, ObjectMeta, OwnerReference } from '../../model/object.ts'

/** Encodes messages like a Go API server: fields in order, strings even if they are empty. */

export function encodeVarint(value: number | bigint): Buffer {
  const bytes: number[] = []
  let left = BigInt.asUintN(64, BigInt(value))
  for (; left > 127n; left >>= 7n) bytes.push(Number(left & 127n) | 128)
  bytes.push(Number(left))
  return Buffer.from(bytes)
}

export function encodeBytes(field: number, value: string | Buffer): Buffer {
  const bytes = Buffer.from(value)
  return Buffer.concat([encodeVarint(field * 8 + 2), encodeVarint(bytes.length), bytes])
}

export function encodeInteger(field: number, value: number | boolean | undefined): Buffer {
  return value === undefined ? NOTHING : Buffer.concat([encodeVarint(field * 8), encodeVarint(Number(value))])
}

const NOTHING = Buffer.alloc(0)
const optional = (field: number, value: Buffer | string | undefined): Buffer =>
  value === undefined ? NOTHING : encodeBytes(field, value)

function encodeTime(time: string | undefined): Buffer | undefined {
  if (time === undefined) return undefined
  return Buffer.concat([encodeInteger(1, Date.parse(time) / 1000), encodeInteger(2, 0)])
}

function encodeMap(field: number, map: Readonly<Record<string, string>> = {}): Buffer {
  const entries = Object.entries(map).map(([key, value]) => [encodeBytes(1, key), encodeBytes(2, value)])
  return Buffer.concat(entries.map((entry) => encodeBytes(field, Buffer.concat(entry))))
}

const encodeOwner = (owner: OwnerReference): Buffer =>
  Buffer.concat([
    encodeBytes(1, owner.kind),
    encodeBytes(3, owner.name),
    encodeBytes(4, owner.uid),
    encodeBytes(5, owner.apiVersion),
    encodeInteger(6, owner.controller),
    encodeInteger(7, owner.blockOwnerDeletion),
  ])

const encodeManagedFields = (entry: ManagedFieldsEntry): Buffer =>
  Buffer.concat([
    encodeBytes(1, entry.manager ?? ''),
    encodeBytes(2, entry.operation ?? ''),
    encodeBytes(3, entry.apiVersion ?? ''),
    optional(4, encodeTime(entry.time)),
    encodeBytes(6, entry.fieldsType ?? ''),
    optional(7, entry.fieldsV1 && encodeBytes(1, JSON.stringify(entry.fieldsV1))),
    encodeBytes(8, entry.subresource ?? ''),
  ])

export function encodeObjectMeta(metadata: ObjectMeta): Buffer {
  return Buffer.concat([
    encodeBytes(1, metadata.name ?? ''),
    encodeBytes(2, metadata.generateName ?? ''),
    encodeBytes(3, metadata.namespace ?? ''),
    encodeBytes(4, metadata.selfLink ?? ''),
    encodeBytes(5, metadata.uid ?? ''),
    encodeBytes(6, metadata.resourceVersion ?? ''),
    encodeInteger(7, metadata.generation ?? 0),
    encodeBytes(8, encodeTime(metadata.creationTimestamp) ?? ''),
    optional(9, encodeTime(metadata.deletionTimestamp)),
    encodeInteger(10, metadata.deletionGracePeriodSeconds),
    encodeMap(11, metadata.labels),
    encodeMap(12, metadata.annotations),
    ...(metadata.ownerReferences ?? []).map((owner) => encodeBytes(13, encodeOwner(owner))),
    ...(metadata.finalizers ?? []).map((finalizer) => encodeBytes(14, finalizer)),
    ...(metadata.managedFields ?? []).map((entry) => encodeBytes(17, encodeManagedFields(entry))),
  ])
}

export const encodeListMeta = (metadata: ListMeta): Buffer =>
  Buffer.concat([
    encodeBytes(1, ''),
    encodeBytes(2, metadata.resourceVersion),
    encodeBytes(3, metadata.continue ?? ''),
    encodeInteger(4, metadata.remainingItemCount),
  ])

export function encodeMetadataList(metadata: ListMeta, items: readonly ObjectMeta[]): Buffer {
  const encoded = items.map((item) => encodeBytes(2, encodeBytes(1, encodeObjectMeta(item))))
  const list = Buffer.concat([encodeBytes(1, encodeListMeta(metadata)), ...encoded])
  return encodeEnvelope('meta.k8s.io/v1', 'PartialObjectMetadataList', list)
}

/** `runtime.Unknown` after the four bytes that start every message. */
export function encodeEnvelope(apiVersion: string, kind: string, raw: Buffer): Buffer {
  const typeMeta = Buffer.concat([encodeBytes(1, apiVersion), encodeBytes(2, kind)])
  return Buffer.concat([
    Buffer.from('k8s\0'),
    encodeBytes(1, typeMeta),
    encodeBytes(2, raw),
    encodeBytes(3, ''),
    encodeBytes(4, ''),
  ])
}
