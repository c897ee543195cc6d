import type { Kind } from './kind.ts'
import type { KubeObject } from './object.ts'
import { header } from '../errors/status-error.ts'
import type { TransportResponse } from '../transport/transport.ts'

/** The Accept header for one object. Servers that cannot send metadata only send the full object, which `fitterFor` reduces. */
export function acceptOne(kind: Kind): string {
  return kind.representation === 'metadata'
    ? 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json'
    : JSON_TYPE
}

export function acceptList(kind: Kind): string {
  return kind.representation === 'metadata'
    ? 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json'
    : JSON_TYPE
}

/** For a streamed list: metadata as protobuf, if the server supports it, because it is faster to encode and shorter. */
export function acceptStreamedList(kind: Kind): string {
  const accepted = acceptList(kind)
  return kind.representation === 'metadata'
    ? `${PROTOBUF_TYPE};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,${accepted}`
    : accepted
}

export const JSON_TYPE = 'application/json'
const PROTOBUF_TYPE = 'application/vnd.kubernetes.protobuf'

export function isProtobuf(headers: TransportResponse['headers']): boolean {
  return header(headers, 'content-type')?.startsWith(PROTOBUF_TYPE) ?? false
}

/**
 * A function that converts an object from the server to the kind's representation. Undefined for full objects: they stay
 * as parsed. Metadata arrives as kind `PartialObjectMetadata` and gets the kind of its object.
 */
export function fitterFor(kind: Kind): ((object: KubeObject) => KubeObject) | undefined {
  if (kind.representation !== 'metadata') return undefined
  const { apiVersion, kind: name } = kind
  return (object) => ({ apiVersion, kind: name, metadata: object.metadata ?? {} })
}

/** Converts an item of a list, where the server omits apiVersion and kind. */
export function fitItem(kind: Kind, item: KubeObject): KubeObject {
  if (kind.representation === 'metadata')
    return { apiVersion: kind.apiVersion, kind: kind.kind, metadata: item.metadata ?? {} }
  return item.kind && item.apiVersion ? item : { apiVersion: kind.apiVersion, kind: kind.kind, ...item }
}

/** As `fitItem` for items without other references: they are changed in place, at a fifth of the cost. */
export function itemFitterFor(kind: Kind): (item: KubeObject) => KubeObject {
  const { apiVersion, kind: name, representation } = kind
  return (item: { -readonly [K in keyof KubeObject]: KubeObject[K] }) => {
    if (representation === 'metadata' && item.kind !== 'PartialObjectMetadata') return fitItem(kind, item)
    item.apiVersion = apiVersion
    item.kind = name
    return item
  }
}
