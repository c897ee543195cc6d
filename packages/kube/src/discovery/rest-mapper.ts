import type { CallOptions } from '../client/api.ts'
import { unlessAborted } from '../clock.ts'
import { closest } from '../text/edit-distance.ts'
import { discover } from './discovery.ts'
import type { ApiGroups, ApiGroupVersion, ApiResource } from './discovery.ts'
import { TenureError } from '../errors/errors.ts'
import { defineKind } from '../model/kind.ts'
import type { Kind } from '../model/kind.ts'
import type { KubeObject } from '../model/object.ts'
import type { Requester } from '../client/requester.ts'

export interface KindQuery {
  /** The kind, or a name that kubectl accepts: plural, singular or short name. */
  readonly name: string
  /** Default: the first group with such a kind, the core group first. `''` is the core group. */
  readonly group?: string | undefined
  /** Default: the server's preferred version. */
  readonly version?: string | undefined
}

export interface RestMapperOptions {
  /** Minimum age of the cached discovery, in milliseconds, before a miss reads it again. Default 5000. */
  readonly refreshAfter?: number
}

interface Snapshot {
  readonly groups: ApiGroups
  readonly at: number
}

/**
 * Finds the Kind for a name at run time, from API discovery. Discovery is cached, and read again when a kind is missing,
 * because its CRD may be new.
 */
export class RestMapper {
  readonly #requester: Requester
  readonly #refreshAfter: number
  #snapshot: Snapshot | undefined
  #reading: Promise<Snapshot> | undefined
  /** A read that started before `invalidate` is not cached. */
  #generation = 0
  readonly #kinds = new Map<string, Kind>()

  constructor(requester: Requester, options: RestMapperOptions = {}) {
    this.#requester = requester
    this.#refreshAfter = options.refreshAfter ?? 5000
  }

  /** The Kind for `query`. Throws `TENURE_KIND_UNKNOWN`, with suggestions, if the server does not serve it. */
  async kind<T extends KubeObject = KubeObject>(query: KindQuery, options: CallOptions = {}): Promise<Kind<T>> {
    const resource = await this.resource(query, options)
    const key = `${resource.plural}.${resource.group}/${resource.version}/${resource.kind}/${resource.namespaced}`
    let kind = this.#kinds.get(key)
    if (!kind) {
      kind = defineKind({
        apiVersion: resource.group ? `${resource.group}/${resource.version}` : resource.version,
        kind: resource.kind,
        plural: resource.plural,
        namespaced: resource.namespaced,
      })
      this.#kinds.set(key, kind)
    }
    return kind as Kind<T>
  }

  /** The Kind of an object or of an owner reference. */
  kindOf<T extends KubeObject = KubeObject>(
    object: { readonly apiVersion: string; readonly kind: string },
    options: CallOptions = {},
  ): Promise<Kind<T>> {
    const slash = object.apiVersion.indexOf('/')
    const group = slash < 0 ? '' : object.apiVersion.slice(0, slash)
    return this.kind({ name: object.kind, group, version: object.apiVersion.slice(slash + 1) }, options)
  }

  /** Like `kind`, with everything from discovery: verbs, subresources, short names. */
  async resource(query: KindQuery, options: CallOptions = {}): Promise<ApiResource> {
    let snapshot = this.#snapshot ?? (await this.#read(options))
    let found = find(snapshot.groups, query)
    if (!found && this.#requester.clock.monotonic() - snapshot.at >= this.#refreshAfter) {
      snapshot = await this.#read(options)
      found = find(snapshot.groups, query)
    }
    if (!found) throw unknown(snapshot.groups, query)
    return found
  }

  /** All resources of the server, as last read. */
  async groups(options: CallOptions = {}): Promise<ApiGroups> {
    return (this.#snapshot ?? (await this.#read(options))).groups
  }

  /** Drops the cache; the next call reads discovery again. */
  invalidate(): void {
    this.#snapshot = undefined
    this.#reading = undefined
    this.#generation++
  }

  /** Concurrent callers share one read. It continues if one of them aborts. */
  #read({ signal }: CallOptions): Promise<Snapshot> {
    this.#reading ??= this.#discover(++this.#generation)
    return signal ? unlessAborted(this.#reading, signal) : this.#reading
  }

  async #discover(generation: number): Promise<Snapshot> {
    try {
      const snapshot = { groups: await discover(this.#requester), at: this.#requester.clock.monotonic() }
      if (generation === this.#generation) this.#snapshot = snapshot
      return snapshot
    } finally {
      if (generation === this.#generation) this.#reading = undefined
    }
  }
}

/** From the strictest to the loosest match. Each is tried in all groups before the next. */
const MATCHERS: readonly ((resource: ApiResource, name: string) => boolean)[] = [
  (resource, name) => resource.kind === name,
  (resource, name) => resource.plural === name.toLowerCase(),
  (resource, name) => resource.singular === name.toLowerCase(),
  (resource, name) => resource.shortNames.includes(name.toLowerCase()),
  (resource, name) => resource.kind.toLowerCase() === name.toLowerCase(),
]

function find(groups: ApiGroups, query: KindQuery): ApiResource | undefined {
  const versions = candidates(groups, query)
  for (const matches of MATCHERS) {
    for (const { resources } of versions) {
      const found = resources.find((resource) => matches(resource, query.name))
      if (found) return found
    }
  }
  return undefined
}

function candidates(groups: ApiGroups, { group, version }: KindQuery): ApiGroupVersion[] {
  return groups
    .filter(({ name }) => group === undefined || name === group)
    .flatMap(({ versions }) => versions.filter((served) => version === undefined || served.version === version))
}

function unknown(groups: ApiGroups, query: KindQuery): TenureError {
  const asked = [query.name, query.group, query.version && `(${query.version})`].filter(Boolean).join(' ')
  const broken = candidates(groups, query).find(({ failure }) => failure)?.failure
  const elsewhere = groups.flatMap(({ versions }) => versions.flatMap(({ resources }) => resources))
  const near = closest(query.name, elsewhere, (resource) => [resource.kind, resource.plural, ...resource.shortNames])
  const names = [...new Set(near.map(({ kind, group, version }) => `${kind} (${group ? `${group}/` : ''}${version})`))]
  const hint = names.length > 0 ? ` Did you mean ${names.slice(0, 3).join(', ')}?` : ''
  const crd = query.group && broken ? '' : ' If it is a custom resource, check that its CRD is installed.'
  const why = `${crd}${broken ? ` ${broken.message}` : ''}`
  // The CRD may be installed later, so a retry can succeed.
  return new TenureError('TENURE_KIND_UNKNOWN', `The API server does not serve ${asked}.${hint}${why}`, {
    fate: 'retry',
    cause: broken,
  })
}
