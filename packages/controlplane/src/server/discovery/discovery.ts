import { subresourcesOf } from '../../registry/subresources/subresources.ts'
import type { ResourceCatalog, ResourceDefinition, Subresource } from '../../registry/types.ts'

interface Served {
  readonly group: string
  /** The preferred version first. */
  readonly versions: readonly { readonly version: string; readonly resources: readonly ResourceDefinition[] }[]
}

/** Groups in the order of kube-apiserver; others follow by name. */
const ORDER = [
  'apiregistration.k8s.io',
  'apps',
  'events.k8s.io',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'autoscaling',
  'batch',
  'certificates.k8s.io',
  'networking.k8s.io',
  'policy',
  'rbac.authorization.k8s.io',
  'storage.k8s.io',
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'scheduling.k8s.io',
  'coordination.k8s.io',
  'node.k8s.io',
  'discovery.k8s.io',
  'resource.k8s.io',
  'flowcontrol.apiserver.k8s.io',
]

/** Discovery documents per group and version, or aggregated. Rebuilt when the catalog changes. */
export class DiscoveryDocuments {
  readonly #catalog: ResourceCatalog
  readonly #extra: readonly ResourceDefinition[]
  readonly #documents = new Map<string, string>()
  #groups: readonly Served[] | undefined

  /** `extra` are resources that are not stored: reviews. */
  constructor(catalog: ResourceCatalog, extra: readonly ResourceDefinition[]) {
    this.#catalog = catalog
    this.#extra = extra
    catalog.onChange(() => {
      this.#documents.clear()
      this.#groups = undefined
    })
  }

  get groups(): readonly Served[] {
    return (this.#groups ??= collect([...this.#catalog.all(), ...this.#extra]))
  }

  /** A document of legacy discovery by path; undefined if there is none. */
  legacy(path: string): string | undefined {
    return this.#remember(path, () => this.#legacy(path))
  }

  aggregated(path: '/api' | '/apis'): string {
    const make = (): string => {
      const groups = this.groups.filter(({ group }) => (group === '') === (path === '/api'))
      return JSON.stringify({
        kind: 'APIGroupDiscoveryList',
        apiVersion: 'apidiscovery.k8s.io/v2',
        metadata: {},
        items: groups.map(aggregatedGroup),
      })
    }
    return this.#remember(`aggregated${path}`, make) ?? ''
  }

  /** All paths, for `/`. */
  paths(): readonly string[] {
    const found = ['/api', '/apis', '/healthz', '/livez', '/readyz', '/openapi/v3', '/version']
    for (const { group, versions } of this.groups) {
      if (group) found.push(`/apis/${group}`)
      for (const { version } of versions) found.push(group ? `/apis/${group}/${version}` : `/api/${version}`)
    }
    return found.toSorted()
  }

  #remember(key: string, make: () => string | undefined): string | undefined {
    const known = this.#documents.get(key)
    if (known !== undefined) return known
    const made = make()
    if (made !== undefined) this.#documents.set(key, made)
    return made
  }

  #legacy(path: string): string | undefined {
    const [, root, first, second, ...more] = path.split('/')
    if (more.length > 0) return undefined
    if (root === 'api') {
      if (!first) return JSON.stringify({ kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] })
      return second ? undefined : this.#resources('', first)
    }
    if (!first) {
      const groups = this.groups.filter(({ group }) => group !== '').map(legacyGroup)
      return JSON.stringify({ kind: 'APIGroupList', apiVersion: 'v1', groups })
    }
    if (second) return this.#resources(first, second)
    const served = this.groups.find(({ group }) => group === first)
    return served && JSON.stringify({ kind: 'APIGroup', apiVersion: 'v1', ...legacyGroup(served) })
  }

  #resources(group: string, version: string): string | undefined {
    const served = this.groups.find((candidate) => candidate.group === group)
    const found = served?.versions.find((candidate) => candidate.version === version)
    if (!found) return undefined
    return JSON.stringify({
      kind: 'APIResourceList',
      ...(group && { apiVersion: 'v1' }),
      groupVersion: group ? `${group}/${version}` : version,
      resources: found.resources.flatMap(legacyResources),
    })
  }
}

