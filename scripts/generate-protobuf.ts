/**
 * Writes the Protocol Buffers definitions of the built-in kinds, which kubectl and client-go send: field numbers and
 * names, read from the struct tags of Kubernetes' Go modules.
 *
 *   node scripts/launch.mjs scripts/generate-protobuf.ts <Go module cache>/k8s.io
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { programArguments } from './program-help.ts'

const VERSION = '0.36.3'
const OUTPUT = path.join(import.meta.dirname, '../packages/controlplane/src/server/encoding/generated/protobuf.ts')

interface Field {
  readonly goType: string
  readonly json: string
  readonly omitsEmpty: boolean
  readonly isInline: boolean
  readonly isRepeated: boolean
  readonly number: number
}

interface Package {
  readonly structs: Map<string, readonly Field[]>
  readonly aliases: Map<string, string>
  readonly imports: Map<string, string>
}

const SPECIAL: Readonly<Record<string, string>> = {
  'k8s.io/apimachinery/pkg/apis/meta/v1.Time': 'T',
  'k8s.io/apimachinery/pkg/apis/meta/v1.MicroTime': 'U',
  'k8s.io/apimachinery/pkg/apis/meta/v1.Duration': 'D',
  'k8s.io/apimachinery/pkg/apis/meta/v1.FieldsV1': 'R',
  'k8s.io/apimachinery/pkg/api/resource.Quantity': 'Q',
  'k8s.io/apimachinery/pkg/util/intstr.IntOrString': 'I',
  'k8s.io/apimachinery/pkg/runtime.RawExtension': 'R',
  'k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrArray': 'A',
  'k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrBool': 'B',
  'k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrStringArray': 'P',
  'k8s.io/apimachinery/pkg/types.UID': 's',
  'k8s.io/apimachinery/pkg/types.NodeName': 's',
}
const BASIC: Readonly<Record<string, string>> = {
  string: 's',
  bool: 'b',
  int: 'i',
  int32: 'i',
  int64: 'i',
  uint8: 'i',
  uint32: 'i',
  float64: 'd',
  byte: 'i',
}

const { positionals } = programArguments(
  {
    usage: 'node scripts/launch.mjs scripts/generate-protobuf.ts <modules>',
    summary: "Write the Protocol Buffers definitions of the built-in kinds from Kubernetes' Go modules.",
    arguments: [{ term: 'modules', meaning: 'The folder k8s.io of a Go module cache.' }],
  },
  { allowPositionals: true },
)
const [root] = positionals
if (!root) throw new Error('Pass the directory of the modules: <Go module cache>/k8s.io')

const packages = new Map<string, Package>()

function load(importPath: string, directory: string): void {
  const found: Package = { structs: new Map(), aliases: new Map(), imports: new Map() }
  for (const file of readdirSync(directory)) {
    if (
      !/^(types|types_\w+|.*_types|meta|fields|time|micro_time|duration)\.go$/.test(file) ||
      file.endsWith('_test.go')
    )
      continue
    parse(readFileSync(path.join(directory, file), 'utf8'), found)
  }
  if (found.structs.size > 0) packages.set(importPath, found)
}

function parse(source: string, into: Package): void {
  for (const [, name, target] of source.matchAll(/^\t(?:(\w+) )?"(k8s\.io\/[^"]+)"$/gm)) {
    if (target) into.imports.set(name ?? target.split('/').at(-1) ?? '', target)
  }
  for (const [, name, base] of source.matchAll(/^type (\w+) ([\w.[\]*]+)$/gm))
    if (name && base) into.aliases.set(name, base)
  for (const [, name] of source.matchAll(/^type (\w+) struct ?\{\}$/gm)) if (name) into.structs.set(name, [])
  for (const [, name, body] of source.matchAll(/^type (\w+) struct \{\n(.*?)^\}/gms)) {
    if (!name || body === undefined) continue
    const fields: Field[] = []
    for (const line of body.split('\n')) {
      const [, declared = '', tag = ''] = /^\t([^`/]+)`([^`]+)`/.exec(line) ?? []
      const [, number, cardinality] = /protobuf:"\w+,(\d+),(\w+)/.exec(tag) ?? []
      const json = /json:"([^"]*)"/.exec(tag)?.[1]
      if (!number || json === undefined) continue
      const words = declared.trim().split(/\s+/)
      const [jsonName = '', ...flags] = json.split(',')
      fields.push({
        goType: words.at(-1) ?? '',
        json: jsonName,
        omitsEmpty: flags.includes('omitempty'),
        isInline: flags.includes('inline') || (jsonName === '' && words.length === 1),
        isRepeated: cardinality === 'rep',
        number: Number(number),
      })
    }
    into.structs.set(name, fields)
  }
}

/** Returns the code of a Go type as seen from a package. */
function code(goType: string, from: string, found: Package): string {
  if (goType.startsWith('*')) return code(goType.slice(1), from, found)
  if (goType === '[]byte') return 'y'
  if (goType.startsWith('[]')) return `[${code(goType.slice(2), from, found)}`
  const map = /^map\[[\w.]+\](.+)$/.exec(goType)
  if (map?.[1]) return `{${code(map[1], from, found)}`
  const basic = BASIC[goType]
  if (basic) return basic
  const dot = goType.indexOf('.')
  const target = dot < 0 ? from : found.imports.get(goType.slice(0, dot))
  const name = goType.slice(dot + 1)
  if (!target) return '?'
  const special = SPECIAL[`${target}.${name}`]
  if (special) return special
  const home = packages.get(target)
  if (!home) return '?'
  if (home.structs.has(name)) {
    // A type that wraps raw JSON.
    const fields = home.structs.get(name) ?? []
    if (name === 'JSON' && fields.length === 1) return 'R'
    return `m${short(target)}.${name}`
  }
  const alias = home.aliases.get(name)
  if (!alias) return '?'
  // A named list is a message with items.
  return alias.startsWith('[]') && alias !== '[]byte'
    ? `E${code(alias.slice(2), target, home)}`
    : code(alias, target, home)
}

