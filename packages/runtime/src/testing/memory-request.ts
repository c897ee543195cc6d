import type { TransportRequest } from '@tenure/kube'
import { Refusal } from './memory-answer.ts'
import { childOf, isJson, stringOf, type Json } from './memory-json.ts'

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'apply' | 'delete' | 'deletecollection'

/** Which resource a URL names. */
export interface Target {
  readonly group: string
  readonly version: string
  readonly plural: string
  /** Empty: cluster-scoped, or all namespaces. */
  readonly namespace: string
  /** Empty: the collection. */
  readonly name: string
  readonly subresource: string
}

/** What was asked for, in Kubernetes' terms. */
export interface RecordedRequest extends Target {
  readonly verb: Verb
  readonly method: TransportRequest['method']
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly headers: Readonly<Record<string, string>>
  /** Parsed; undefined without one. */
  readonly body: unknown
  /** Wall time of its arrival. */
  readonly at: number
}

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
    body: request.body ? parseBody(request.body) : undefined,
    at,
  }
}

function readTarget(path: string): Target {
  const parts = path.split('/').filter(Boolean).map(decodeURIComponent)
  const isCore = parts[0] === 'api'
  const [group, version, rest] = isCore
    ? ['', parts[1] ?? '', parts.slice(2)]
    : [parts[1] ?? '', parts[2] ?? '', parts.slice(3)]
  if ((!isCore && parts[0] !== 'apis') || rest.length === 0) {
    throw new Refusal(404, 'NotFound', 'the server could not find the requested resource')
  }
  // /namespaces/x/pods is in a namespace; /namespaces/x and /namespaces/x/status are the Namespace itself.
  const scoped = rest[0] === 'namespaces' && rest.length > 2 && rest[2] !== 'status' && rest[2] !== 'finalize'
  const [plural = '', name = '', subresource = ''] = scoped ? rest.slice(2) : rest
  return { group, version, plural, namespace: scoped ? (rest[1] ?? '') : '', name, subresource }
}

function verbOf(
  method: TransportRequest['method'],
  target: Target,
  query: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>>,
): Verb {
  const isWatch = query['watch'] === 'true' || query['watch'] === '1'
  const isApply = headers['content-type']?.startsWith('application/apply-patch') === true
  const verbs: Record<TransportRequest['method'], Verb> = {
    GET: target.name ? 'get' : isWatch ? 'watch' : 'list',
    POST: 'create',
    PUT: 'update',
    PATCH: isApply ? 'apply' : 'patch',
    DELETE: target.name ? 'delete' : 'deletecollection',
  }
  return verbs[method]
}

function parseBody(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch (error) {
    throw new Refusal(400, 'BadRequest', `the body is not JSON: ${String(error)}`)
  }
}

/**
 * A request's selection as a test. Written apart from the client's selectors on purpose: a test double that shares
 * its code with what it tests finds nothing.
 */
export function selectionOf(request: RecordedRequest): (object: Json) => boolean {
  const labels = terms(request.query['labelSelector'])
  const fields = terms(request.query['fieldSelector'])
  return (object) => {
    const metadata = childOf(object, 'metadata')
    if (request.namespace && metadata['namespace'] !== request.namespace) return false
    const own = childOf(metadata, 'labels')
    return (
      labels.every((term) => matches(term, (key) => own[key])) &&
      fields.every((term) => matches(term, (path) => stringOf(lookUp(object, path))))
    )
  }
}

function terms(selector: string | undefined): readonly string[] {
  return (selector ?? '')
    .split(/,(?![^(]*\))/)
    .map((term) => term.trim())
    .filter(Boolean)
}

function matches(term: string, read: (key: string) => unknown): boolean {
  const set = /^(\S+)\s+(in|notin)\s*\(([^)]*)\)$/.exec(term)
  if (set) {
    const values = (set[3] ?? '').split(',').map((value) => value.trim())
    const value = read(set[1] ?? '')
    return typeof value === 'string' && values.includes(value) ? set[2] === 'in' : set[2] === 'notin'
  }
  const equation = /^([^=!]+?)\s*(==|=|!=)\s*(.*)$/.exec(term)
  if (equation) {
    const same = read(equation[1] ?? '') === equation[3]
    return equation[2] === '!=' ? !same : same
  }
  return term.startsWith('!') ? read(term.slice(1).trim()) === undefined : read(term) !== undefined
}

function lookUp(object: Json, path: string): unknown {
  let value: unknown = object
  for (const key of path.split('.')) value = isJson(value) ? value[key] : undefined
  return value
}
