import type { Kind } from './kind.ts'
import type { KubeObject } from './object.ts'
import { header } from '../errors/status-error.ts'
import type { TransportResponse } from '../transport/transport.ts'

/** What to ask for, by the kind's form. Servers that cannot do it send the whole object, which `fitterFor` cuts. */
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

/** For a list that is read as it comes: its metadata as protobuf, if the server can, which is sooner written and sent. */
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
 * What makes an object of the kind's form out of a single one as the server sends it. Undefined for whole objects: they
 * are passed on as they were parsed. Metadata comes as kind `PartialObjectMetadata`; it gets its own kind back, so that
 * whoever holds it can say what it is.
 */
export function fitterFor(kind: Kind): ((object: KubeObject) => KubeObject) | undefined {
  if (kind.representation !== 'metadata') return undefined
  const { apiVersion, kind: name } = kind
  return (object) => ({ apiVersion, kind: name, metadata: object.metadata ?? {} })
}

/** The same for an item of a list, where the server leaves out apiVersion and kind. */
export function fitItem(kind: Kind, item: KubeObject): KubeObject {
  if (kind.representation === 'metadata')
    return { apiVersion: kind.apiVersion, kind: kind.kind, metadata: item.metadata ?? {} }
  return item.kind && item.apiVersion ? item : { apiVersion: kind.apiVersion, kind: kind.kind, ...item }
}

/**
 * The same for many items of one list that nobody else holds: they are changed in place, at a fifth of the cost.
 */
export function itemFitterFor(kind: Kind): (item: KubeObject) => KubeObject {
  const { apiVersion, kind: name, representation } = kind
  return (item: { -readonly [K in keyof KubeObject]: KubeObject[K] }) => {
    if (representation === 'metadata' && item.kind !== 'PartialObjectMetadata') return fitItem(kind, item)
    item.apiVersion = apiVersion
    item.kind = name
    return item
  }
}
