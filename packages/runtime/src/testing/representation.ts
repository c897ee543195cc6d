import type { TransportResponse } from '@tenure/kube'
import type { JsonObject } from '@tenure/kube/model'
import type { RecordedRequest, RequestTarget } from './recorded-request.ts'
import { jsonResponse } from './responses.ts'

/** `group/plural`: all versions of a resource are stored under it. */
export function resourceOf(target: { readonly group: string; readonly plural: string }): string {
  return `${target.group}/${target.plural}`
}

export function apiVersionOf(target: RequestTarget): string {
  return target.group ? `${target.group}/${target.version}` : target.version
}

export function wantsMetadata(request: RecordedRequest): boolean {
  return request.headers['accept']?.includes('as=PartialObjectMetadata') === true
}

export function asMetadata(object: JsonObject): JsonObject {
  return { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object['metadata'] }
}

/** One object in the requested representation. */
export function objectResponse(request: RecordedRequest, status: number, object: JsonObject): TransportResponse {
  return jsonResponse(status, wantsMetadata(request) ? asMetadata(object) : object)
}
