/**
 * Writes `kinds/generated/resources.ts` and `printing/generated/columns.ts` of the control plane: the resources that a
 * real API server serves (its discovery, as data) and the columns that it prints.
 *
 *   npm run cluster -- up
 *   node scripts/launch.mjs scripts/generate-kinds-table.ts --kubeconfig <path that `up` printed>
 */
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'

import { loadConfig } from '../packages/kube/src/config/load-config.ts'
import { HttpTransport } from '../packages/kube/src/transport/http-transport.ts'
import { Requester } from '../packages/kube/src/client/requester.ts'
import { programArguments } from './program-help.ts'

const HELP = {
  usage: 'node scripts/launch.mjs scripts/generate-kinds-table.ts [options]',
  summary: 'Write the resources and columns of the control plane from a real API server.',
  options: [
    {
      term: '--kubeconfig <path>',
      meaning: 'The cluster: the path that `npm run cluster -- up` printed. Default: as kubectl.',
    },
  ],
}

interface KindName {
  readonly group: string
  readonly version: string
  readonly kind: string
}

interface DiscoveredResource {
  readonly resource: string
  readonly responseKind: KindName
  readonly scope: 'Namespaced' | 'Cluster'
  readonly singularResource: string
  readonly verbs: readonly string[]
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly subresources?: readonly {
    readonly subresource: string
    readonly responseKind: KindName
    readonly verbs: readonly string[]
  }[]
}

interface Column {
  readonly name: string
  readonly type: string
  readonly format: string
  readonly description: string
  readonly priority: number
}

interface Discovery {
  readonly items: readonly {
    readonly metadata?: { readonly name?: string }
    readonly versions: readonly { readonly version: string; readonly resources?: readonly DiscoveredResource[] }[]
  }[]
}

const ACCEPT = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io'
const OWN_SCHEMA = /^io\.k8s\./

async function main(): Promise<void> {
  const { values } = programArguments(HELP, { options: { kubeconfig: { type: 'string' } } })
  const transport = new HttpTransport(await loadConfig({ kubeconfigPath: values.kubeconfig }))
  const requester = new Requester({ transport })
  const read = async (path: string, accept = 'application/json'): Promise<unknown> =>
    (await requester.json({ verb: 'raw', idempotent: true, method: 'GET', path, headers: { accept } })).value
  try {
    const { gitVersion } = (await read('/version')) as { readonly gitVersion: string }
    const rows: object[] = []
    const columns = new Map<string, readonly Column[]>()
    for (const root of ['/api', '/apis']) {
      const { items } = (await read(root, ACCEPT)) as Discovery
      for (const { metadata, versions } of items) {
        const group = metadata?.name ?? ''
        for (const { version, resources = [] } of versions) {
          const schemas = await schemaNames(group, version, read)
          const hashes = await storageVersionHashes(group, version, read)
          for (const resource of resources) {
            const schema = schemas.get(resource.responseKind.kind)
            // Custom resources installed in this cluster have no schema of Kubernetes itself.
            if (schema === undefined) continue
            rows.push(rowOf(group, version, resource, schema, hashes.get(resource.resource)))
            if (resource.verbs.includes('list')) {
              const path = `/${group ? `apis/${group}` : 'api'}/${version}/${resource.resource}?limit=1`
              const table = (await read(path, TABLE)) as { readonly columnDefinitions: readonly Column[] }
              columns.set(`${resource.resource}.${group}/${version}`, table.columnDefinitions)
            }
          }
        }
      }
    }
    const header = `// Kubernetes ${gitVersion}. Written by scripts/generate-kinds-table.ts: do not edit.\n`
    const sources = path.join(import.meta.dirname, '../packages/controlplane/src')
    const write = async (file: string, text: string): Promise<void> => {
      await mkdir(path.join(sources, path.dirname(file)), { recursive: true })
      await writeFile(path.join(sources, file), header + text)
    }
    await write('kinds/generated/resources.ts', resourcesFile(rows))
    await write('printing/generated/columns.ts', columnsFile(columns))
    console.log(`${rows.length} resources, Kubernetes ${gitVersion}`)
  } finally {
    await transport.close()
  }
}

async function schemaNames(
  group: string,
  version: string,
  read: (path: string) => Promise<unknown>,
): Promise<ReadonlyMap<string, string>> {
  const document = (await read(`/openapi/v3/${group ? `apis/${group}` : 'api'}/${version}`)) as {
    readonly components?: {
      readonly schemas?: Readonly<Record<string, { 'x-kubernetes-group-version-kind'?: readonly KindName[] }>>
    }
  }
  const names = new Map<string, string>()
  for (const [name, schema] of Object.entries(document.components?.schemas ?? {})) {
    for (const of of schema['x-kubernetes-group-version-kind'] ?? []) {
      if (of.group === group && of.version === version && OWN_SCHEMA.test(name)) names.set(of.kind, name)
    }
  }
  return names
}

/** The hashes of the versions that objects are stored in, which only the older form of discovery has. */
async function storageVersionHashes(
  group: string,
  version: string,
  read: (path: string) => Promise<unknown>,
): Promise<ReadonlyMap<string, string | undefined>> {
  const { resources } = (await read(`/${group ? `apis/${group}` : 'api'}/${version}`)) as {
    readonly resources: readonly { readonly name: string; readonly storageVersionHash?: string }[]
  }
  return new Map(resources.map(({ name, storageVersionHash }) => [name, storageVersionHash]))
}

function rowOf(
  group: string,
  version: string,
  resource: DiscoveredResource,
  schema: string,
  storageVersionHash: string | undefined,
): object {
  return {
    group,
    version,
    kind: resource.responseKind.kind,
    plural: resource.resource,
    singular: resource.singularResource,
    namespaced: resource.scope === 'Namespaced',
    verbs: resource.verbs,
    ...(resource.shortNames && { shortNames: resource.shortNames }),
    ...(resource.categories && { categories: resource.categories }),
    schema,
    storageVersionHash,
    ...(resource.subresources && {
      subresources: resource.subresources.map(({ subresource, responseKind, verbs }) => ({
        name: subresource,
        // An empty group in discovery means the group of the resource.
        group: responseKind.group || group,
        version: responseKind.version || version,
        kind: responseKind.kind,
        verbs,
      })),
    }),
  }
}

function resourcesFile(rows: readonly object[]): string {
  return [
    `import type { BuiltInResource } from '../built-in-resource.ts'\n\n`,
    `export const RESOURCES: readonly BuiltInResource[] = [\n`,
    ...rows.map((row) => `  ${JSON.stringify(row)},\n`),
    `]\n`,
  ].join('')
}

/** Descriptions repeat, so each is stored once and columns refer to it by index. */
function columnsFile(columns: ReadonlyMap<string, readonly Column[]>): string {
  const descriptions = [...new Set([...columns.values()].flat().map(({ description }) => description))]
  const line = ({ name, type, format, description, priority }: Column): string =>
    `[${JSON.stringify(name)},${JSON.stringify(type)},${JSON.stringify(format)},${priority},${descriptions.indexOf(description)}]`
  return [
    `\nexport const DESCRIPTIONS: readonly string[] = [\n`,
    ...descriptions.map((text) => `  ${JSON.stringify(text)},\n`),
    `]\n`,
    `\n/** \`plural.group/version\` → the columns of its table: name, type, format, priority, description. */\n`,
    `export const COLUMNS: Readonly<Record<string, readonly (readonly [string, string, string, number, number])[]>> = {\n`,
    ...[...columns].map(([key, list]) => `  '${key}': [${list.map(line).join(',')}],\n`),
    `}\n`,
  ].join('')
}

await main()