function short(importPath: string): string {
  return importPath
    .replace('k8s.io/api/', '')
    .replace('k8s.io/apimachinery/pkg/apis/meta/v1', 'meta/v1')
    .replace('k8s.io/apiextensions-apiserver/pkg/apis/', '')
}

const meta = path.join(root, `apimachinery@v${VERSION}/pkg/apis/meta/v1`)
load('k8s.io/apimachinery/pkg/apis/meta/v1', meta)
load(
  'k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1',
  path.join(root, `apiextensions-apiserver@v${VERSION}/pkg/apis/apiextensions/v1`),
)
const api = path.join(root, `api@v${VERSION}`)
for (const group of readdirSync(api, { withFileTypes: true })) {
  if (!group.isDirectory()) continue
  for (const version of readdirSync(path.join(api, group.name), { withFileTypes: true })) {
    if (version.isDirectory() && /^v\d+$/.test(version.name)) {
      load(`k8s.io/api/${group.name}/${version.name}`, path.join(api, group.name, version.name))
    }
  }
}

const lines: string[] = []
for (const [importPath, found] of packages) {
  for (const [name, fields] of found.structs) {
    if (fields.length === 0) continue
    const parts = fields.flatMap((field) => {
      const named = code(field.goType, importPath, found)
      // A named list in a repeated field has no message of its own.
      const type = field.isRepeated && named.startsWith('E') ? `[${named.slice(1)}` : named
      if (type.includes('?')) return []
      const keepsZero = field.goType.startsWith('*') || !field.omitsEmpty
      return [`${field.number}${keepsZero ? '!' : ':'}${field.isInline ? '' : field.json}:${type}`]
    })
    lines.push(`${short(importPath)}.${name} ${parts.join(' ')}`)
  }
}
writeFileSync(
  OUTPUT,
  `// Kubernetes v1.${VERSION.slice(2)}. Written by scripts/generate-protobuf.ts: do not edit.\n\n/** A message a line: its name, then number, \`!\` if zero is kept, JSON name and type of each field. */\nexport const MESSAGES = ${JSON.stringify(lines.toSorted().join('\n'))}\n`,
)
