import { badRequest, StatusError } from '../errors.ts'
import type { ResourceVerb } from '../registry/request.ts'
import { subresourcesOf } from '../registry/subresources.ts'
import type { ResourceDefinition } from '../registry/types.ts'
import { APPLY_PATCH } from '../registry/patch.ts'
import { objectPurpose, parseBody } from './body.ts'
import type { ParsedBody } from './body.ts'
import type { ResourceRoute } from './route.ts'

const METHOD_NOT_ALLOWED = 'the server does not allow this method on the requested resource'
export const noSuchResource = (): StatusError =>
  new StatusError(404, 'NotFound', 'the server could not find the requested resource', {})
export const notAllowed = (): StatusError => new StatusError(405, 'MethodNotAllowed', METHOD_NOT_ALLOWED, {})

/** A body that must be an object. */
export async function parseObject(body: string, yaml: boolean, kind: string): Promise<ParsedBody> {
  const purpose = objectPurpose(kind, body)
  const parsed = await parseBody(body, yaml, purpose)
  const { value } = parsed
  if (value === null) return { ...parsed, value: {} }
  if (typeof value === 'object' && !Array.isArray(value)) return parsed
  const type = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value
  throw badRequest(
    purpose.json(
      String.raw`json: cannot unmarshal ${type} into Go value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`,
    ),
  )
}

export const NOTHING: ParsedBody = { value: undefined, duplicates: [] }
export const isDeletion = (verb: ResourceVerb): boolean => verb === 'delete' || verb === 'deletecollection'

export function verbOf(
  method: string,
  { name, isWatch }: ResourceRoute,
  asksToWatch: boolean,
): ResourceVerb | undefined {
  switch (method) {
    case 'GET':
    case 'HEAD':
      if (isWatch || asksToWatch) return 'watch'
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

/** Whether the verb can be asked for at this place: refuses as a router that has no such path. */
export function checkPlace(definition: ResourceDefinition, route: ResourceRoute, verb: ResourceVerb): void {
  const { namespace, name, subresource } = route
  if (namespace !== undefined && !definition.namespaced) throw noSuchResource()
  if (subresource) {
    const found = subresourcesOf(definition).find((candidate) => candidate.name === subresource)
    if (!found || (definition.namespaced && namespace === undefined)) throw noSuchResource()
    if (!found.verbs.includes(verb)) throw notAllowed()
    return
  }
  const isElsewhere = definition.namespaced && namespace === undefined
  if (isElsewhere && name !== undefined && verb !== 'watch') throw noSuchResource()
  if (isElsewhere && verb !== 'list' && verb !== 'watch') throw notAllowed()
  const needsName = verb === 'update' || verb === 'patch'
  if ((needsName && name === undefined) || (verb === 'create' && name !== undefined)) throw notAllowed()
  if (!definition.verbs.includes(verb)) throw notAllowed()
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
    'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml',
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

/** Open to everybody, as a real cluster has it: programs that watch over it have no credentials. */
export function isPublic(path: string): boolean {
  return /^\/(?:healthz|livez|readyz|version)(?:\/|$)/.test(path)
}

export function isDiscovery(path: string): boolean {
  return /^\/(?:api|apis|openapi)(?:\/|$)/.test(path)
}
