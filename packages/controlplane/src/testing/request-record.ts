import type { TransportRequest, Verb } from '@tenure/kube'
import type { RecordedRequest } from '@tenure/runtime/testing'
import { parseRoute, type ResourceRoute } from '../server/http/route.ts'

/** A request in Kubernetes terms. A path that names no resource, such as `/apis`, has an empty `plural`. */
export function recordOf(request: TransportRequest, at: number): RecordedRequest {
  const { method, path, body } = request
  const url = new URL(path, 'http://test')
  const query = Object.fromEntries(url.searchParams)
  const headers = request.headers ?? {}
  const route = parseRoute(url.pathname)
  return {
    group: route?.group ?? '',
    version: route?.version ?? '',
    plural: route?.plural ?? '',
    namespace: route?.namespace ?? '',
    name: route?.name ?? '',
    subresource: route?.subresource ?? '',
    verb: verbOf(method, route, query, headers),
    method,
    path,
    query,
    headers,
    body: body ? parsed(body) : undefined,
    at,
  }
}

function verbOf(
  method: TransportRequest['method'],
  route: ResourceRoute | undefined,
  query: RecordedRequest['query'],
  headers: RecordedRequest['headers'],
): Verb {
  const isNamed = route === undefined || route.name !== undefined
  switch (method) {
    case 'GET':
      if (query['watch'] === 'true' || query['watch'] === '1') return 'watch'
      return isNamed ? 'get' : 'list'
    case 'POST':
      return 'create'
    case 'PUT':
      return 'update'
    case 'PATCH':
      return headers['content-type']?.startsWith('application/apply-patch') ? 'apply' : 'patch'
    default:
      return isNamed ? 'delete' : 'deletecollection'
  }
}

/** A body that is not JSON stays a string. */
function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return body
  }
}