/** The position of a group among the others. */
function rank(group: string): number {
  return group === '' ? -1 : ORDER.includes(group) ? ORDER.indexOf(group) : ORDER.length
}

function collect(definitions: readonly ResourceDefinition[]): readonly Served[] {
  const groups = new Map<string, Map<string, ResourceDefinition[]>>()
  for (const definition of definitions) {
    const versions = groups.get(definition.group) ?? new Map<string, ResourceDefinition[]>()
    groups.set(definition.group, versions)
    const resources = versions.get(definition.version) ?? []
    versions.set(definition.version, resources)
    resources.push(definition)
  }
  return [...groups]
    .toSorted(([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : 1))
    .map(([group, versions]) => ({
      group,
      versions: [...versions]
        .toSorted(([a], [b]) => compareVersions(a, b))
        .map(([version, resources]) => ({
          version,
          resources: resources.toSorted((a, b) => (a.plural < b.plural ? -1 : 1)),
        })),
    }))
}

/** v2, v1, v2beta1, v1beta2, v1alpha1, then anything else by name. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [parseVersion(a), parseVersion(b)]
  if (!left || !right) return left ? -1 : right ? 1 : a < b ? -1 : a > b ? 1 : 0
  return right.stability - left.stability || right.major - left.major || right.minor - left.minor
}

function parseVersion(version: string): { stability: number; major: number; minor: number } | undefined {
  const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version)
  if (!match) return undefined
  const [, major, stability, minor] = match
  return {
    major: Number(major),
    stability: stability === undefined ? 2 : stability === 'beta' ? 1 : 0,
    minor: Number(minor ?? 0),
  }
}

function legacyGroup({ group, versions }: Served): object {
  const all = versions.map(({ version }) => ({ groupVersion: `${group}/${version}`, version }))
  return { name: group, versions: all, preferredVersion: all[0] }
}

function legacyResources(definition: ResourceDefinition): readonly object[] {
  const { plural, singular, namespaced, kind, verbs, shortNames, categories, storageVersionHash } = definition
  const own = {
    name: plural,
    singularName: singular,
    namespaced,
    kind,
    verbs,
    ...(shortNames.length > 0 && { shortNames }),
    ...(categories.length > 0 && { categories }),
    ...(storageVersionHash !== undefined && { storageVersionHash }),
  }
  const below = subresourcesOf(definition).map((subresource) => ({
    name: `${plural}/${subresource.name}`,
    singularName: '',
    namespaced,
    ...(isForeign(subresource, definition) && { group: subresource.group, version: subresource.version }),
    kind: subresource.kind,
    verbs: subresource.verbs,
  }))
  return [own, ...below]
}

/** Whether the kind is of another group or version, which discovery then names. */
function isForeign({ group, version }: Subresource, definition: ResourceDefinition): boolean {
  return group !== definition.group || version !== definition.version
}

function aggregatedGroup({ group, versions }: Served): object {
  return {
    metadata: group ? { name: group } : {},
    versions: versions.map(({ version, resources }) => ({
      version,
      resources: resources.map(aggregatedResource),
      freshness: 'Current',
    })),
  }
}

function aggregatedResource(definition: ResourceDefinition): object {
  const { plural, singular, namespaced, kind, verbs, shortNames, categories } = definition
  const below = subresourcesOf(definition).map((subresource) => ({
    subresource: subresource.name,
    responseKind: isForeign(subresource, definition)
      ? { group: subresource.group, version: subresource.version, kind: subresource.kind }
      : { group: '', version: '', kind: subresource.kind },
    verbs: subresource.verbs,
  }))
  return {
    resource: plural,
    responseKind: { group: '', version: '', kind },
    scope: namespaced ? 'Namespaced' : 'Cluster',
    singularResource: singular,
    verbs,
    ...(shortNames.length > 0 && { shortNames }),
    ...(categories.length > 0 && { categories }),
    ...(below.length > 0 && { subresources: below }),
  }
}
