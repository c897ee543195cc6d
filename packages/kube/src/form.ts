import type { Kind } from './kind.ts'
import type { KubeObject } from './object.ts'

/** What to ask for, by the kind's form. Servers that can not do it send the whole object, which `fitterFor` cuts. */
export function acceptOne(kind: Kind): string {
  return kind.form === 'metadata'
    ? 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json'
    : JSON_TYPE
}

export function acceptList(kind: Kind): string {
  return kind.form === 'metadata'
    ? 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json'
    : JSON_TYPE
}

export const JSON_TYPE = 'application/json'

/**
 * What makes an object of the kind's form out of a single one as the server sends it. Undefined for whole objects: they
 * are passed on as they were parsed. Metadata comes as kind `PartialObjectMetadata`; it gets its own kind back, so that
 * whoever holds it can say what it is.
 */
export function fitterFor(kind: Kind): ((object: KubeObject) => KubeObject) | undefined {
  if (kind.form !== 'metadata') return undefined
  const { apiVersion, kind: name } = kind
  return (object) => ({ apiVersion, kind: name, metadata: object.metadata ?? {} })
}

/** The same for an item of a list, where the server leaves out apiVersion and kind. */
export function fitItem(kind: Kind, item: KubeObject): KubeObject {
  if (kind.form === 'metadata') return { apiVersion: kind.apiVersion, kind: kind.kind, metadata: item.metadata ?? {} }
  return item.kind && item.apiVersion ? item : { apiVersion: kind.apiVersion, kind: kind.kind, ...item }
}
