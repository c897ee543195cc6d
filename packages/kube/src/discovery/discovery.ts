import type { CallOptions } from '../client/api.ts'
import { asError, ConnectionError, isNotFound } from '../errors/errors.ts'
import { JSON_TYPE } from '../model/representation.ts'
import type { Requester } from '../client/requester.ts'

/** One resource that an API server serves, in one version. */
export interface ApiResource {
  /** Empty for the core group. */
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
  readonly singular: string
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly namespaced: boolean
  readonly verbs: readonly string[]
  /** `status`, `scale`… */
  readonly subresources: readonly string[]
}

export interface ApiGroup {
  readonly name: string
  /** The preferred version comes first. */
  readonly versions: readonly ApiGroupVersion[]
}

export interface ApiGroupVersion {
  readonly version: string
  readonly resources: readonly ApiResource[]
  /** Set if the resources may be incomplete or old, because an aggregated API server does not answer. */
  readonly failure: Error | undefined
}

/** In the server's order of preference, the core group first. */
export type ApiGroups = readonly ApiGroup[]

// In order of preference: servers before 1.30 know only the beta, servers before 1.26 neither.
const AGGREGATED = ['v2', 'v2beta1']
  .map((version) => `${JSON_TYPE};g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
  .concat(JSON_TYPE)
  .join(',')

const LEGACY_CONCURRENCY = 8

/** Reads the resources of the server with two requests, or with one per group and version if the server is old. */
export async function discover(requester: Requester, options: CallOptions = {}): Promise<ApiGroups> {
  const [core, named] = await Promise.all([
    read(requester, '/api', AGGREGATED, options),
    read(requester, '/apis', AGGREGATED, options),
  ])
  return [
    ...(isAggregated(core) ? fromAggregated(core) : await legacy(requester, coreVersions(core), options)),
    ...(isAggregated(named) ? fromAggregated(named) : await legacy(requester, groupVersions(named), options)),
  ]
}

async function read(requester: Requester, path: string, accept: string, options: CallOptions): Promise<object> {
  const { value } = await requester.json({
    verb: 'raw',
    idempotent: true,
    method: 'GET',
    path,
    headers: { accept },
    signal: options.signal,
  })
  if (typeof value === 'object' && value !== null) return value
  throw new ConnectionError(
    'TENURE_ANSWER_UNREADABLE',
    `The response to ${path} is not API discovery: check the server's address.`,
  )
}

interface AggregatedList {
  readonly kind: 'APIGroupDiscoveryList'
  readonly items?: readonly {
    readonly metadata?: { readonly name?: string }
    readonly versions?: readonly {
      readonly version: string
      readonly freshness?: string
      readonly resources?: readonly AggregatedResource[]
    }[]
  }[]
}

interface AggregatedResource {
  readonly resource: string
  readonly responseKind?: { readonly kind?: string }
  readonly scope?: string
  readonly singularResource?: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly verbs?: readonly string[]
  readonly subresources?: readonly { readonly subresource: string }[]
}

function isAggregated(value: object): value is AggregatedList {
  return 'kind' in value && value.kind === 'APIGroupDiscoveryList'
}

function fromAggregated(list: AggregatedList): ApiGroup[] {
  return (list.items ?? []).map((item) => {
    const name = item.metadata?.name ?? ''
    const versions = (item.versions ?? []).map(({ version, freshness, resources = [] }) => ({
      version,
      failure: freshness === 'Stale' ? staleGroup(name, version) : undefined,
      resources: resources.flatMap((resource) => {
        const kind = resource.responseKind?.kind
        // A resource without a kind only has subresources.
        return kind ? [fromAggregatedResource(name, version, kind, resource)] : []
      }),
    }))
    return { name, versions }
  })
}

