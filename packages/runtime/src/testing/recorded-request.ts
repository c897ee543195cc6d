import { selectionMatcher, type TransportRequest, type TransportResponse, type Verb } from '@tenure/kube'
import type { JsonObject } from '@tenure/kube/model'
import { RequestError } from './responses.ts'

/** The resource that a URL names. */
export interface RequestTarget {
  readonly group: string
  readonly version: string
  readonly plural: string
  /** Empty: cluster-scoped, or all namespaces. */
  readonly namespace: string
  /** Empty: the collection. */
  readonly name: string
  readonly subresource: string
}

/** A request in Kubernetes terms. */
export interface RecordedRequest extends RequestTarget {
  readonly verb: Verb
  readonly method: TransportRequest['method']
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly headers: Readonly<Record<string, string>>
  /** Parsed; undefined if there is none. */
  readonly body: unknown
  /** Wall time of its arrival. */
  readonly at: number
}

/**
 * How a test intervenes in a request: with a response; with `drop`, which breaks the connection before the request is
 * carried out; or with `drop-response`, which carries it out and loses the response.
 */
export type Interception = TransportResponse | 'drop' | 'drop-response' | undefined
export type Interceptor = (request: RecordedRequest) => Interception | Promise<Interception>

export function readRequest(request: TransportRequest, at: number): RecordedRequest {
  const url = new URL(request.path, 'http://memory')
  const target = readTarget(url.pathname)
  const query = Object.fromEntries(url.searchParams)
  const headers = request.headers ?? {}
  return {
    ...target,
    verb: verbOf(request.method, target, query, headers),
    method: request.method,
    path: request.path,
    query,
    headers,
    body: request.body ? (JSON.parse(request.body) as unknown) : undefined,
    at,
  }
}

/** True for the objects that the request selects. */
export function selectionOf({ namespace, query }: RecordedRequest): (object: JsonObject) => boolean {
  const { labelSelector, fieldSelector } = query
  return selectionMatcher({
    ...(namespace && { namespace }),
    ...(labelSelector && { labelSelector }),
    ...(fieldSelector && { fieldSelector }),
  })
}

function readTarget(path: string): RequestTarget {
  const parts = path.split('/').filter(Boolean).map(decodeURIComponent)
  const isCore = parts[0] === 'api'
  const [group, version, rest] = isCore
    ? ['', parts[1] ?? '', parts.slice(2)]
    : [parts[1] ?? '', parts[2] ?? '', parts.slice(3)]
  if ((!isCore && parts[0] !== 'apis') || rest.length === 0) {
    throw new RequestError(404, 'NotFound', 'the server could not find the requested resource')
  }
  // /namespaces/x/pods is in a namespace; /namespaces/x and /namespaces/x/status are the Namespace itself.
  const isScoped = rest[0] === 'namespaces' && rest.length > 2 && rest[2] !== 'status'
  const [plural = '', name = '', subresource = ''] = isScoped ? rest.slice(2) : rest
  return { group, version, plural, namespace: isScoped ? (rest[1] ?? '') : '', name, subresource }
}

function verbOf(
  method: TransportRequest['method'],
  { name }: RequestTarget,
  query: RecordedRequest['query'],
  headers: RecordedRequest['headers'],
): Verb {
  const isApply = headers['content-type']?.startsWith('application/apply-patch') === true
  const verbs: Record<TransportRequest['method'], Verb> = {
    GET: name ? 'get' : query['watch'] === 'true' ? 'watch' : 'list',
    POST: 'create',
    PUT: 'update',
    PATCH: isApply ? 'apply' : 'patch',
    DELETE: name ? 'delete' : 'deletecollection',
  }
  return verbs[method]
}
