/**
 * Writes `packages/kube/src/generated/{types,kinds}.ts` from what a real API server says of itself: which kinds it
 * serves (discovery) and how they look (OpenAPI v3).
 *
 *   npm run cluster -- up
 *   node scripts/launch.mjs scripts/generate-kinds.ts --kubeconfig <path that `up` printed>
 */
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'

import { loadConfig } from '../packages/kube/src/config/load-config.ts'
import { discover } from '../packages/kube/src/discovery/discovery.ts'
import type { ApiResource } from '../packages/kube/src/discovery/discovery.ts'
import { HttpTransport } from '../packages/kube/src/transport/http-transport.ts'
import { Requester } from '../packages/kube/src/client/requester.ts'
import { programArguments } from './program-help.ts'

const HELP = {
  usage: 'node scripts/launch.mjs scripts/generate-kinds.ts [options]',
  summary: 'Write the kinds and types of packages/kube from a real API server.',
  options: [
    {
      term: '--kubeconfig <path>',
      meaning: 'The cluster: the path that `npm run cluster -- up` printed. Default: as kubectl.',
    },
  ],
}

interface Schema {
  readonly type?: string
  readonly enum?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly additionalProperties?: Schema
  readonly allOf?: readonly Schema[]
  readonly $ref?: string
  readonly 'x-kubernetes-group-version-kind'?: readonly {
    readonly group: string
    readonly version: string
    readonly kind: string
  }[]
}

type Schemas = ReadonlyMap<string, Schema>

/** A kind to generate: the resource, its schema and its TypeScript name. */
interface Generated {
  readonly resource: ApiResource
  readonly schema: string
  readonly name: string
}

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1.'

/** Types that are written by hand, with the file that defines them. */
const BY_HAND: ReadonlyMap<string, string> = new Map([
  ['Condition', '../model/object.ts'],
  ['LabelSelector', '../model/label-selector.ts'],
  ['LabelSelectorRequirement', '../model/label-selector.ts'],
  ['ManagedFieldsEntry', '../model/object.ts'],
  ['ObjectMeta', '../model/object.ts'],
  ['OwnerReference', '../model/object.ts'],
])

/** Schemas that do not become interfaces. A quantity may be sent as a number, but the API server returns a string. */
const PLAIN: ReadonlyMap<string, string> = new Map([
  [`${META}Time`, 'string'],
  [`${META}MicroTime`, 'string'],
  [`${META}FieldsV1`, 'Readonly<Record<string, unknown>>'],
  ['io.k8s.apimachinery.pkg.runtime.RawExtension', 'Readonly<Record<string, unknown>>'],
  ['io.k8s.apimachinery.pkg.api.resource.Quantity', 'string'],
  ['io.k8s.apimachinery.pkg.util.intstr.IntOrString', 'number | string'],
  ['io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON', 'unknown'],
  ...(
    [
      ['Array', 'JSONSchemaProps | readonly JSONSchemaProps[]'],
      ['Bool', 'JSONSchemaProps | boolean'],
      ['StringArray', 'JSONSchemaProps | readonly string[]'],
    ] as const
  ).map(([suffix, type]): [string, string] => [
    `io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOr${suffix}`,
    type,
  ]),
])

const OWN_SCHEMA = /^io\.k8s\.(api|apiextensions-apiserver|kube-aggregator)\./

/** Kinds that are renamed so that the same name in another group stays unprefixed. */
const RENAMED: ReadonlyMap<string, string> = new Map([['io.k8s.api.core.v1.Event', 'CoreEvent']])

async function main(): Promise<void> {
  const { values } = programArguments(HELP, { options: { kubeconfig: { type: 'string' } } })
  const transport = new HttpTransport(await loadConfig({ kubeconfigPath: values.kubeconfig }))
  try {
    const requester = new Requester({ transport })
    const read = async (path: string): Promise<unknown> => {
      const headers = { accept: 'application/json' }
      return (await requester.json({ verb: 'raw', idempotent: true, method: 'GET', path, headers })).value
    }
    const { gitVersion } = (await read('/version')) as { readonly gitVersion: string }
    const resources = preferredResources(await discover(requester))
    const schemas = await readSchemas(resources, read)
    const kinds = chooseKinds(resources, schemas)
    const names = nameTypes(kinds, schemas)
    const header = `// Kubernetes ${gitVersion}. Written by scripts/generate-kinds.ts: do not edit.\n`
    const directory = path.join(import.meta.dirname, '../packages/kube/src/generated')
    await mkdir(directory, { recursive: true })
    await writeFile(path.join(directory, 'types.ts'), header + typesFile(names, kinds, schemas))
    await writeFile(path.join(directory, 'kinds.ts'), header + kindsFile(names, kinds))
    console.log(`${kinds.length} kinds, ${names.size} types, Kubernetes ${gitVersion}`)
  } finally {
    await transport.close()
  }
}

