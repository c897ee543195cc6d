import type { TransportResponse } from '@tenure/kube'
import { jsonAnswer } from './memory-answer.ts'
import type { Json } from './memory-json.ts'
import type { RecordedRequest, Target } from './memory-request.ts'

/** `group/plural`: what all versions of a resource are stored under. */
export function resourceOf(target: { readonly group: string; readonly plural: string }): string {
  return `${target.group}/${target.plural}`
}

export function apiVersionOf(target: Target): string {
  return target.group ? `${target.group}/${target.version}` : target.version
}

export function wantsMetadata(request: RecordedRequest): boolean {
  return request.headers['accept']?.includes('as=PartialObjectMetadata') === true
}

export function metadataForm(object: Json): Json {
  return { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object['metadata'] }
}

/** Items of built-in kinds come without apiVersion and kind; those of custom resources have them. */
export function listItem(object: Json, group: string): Json {
  if (group.includes('.') && !group.endsWith('.k8s.io')) return object
  const { apiVersion: _apiVersion, kind: _kind, ...rest } = object
  return rest
}

/** One object in the form that was asked for. */
export function objectAnswer(request: RecordedRequest, status: number, object: Json): TransportResponse {
  return jsonAnswer(status, wantsMetadata(request) ? metadataForm(object) : object)
}
