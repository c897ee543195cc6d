import { TenureError, asError, closest } from '@tenure/kube'
import { isJsonObject, type JsonObject } from '@tenure/kube/model'
import type { OptionRow } from './table.ts'

export interface FileValues {
  /** By the key of the row. */
  readonly values: ReadonlyMap<string, unknown>
  readonly problems: readonly string[]
}

/** Reads a settings file, YAML or JSON, and finds the rows' values in it. */
export async function readConfigFile(
  rows: readonly OptionRow[],
  path: string,
  readText: (path: string) => Promise<string>,
): Promise<FileValues> {
  const content = await parseFile(path, readText)
  if (content === null || content === undefined) return { values: new Map(), problems: [] }
  if (!isJsonObject(content)) return { values: new Map(), problems: [`${path} must be a mapping of keys to values`] }
  const values = new Map<string, unknown>()
  const problems: string[] = []
  const byPath = new Map(rows.flatMap((row) => (row.file === undefined ? [] : [[row.file, row]])))
  const visit = (mapping: JsonObject, prefix: string): void => {
    for (const [name, value] of Object.entries(mapping)) {
      const full = prefix + name
      const row = byPath.get(full)
      if (row) {
        // An empty value keeps the default.
        if (value !== null && value !== undefined) values.set(row.key, value)
      } else if (isJsonObject(value) && [...byPath.keys()].some((each) => each.startsWith(`${full}.`))) {
        visit(value, `${full}.`)
      } else {
        const [near] = closest(full, [...byPath.keys()], (key) => [key])
        problems.push(`${full} in ${path} is unknown${near ? `; did you mean ${near}?` : ''}`)
      }
    }
  }
  visit(content, '')
  return { values, problems }
}

async function parseFile(path: string, readText: (path: string) => Promise<string>): Promise<unknown> {
  let text: string
  try {
    text = await readText(path)
  } catch (error) {
    throw new TenureError(
      'TENURE_CONFIGURATION_FILE',
      `The configuration file ${path} cannot be read: ${asError(error).message}; check that it exists and is readable.`,
      { cause: error },
    )
  }
  try {
    if (path.endsWith('.json')) return JSON.parse(text) as unknown
    const { readYaml } = await import('@tenure/yaml')
    return readYaml(text).value
  } catch (error) {
    throw new TenureError(
      'TENURE_CONFIGURATION_FILE',
      `The configuration file ${path} is not ${path.endsWith('.json') ? 'JSON' : 'YAML'}: ${asError(error).message}`,
      { cause: error },
    )
  }
}
