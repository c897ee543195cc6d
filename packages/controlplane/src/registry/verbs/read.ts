import { badRequest, gone, notFound, StatusError } from '../../errors.ts'
import { RevisionCompacted } from '../../storage/types.ts'
import type { StoredObject } from '../../storage/types.ts'
import type { RegistryContext } from '../context.ts'
import { ContinueExpired, decodeContinue, encodeContinue } from '../options/continue-token.ts'
import type { ContinueToken } from '../options/continue-token.ts'
import { asRead, inVersion } from '../decode/derived-object.ts'
import { pathSegment } from '@tenure/kube/model'
import { checkListOptions, listRevision, parseRevision } from '../options/check-options.ts'
import type { ResourceResponse, ResourceRequest } from '../request.ts'
import { parseSelection } from '../selectors/selection.ts'

export function keyFor(namespace: string | undefined, name: string): string {
  return namespace === undefined ? name : `${namespace}/${name}`
}

function tooLarge(revision: number, current: number): StatusError {
  return new StatusError(504, 'Timeout', `Timeout: Too large resource version: ${revision}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  })
}

/** The object that a request names, or a 404. */
export function find({ storage }: RegistryContext, request: ResourceRequest): StoredObject {
  const { definition, namespace, name = '', at } = request
  const wrong = pathSegment(name)
  if (wrong.length > 0) throw badRequest(`Name parameter invalid: ${JSON.stringify(name)}: ${wrong.join(';')}`)
  const key = keyFor(namespace, name)
  const stored = at === undefined ? storage.get(definition.bucket, key) : findAt(storage, definition.bucket, key, at)
  if (!stored) throw notFound(definition, name)
  return asRead(stored, definition)
}

function findAt(
  storage: RegistryContext['storage'],
  bucket: string,
  key: string,
  at: number,
): StoredObject | undefined {
  const slash = key.indexOf('/')
  const options = slash < 0 ? { at } : { at, namespace: key.slice(0, slash) }
  for (const stored of storage.range(bucket, options)) if (stored.key === key) return stored
  return undefined
}

export function get(context: RegistryContext, request: ResourceRequest): ResourceResponse {
  const { resourceVersion } = request.options
  const wanted = parseRevision(
    resourceVersion,
    (why) => new StatusError(500, '', `resourceVersion: Invalid value: ${JSON.stringify(resourceVersion)}: ${why}`),
  )
  if (wanted !== undefined && wanted > context.storage.revision) throw tooLarge(wanted, context.storage.revision)
  return { type: 'object', status: 200, stored: inVersion(find(context, request), request.definition), warnings: [] }
}

export function list(context: RegistryContext, request: ResourceRequest): ResourceResponse {
  const { storage } = context
  const { definition, options } = request
  checkListOptions(options)
  const selection = parseSelection(options, definition)
  const token = options.continue ? decodeContinue(options.continue) : undefined
  // A token has its own revision, so the request may not set one; "0" is not a version.
  if (token && options.resourceVersion && options.resourceVersion !== '0') {
    throw badRequest('specifying resource version is not allowed when using continue')
  }
  const wanted = token ? undefined : listRevision(options)
  const named = token?.revision ?? wanted
  if (named !== undefined && named > storage.revision) throw tooLarge(named, storage.revision)
  // Any state is acceptable for "0", so the limit is ignored, as in kube-apiserver.
  const limit = options.resourceVersion === '0' || !options.limit || options.limit < 0 ? Infinity : options.limit
  const at = snapshotOf(options.resourceVersionMatch, wanted, token, limit) ?? request.at
  const revision = at ?? storage.revision
  const namespace = request.namespace ?? (definition.namespaced ? selection.fields.namespace : undefined)

  const { name } = selection.fields
  if (name !== undefined && at === undefined && !token && (namespace !== undefined || !definition.namespaced)) {
    const stored = storage.get(definition.bucket, keyFor(namespace, name))
    const items =
      stored && (selection.matches?.(asRead(stored, definition).object) ?? true) ? [inVersion(stored, definition)] : []
    return { type: 'list', items, revision }
  }

  const items: StoredObject[] = []
  let hasMore = false
  try {
    for (const stored of storage.range(definition.bucket, { namespace, after: token?.after, at })) {
      if (selection.matches && !selection.matches(asRead(stored, definition).object)) continue
      if (items.length >= limit) {
        hasMore = true
        break
      }
      items.push(inVersion(stored, definition))
    }
  } catch (error) {
    if (!(error instanceof RevisionCompacted)) throw error
    if (token) throw new ContinueExpired(token)
    throw gone('The resourceVersion for the provided list is too old.')
  }
  if (!hasMore) return { type: 'list', items, revision }
  const remaining = remainingAfter(
    context,
    request,
    namespace,
    token,
    items.length,
    at,
    selection.matches !== undefined,
  )
  const next = encodeContinue({ revision, after: items.at(-1)?.key ?? '', remaining })
  return { type: 'list', items, revision, continue: next, ...(remaining !== undefined && { remaining }) }
}

/** The revision whose state the list must show; undefined: the newest. */
function snapshotOf(
  match: string | undefined,
  wanted: number | undefined,
  token: ContinueToken | undefined,
  limit: number,
): number | undefined {
  if (token) return token.revision < 0 ? undefined : token.revision
  if (wanted === undefined || wanted === 0) return undefined
  // Without a match, a first page at a revision is exact, and a whole list is not older than it.
  return match === 'Exact' || (!match && limit !== Infinity) ? wanted : undefined
}

/** Number of objects after this page. Unknown under a selector, because they have not been tested. */
function remainingAfter(
  { storage }: RegistryContext,
  { definition }: ResourceRequest,
  namespace: string | undefined,
  token: ContinueToken | undefined,
  shown: number,
  at: number | undefined,
  isSelecting: boolean,
): number | undefined {
  if (isSelecting) return undefined
  if (token) return token.remaining === undefined ? undefined : Math.max(token.remaining - shown, 1)
  if (at === undefined) return storage.count(definition.bucket, namespace) - shown
  let count = 0
  for (const _ of storage.range(definition.bucket, { namespace, at })) count++
  return count - shown
}
