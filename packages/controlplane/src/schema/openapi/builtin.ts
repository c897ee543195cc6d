import { definitions, kinds } from '../generated/definitions.ts'
import type { Schema } from '../types.ts'

/** The schemas of the built-in kinds, each parsed on first use and cached. */

let lines: ReadonlyMap<string, string> | undefined
let kindNames: ReadonlyMap<string, string> | undefined
const parsed = new Map<string, Schema>()

export const OBJECT_META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'

/** Resolves a `ref` of a built-in schema. */
export function resolveBuiltIn(ref: string): Schema {
  const known = parsed.get(ref)
  if (known) return known
  lines ??= index(definitions)
  const line = lines.get(ref)
  if (line === undefined) throw new Error(`Unknown built-in schema ${ref}`)
  const schema = JSON.parse(line) as Schema
  parsed.set(ref, schema)
  return schema
}

/** `io.k8s.api.apps.v1.Deployment`; undefined for a kind that is not built in. The group of `v1` is ''. */
export function builtInName(group: string, version: string, kind: string): string | undefined {
  kindNames ??= index(kinds)
  return kindNames.get(`${group}/${version}/${kind}`)
}

/** The schema of a built-in kind, list kinds included. */
export function builtInSchema(group: string, version: string, kind: string): Schema | undefined {
  const name = builtInName(group, version, kind)
  return name === undefined ? undefined : resolveBuiltIn(name)
}

/** The names of all definitions, in order. */
export function builtInNames(): readonly string[] {
  lines ??= index(definitions)
  return [...lines.keys()]
}

/** Returns the name of a built-in schema, for decoding errors. */
export function nameOfBuiltIn(schema: Schema): string | undefined {
  for (const [name, candidate] of parsed) if (candidate === schema) return name
  return undefined
}

function index(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const line of text.split('\n')) {
    const space = line.indexOf(' ')
    found.set(line.slice(0, space), line.slice(space + 1))
  }
  return found
}