/** Returns every kind of Kubernetes' own groups in its preferred version, if that version is stable. */
function preferredResources(groups: Awaited<ReturnType<typeof discover>>): ApiResource[] {
  return groups.flatMap(({ versions }) => {
    const seen = new Set<string>()
    return versions
      .filter(({ version }) => /^v\d+$/.test(version))
      .flatMap(({ resources }) => resources)
      .filter(({ kind }) => !seen.has(kind) && seen.add(kind))
  })
}

async function readSchemas(
  resources: readonly ApiResource[],
  read: (path: string) => Promise<unknown>,
): Promise<Schemas> {
  const schemas = new Map<string, Schema>()
  const paths = resources.map(({ group, version }) => (group ? `apis/${group}/${version}` : `api/${version}`))
  for (const path of new Set(paths)) {
    const document = (await read(`/openapi/v3/${path}`)) as {
      readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> }
    }
    for (const [name, schema] of Object.entries(document.components?.schemas ?? {})) schemas.set(name, schema)
  }
  return schemas
}

function chooseKinds(resources: readonly ApiResource[], schemas: Schemas): Generated[] {
  const byKind = new Map<string, string>()
  for (const [name, schema] of schemas) {
    for (const { group, version, kind } of schema['x-kubernetes-group-version-kind'] ?? []) {
      // DeleteOptions and similar types belong to every group; a kind belongs to exactly one.
      if (schema['x-kubernetes-group-version-kind']?.length === 1) byKind.set(`${group}/${version}/${kind}`, name)
    }
  }
  return resources
    .flatMap((resource) => {
      const schema = byKind.get(`${resource.group}/${resource.version}/${resource.kind}`)
      // Custom resources installed in this cluster are not generated.
      if (schema === undefined || !OWN_SCHEMA.test(schema)) return []
      return [{ resource, schema, name: RENAMED.get(schema) ?? resource.kind }]
    })
    .toSorted((a, b) => compare(a.name, b.name))
}

/**
 * Chooses a short name for each schema reachable from the kinds. If groups share a name, the kind keeps it, then the
 * core group; the other groups prefix theirs.
 */
function nameTypes(kinds: readonly Generated[], schemas: Schemas): ReadonlyMap<string, string> {
  const reached = new Set<string>()
  const visit = (name: string): void => {
    if (reached.has(name) || PLAIN.has(name) || isByHand(name)) {
      if (name.includes('JSONSchemaPropsOr')) visit(name.replace(/Or\w+$/, ''))
      return
    }
    reached.add(name)
    for (const ref of refsIn(schemas.get(name) ?? {})) visit(ref)
  }
  for (const { schema } of kinds) visit(schema)

  const names = new Map(kinds.map(({ schema, name }) => [schema, name]))
  const taken = new Set([...names.values(), ...BY_HAND.keys()])
  const others = [...reached].filter((schema) => !names.has(schema)).toSorted(compare)
  const isShared = (short: string): boolean => others.filter((schema) => shortName(schema) === short).length > 1
  for (const schema of others) {
    const short = shortName(schema)
    const keepsName = !taken.has(short) && (schema.includes('.core.v1.') || !isShared(short))
    const name = keepsName ? short : `${groupName(schema)}${short}`
    if (taken.has(name)) throw new Error(`Two types have the name ${name}`)
    taken.add(name)
    names.set(schema, name)
  }
  return names
}

function refsIn(schema: Schema): string[] {
  const ref = schema.$ref === undefined ? [] : [schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)]
  const parts = [...Object.values(schema.properties ?? {}), ...(schema.allOf ?? [])]
  if (schema.items) parts.push(schema.items)
  if (schema.additionalProperties) parts.push(schema.additionalProperties)
  return [...ref, ...parts.flatMap(refsIn)]
}

