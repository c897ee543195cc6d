import { isJsonObject } from '@tenure/kube/model'
import { badRequest, notFound, StatusError } from '../../errors.ts'
import type { ResourceVerb } from '../../registry/request.ts'
import { subresourcesOf } from '../../registry/subresources/subresources.ts'
import type { ResourceDefinition } from '../../registry/types.ts'
import { APPLY_PATCH } from '../../registry/request.ts'
import { DecodeError } from '../../registry/decode/decode-error.ts'
import { mistypedKind } from '../../registry/decode/decode.ts'
import { readDeleteOptions } from '../../registry/options/delete-options.ts'
import type { DeleteRequestOptions } from '../../registry/options/delete-options.ts'
import { objectPurpose, OPTIONS_PURPOSE, parseBody, patchPurpose } from '../encoding/request-body.ts'
import type { BodyPurpose, ParsedBody } from '../encoding/request-body.ts'
import type { ResourceRoute } from './route.ts'

const METHOD_NOT_ALLOWED = 'the server does not allow this method on the requested resource'
export const noSuchResource = (): StatusError =>
  new StatusError(404, 'NotFound', 'the server could not find the requested resource', {})
export const notAllowed = (): StatusError => new StatusError(405, 'MethodNotAllowed', METHOD_NOT_ALLOWED, {})

/** Throws a 400 if the bytes of the body are not valid text. */
export function checkReadable({ unreadable }: { readonly unreadable?: string }, purpose: () => BodyPurpose): void {
  if (unreadable !== undefined) throw badRequest(purpose().yaml(`yaml: ${unreadable}`))
}

/** Parses a body that must be an object. */
export async function parseObject(
  body: string,
  yaml: boolean,
  kind: string,
  mustNameKind = false,
): Promise<ParsedBody> {
  const purpose = objectPurpose(kind, body)
  const parsed = await parseBody(body, yaml, purpose)
  const value = namedObject(parsed.value ?? {}, purpose)
  if (mustNameKind && !value['kind']) throw badRequest(purpose.yaml(`Object 'Kind' is missing in '${body}'`))
  return { ...parsed, value }
}

/** Parses the body of a delete. Throws a 400 for malformed options. */
export async function parseDeleteOptions(body: string, yaml: boolean): Promise<DeleteRequestOptions> {
  const parsed = await parseBody(body, yaml, OPTIONS_PURPOSE)
  const value = namedObject(parsed.value ?? {}, OPTIONS_PURPOSE)
  const { kind, apiVersion } = value
  if (kind && kind !== 'DeleteOptions') {
    throw badRequest(
      `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion ?? '')} in scheme "pkg/runtime/scheme.go:111"`,
    )
  }
  try {
    return readDeleteOptions(value)
  } catch (error) {
    throw error instanceof DecodeError ? badRequest(error.message) : error
  }
}

/** A value that must be an object with well-formed kind and apiVersion, if it has them. */
function namedObject(value: unknown, purpose: BodyPurpose): Readonly<Record<string, unknown>> {
  if (isJsonObject(value)) {
    const { apiVersion = '', kind = '' } = value
    if (typeof (apiVersion ?? '') !== 'string' || typeof (kind ?? '') !== 'string') {
      throw badRequest(purpose.yaml(mistypedKind(value)))
    }
    if (String(apiVersion).split('/').length > 2) {
      throw badRequest(purpose.yaml(`unexpected GroupVersion string: ${String(apiVersion)}`))
    }
    return value
  }
  const type = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value
  throw badRequest(
    purpose.json(
      String.raw`json: cannot unmarshal ${type} into Go value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`,
    ),
  )
}

/** Parses an applied configuration, in JSON or YAML. */
export async function parseApplied(body: string): Promise<ParsedBody> {
  const parsed = await parseBody(body, true, patchPurpose(APPLY_PATCH))
  if (isJsonObject(parsed.value)) return parsed
  const type = Array.isArray(parsed.value) ? 'array' : typeof parsed.value === 'boolean' ? 'bool' : typeof parsed.value
  throw badRequest(
    `error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${type} into Go value of type map[string]interface {}`,
  )
}

export const NOTHING: ParsedBody = { value: undefined }
export const isDeletion = (verb: ResourceVerb): boolean => verb === 'delete' || verb === 'deletecollection'

export function verbOf(
  method: string,
  { name, isWatch }: ResourceRoute,
  asksToWatch: boolean,
): ResourceVerb | undefined {
  switch (method) {
    case 'GET':
      // For a single object by name, kube-apiserver ignores the watch parameter.
      if (isWatch || (asksToWatch && name === undefined)) return 'watch'
      return name === undefined ? 'list' : 'get'
    case 'POST':
      return 'create'
    case 'PUT':
      return 'update'
    case 'PATCH':
      return 'patch'
    case 'DELETE':
      return name === undefined ? 'deletecollection' : 'delete'
    default:
      return undefined
  }
}

/** Checks that the route supports the verb; otherwise the error is that of a router without such a path. */
export function checkRoute(definition: ResourceDefinition, route: ResourceRoute, verb: ResourceVerb): void {
  const { namespace, name, subresource } = route
  if (namespace !== undefined && !definition.namespaced) throw noSuchResource()
  if (subresource) {
    const found = subresourcesOf(definition).find((candidate) => candidate.name === subresource)
    // kube-apiserver looks up subresources of custom resources by other code, with another error.
    if (!found && !definition.isBuiltIn) throw notFound(definition, name ?? '')
    if (!found || (definition.namespaced && namespace === undefined)) throw noSuchResource()
    if (!found.verbs.includes(verb)) throw notAllowed()
    return
  }
  const isElsewhere = definition.namespaced && namespace === undefined
  if (isElsewhere && name !== undefined && verb !== 'watch') throw noSuchResource()
  if (isElsewhere && verb !== 'list' && verb !== 'watch') throw notAllowed()
  const needsName = verb === 'update' || verb === 'patch'
  if ((needsName && name === undefined) || (verb === 'create' && name !== undefined)) throw notAllowed()
  if (!definition.isTerminating && !definition.verbs.includes(verb)) throw notAllowed()
}

export function mediaType(header: string | undefined): string {
  if (!header) return 'application/json'
  const semicolon = header.indexOf(';')
  return (semicolon < 0 ? header : header.slice(0, semicolon)).trim().toLowerCase()
}

export function isYaml(type: string): boolean {
  if (type === 'application/yaml') return true
  if (type === 'application/json' || type === '*/*') return false
  throw new StatusError(
    415,
    'UnsupportedMediaType',
    'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf',
  )
}

export function checkPatchType(type: string, definition: ResourceDefinition): void {
  const known = ['application/json-patch+json', 'application/merge-patch+json', APPLY_PATCH]
  if (known.includes(type) || (definition.isBuiltIn && type === 'application/strategic-merge-patch+json')) return
  if (type !== 'application/strategic-merge-patch+json') {
    throw new StatusError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {})
  }
  throw new StatusError(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${known.join(', ')}`,
  )
}

/** Health checks are open to anonymous users, as in a real cluster. */
export function isPublic(path: string): boolean {
  return /^\/(?:healthz|livez|readyz|version)(?:\/|$)/.test(path)
}

export function isDiscovery(path: string): boolean {
  return /^\/(?:api|apis|openapi)(?:\/|$)/.test(path)
}
