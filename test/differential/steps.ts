/** Builders for steps. */
import type { Json, JsonObject, ReadStep, RequestStep, WatchStep } from './case.ts'

type Extra = Omit<Partial<RequestStep>, 'method' | 'path' | 'body'>

export const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

export const JSON_PATCH = 'application/json-patch+json'
export const MERGE_PATCH = 'application/merge-patch+json'
export const STRATEGIC_PATCH = 'application/strategic-merge-patch+json'
export const APPLY_PATCH = 'application/apply-patch+yaml'

/** The path of a resource in the case's namespace: `core('configmaps', 'a')`. */
export const core = (plural: string, name?: string): string => below('/api/v1/namespaces/{ns}', plural, name)
export const named = (group: string, plural: string, name?: string): string =>
  below(`/apis/${group}/namespaces/{ns}`, plural, name)
export const custom = (plural: string, name?: string): string => named('{group}/v1', plural, name)

const below = (root: string, plural: string, name: string | undefined): string =>
  name === undefined ? `${root}/${plural}` : `${root}/${plural}/${name}`

const step = (method: string, path: string, body: Json | undefined, extra: Extra): RequestStep => ({
  method,
  path,
  ...(body !== undefined && { body }),
  ...extra,
})

export const create = (path: string, body: Json, extra: Extra = {}): RequestStep => step('POST', path, body, extra)
export const get = (path: string, extra: Extra = {}): RequestStep => step('GET', path, undefined, extra)
export const update = (path: string, body: Json, extra: Extra = {}): RequestStep => step('PUT', path, body, extra)
export const remove = (path: string, body?: Json, extra: Extra = {}): RequestStep => step('DELETE', path, body, extra)

export const patch = (type: string, path: string, body: Json, extra: Extra = {}): RequestStep =>
  step('PATCH', path, body, { ...extra, headers: { 'content-type': type, ...extra.headers } })

/** A server-side apply; `force` takes over the fields of other managers. */
export function apply(
  path: string,
  manager: string,
  body: JsonObject,
  { force, query, ...extra }: Extra & { readonly force?: boolean; readonly query?: string } = {},
): RequestStep {
  const flags = `${force === undefined ? '' : `&force=${force}`}${query === undefined ? '' : `&${query}`}`
  return patch(APPLY_PATCH, `${path}?fieldManager=${manager}${flags}`, body, extra)
}

export const watch = (
  name: string,
  path: string,
  extra: Omit<Partial<WatchStep>, 'watch' | 'path'> = {},
): WatchStep => ({
  watch: name,
  path: `${path}${path.includes('?') ? '&' : '?'}watch=true`,
  ...extra,
})
export const read = (
  name: string,
  events: number | 'all',
  extra: Omit<Partial<ReadStep>, 'read' | 'events'> = {},
): ReadStep => ({ read: name, events, ...extra })

/** Fields of a workload that controllers of the real server write. */
export const BY_CONTROLLERS: readonly string[] = [
  'status',
  'metadata.resourceVersion',
  'metadata.managedFields',
  'metadata.annotations',
]