function typesFile(names: ReadonlyMap<string, string>, kinds: readonly Generated[], schemas: Schemas): string {
  const isKind = new Set(kinds.map(({ schema }) => schema))
  const used = new Set<string>()
  const typeOf = (schema: Schema): string => {
    const inner = schema.allOf?.[0] ?? schema
    if (inner.$ref !== undefined) return typeOfRef(inner.$ref.slice(inner.$ref.lastIndexOf('/') + 1))
    if (schema.enum) return schema.enum.map((value) => `'${value}'`).join(' | ')
    switch (schema.type) {
      case 'string':
      case 'boolean':
        return schema.type
      case 'integer':
      case 'number':
        return 'number'
      case 'array':
        return `readonly ${parenthesized(typeOf(schema.items ?? {}))}[]`
      case 'object':
        return `Readonly<Record<string, ${schema.additionalProperties ? typeOf(schema.additionalProperties) : 'unknown'}>>`
      default:
        return 'unknown'
    }
  }
  const typeOfRef = (name: string): string => {
    const plain = PLAIN.get(name)
    if (plain !== undefined) return plain
    const short = shortName(name)
    if (isByHand(name)) used.add(short)
    return isByHand(name) ? short : (names.get(name) ?? 'unknown')
  }
  const interfaces = [...names]
    .toSorted(([, a], [, b]) => compare(a, b))
    .map(([schemaName, name]) => {
      const { properties = {}, required = [] } = schemas.get(schemaName) ?? {}
      const own = Object.entries(properties).filter(
        ([property]) => !isKind.has(schemaName) || !['apiVersion', 'kind', 'metadata'].includes(property),
      )
      const lines = own
        .toSorted(([a], [b]) => compare(a, b))
        .map(
          ([property, schema]) =>
            `  readonly ${key(property)}${required.includes(property) ? '' : '?'}: ${typeOf(schema)}\n`,
        )
      const base = isKind.has(schemaName) ? ' extends KubeObject' : ''
      return `\nexport interface ${name}${base} {${lines.length > 0 ? `\n${lines.join('')}` : ''}}\n`
    })
  const fromObject = [...used, 'KubeObject'].filter(
    (name) => (BY_HAND.get(name) ?? '../model/object.ts') === '../object.ts',
  )
  const fromSelector = [...used].filter((name) => !fromObject.includes(name))
  const imports = [
    `import type { ${fromSelector.toSorted(compare).join(', ')} } from '../model/label-selector.ts'\n`,
    `import type { ${fromObject.toSorted(compare).join(', ')} } from '../model/object.ts'\n`,
  ]
  return imports.join('') + interfaces.join('')
}

function kindsFile(names: ReadonlyMap<string, string>, kinds: readonly Generated[]): string {
  const isKind = new Set(kinds.map(({ name }) => name))
  const rest = [...names.values()].filter((name) => !isKind.has(name)).toSorted(compare)
  const consts = kinds.map(({ resource, name }) => {
    const { group, version, kind, plural, namespaced } = resource
    const definition = [
      `apiVersion: '${group ? `${group}/` : ''}${version}'`,
      `kind: '${kind}'`,
      `plural: '${plural}'`,
      ...(namespaced ? [] : ['namespaced: false']),
    ]
    return `\nexport type ${name} = types.${name}\nexport const ${name}: Kind<${name}> = defineKind({ ${definition.join(', ')} })\n`
  })
  return [
    `import { defineKind } from '../model/kind.ts'\nimport type { Kind } from '../model/kind.ts'\nimport type * as types from './types.ts'\n`,
    `\nexport type {\n${rest.map((name) => `  ${name},\n`).join('')}} from './types.ts'\n`,
    ...consts,
  ].join('')
}

function shortName(schema: string): string {
  return schema.slice(schema.lastIndexOf('.') + 1)
}

/** Returns `Core` for `io.k8s.api.core.v1.Event`. */
function groupName(schema: string): string {
  const group = schema.split('.').at(-3) ?? ''
  return group.charAt(0).toUpperCase() + group.slice(1)
}

function isByHand(schema: string): boolean {
  return schema.startsWith(META) && BY_HAND.has(shortName(schema))
}

function parenthesized(type: string): string {
  return type.includes(' | ') ? `(${type})` : type
}

function key(property: string): string {
  return /^[A-Za-z_]\w*$/.test(property) ? property : `'${property}'`
}

/** Compares by code unit, so that the result does not depend on the locale. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

await main()
