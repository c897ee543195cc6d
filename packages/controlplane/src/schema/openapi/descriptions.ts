import type { JsonObject } from '@tenure/kube/model'

import { descriptions } from '../generated/descriptions.ts'

/** Descriptions of built-in schemas, for `kubectl explain`. Loaded only to write OpenAPI documents. */

let texts: readonly string[] = []
let lines: ReadonlyMap<string, string> | undefined

function load(): ReadonlyMap<string, string> {
  const [shared = '[]', ...others] = descriptions.split('\n')
  texts = JSON.parse(shared) as readonly string[]
  return new Map(others.map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]))
}

/** Returns the OpenAPI definition with the descriptions of itself and its fields. */
export function described(name: string, schema: JsonObject): JsonObject {
  lines ??= load()
  const line = lines.get(name)
  if (line === undefined) return schema
  const { '': own, ...fields } = JSON.parse(line) as Readonly<Record<string, string | number>>
  const properties = Object.entries((schema['properties'] ?? {}) as Readonly<Record<string, JsonObject>>)
  return {
    ...(own !== undefined && { description: textOf(own) }),
    ...schema,
    ...(properties.length > 0 && {
      properties: Object.fromEntries(
        properties.map(([field, property]) => {
          const said = fields[field]
          return [field, said === undefined ? property : withText(property, textOf(said))]
        }),
      ),
    }),
  }
}

const textOf = (said: string | number): string => (typeof said === 'number' ? (texts[said] ?? '') : said)

/** OpenAPI ignores siblings of a $ref. */
function withText({ $ref, ...property }: JsonObject, description: string): JsonObject {
  return { description, ...property, ...($ref !== undefined && { allOf: [{ $ref }] }) }
}