function fromAggregatedResource(
  group: string,
  version: string,
  kind: string,
  resource: AggregatedResource,
): ApiResource {
  return {
    group,
    version,
    kind,
    plural: resource.resource,
    singular: resource.singularResource || kind.toLowerCase(),
    shortNames: resource.shortNames ?? [],
    categories: resource.categories ?? [],
    namespaced: resource.scope === 'Namespaced',
    verbs: resource.verbs ?? [],
    subresources: (resource.subresources ?? []).map(({ subresource }) => subresource),
  }
}

function staleGroup(group: string, version: string): Error {
  return new ConnectionError(
    'TENURE_DISCOVERY_STALE',
    `The API server cannot reach the API service ${group}/${version}: see the status of its APIService.`,
  )
}

/** A group and its versions, without resources. */
interface GroupOutline {
  readonly name: string
  readonly versions: readonly string[]
}

function coreVersions(value: { readonly versions?: readonly string[] }): GroupOutline[] {
  return [{ name: '', versions: value.versions ?? [] }]
}

interface LegacyGroupList {
  readonly groups?: readonly {
    readonly name: string
    readonly versions?: readonly { readonly version: string }[]
    readonly preferredVersion?: { readonly version: string }
  }[]
}

function groupVersions(value: LegacyGroupList): GroupOutline[] {
  return (value.groups ?? []).map(({ name, versions = [], preferredVersion }) => {
    const served = versions.map(({ version }) => version)
    const preferred = preferredVersion?.version
    return { name, versions: preferred ? [...new Set([preferred, ...served])] : served }
  })
}

interface LegacyResource {
  readonly name: string
  readonly singularName?: string
  readonly namespaced?: boolean
  readonly kind: string
  readonly verbs?: readonly string[]
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
}

async function legacy(
  requester: Requester,
  outlines: readonly GroupOutline[],
  options: CallOptions,
): Promise<ApiGroup[]> {
  const wanted = outlines.flatMap(({ name, versions }) => versions.map((version) => ({ group: name, version })))
  const found = new Map<string, ApiGroupVersion>()
  const queue = wanted.values()
  const worker = async (): Promise<void> => {
    for (const { group, version } of queue) {
      found.set(`${group}/${version}`, await legacyVersion(requester, group, version, options))
    }
  }
  await Promise.all(Array.from({ length: LEGACY_CONCURRENCY }, worker))
  return outlines.map(({ name, versions }) => ({
    name,
    versions: versions.flatMap((version) => found.get(`${name}/${version}`) ?? []),
  }))
}

/** A group that does not answer must not hide the others, so its failure is part of the result. */
async function legacyVersion(
  requester: Requester,
  group: string,
  version: string,
  options: CallOptions,
): Promise<ApiGroupVersion> {
  const path = group ? `/apis/${group}/${version}` : `/api/${version}`
  try {
    const list: { readonly resources?: readonly LegacyResource[] } = await read(requester, path, JSON_TYPE, options)
    return { version, resources: fromLegacy(group, version, list.resources ?? []), failure: undefined }
  } catch (error) {
    if (options.signal?.aborted) throw error
    // The version was removed after the list of groups was read; this is not a failure.
    return { version, resources: [], failure: isNotFound(error) ? undefined : asError(error) }
  }
}

function fromLegacy(group: string, version: string, resources: readonly LegacyResource[]): ApiResource[] {
  const subresources = Map.groupBy(
    resources.filter(({ name }) => name.includes('/')),
    ({ name }) => name.slice(0, name.indexOf('/')),
  )
  return resources
    .filter(({ name }) => !name.includes('/'))
    .map((resource) => ({
      group,
      version,
      kind: resource.kind,
      plural: resource.name,
      singular: resource.singularName || resource.kind.toLowerCase(),
      shortNames: resource.shortNames ?? [],
      categories: resource.categories ?? [],
      namespaced: resource.namespaced ?? false,
      verbs: resource.verbs ?? [],
      subresources: (subresources.get(resource.name) ?? []).map(({ name }) => name.slice(name.indexOf('/') + 1)),
    }))
}
