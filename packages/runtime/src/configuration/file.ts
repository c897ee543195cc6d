import { TenureError, asError } from '@tenure/kube'
import { nearest } from './nearest.ts'
import type { Row } from './table.ts'

export interface FileValues {
  /** By the key of the row. */
  readonly given: ReadonlyMap<string, unknown>
  readonly problems: readonly string[]
}

/** Reads a file of settings, YAML (which JSON is, too), and finds the rows' values in it. */
export async function readConfigFile(
  rows: readonly Row[],
  path: string,
  readText: (path: string) => Promise<string>,
): Promise<FileValues> {
  const content = await parseFile(path, readText)
  if (content === null || content === undefined) return { given: new Map(), problems: [] }
  if (!isMapping(content)) return { given: new Map(), problems: [`${path} must hold keys and values at its top`] }
  const given = new Map<string, unknown>()
  const problems: string[] = []
  const byPath = new Map(rows.flatMap((row) => (row.file === undefined ? [] : [[row.file, row]])))
  const visit = (mapping: Readonly<Record<string, unknown>>, prefix: string): void => {
    for (const [name, value] of Object.entries(mapping)) {
      const full = prefix + name
      const row = byPath.get(full)
      if (row) {
        // An empty value leaves it at its default.
        if (value !== null && value !== undefined) given.set(row.key, value)
      } else if (isMapping(value) && [...byPath.keys()].some((each) => each.startsWith(`${full}.`))) {
        visit(value, `${full}.`)
      } else {
        const near = nearest(full, [...byPath.keys()])
        problems.push(`${full} in ${path} is not known${near ? `; did you mean ${near}?` : ''}`)
      }
    }
  }
  visit(content, '')
  return { given, problems }
}

async function parseFile(path: string, readText: (path: string) => Promise<string>): Promise<unknown> {
  let text: string
  try {
    text = await readText(path)
  } catch (error) {
    throw new TenureError(
      'TENURE_CONFIGURATION_FILE',
      `The configuration file ${path} could not be read: ${asError(error).message}; see that it is there and readable.`,
      { cause: error },
    )
  }
  try {
    if (path.endsWith('.json')) return JSON.parse(text) as unknown
    const { load } = await import('js-yaml')
    return text.trim() === '' ? undefined : load(text)
  } catch (error) {
    throw new TenureError(
      'TENURE_CONFIGURATION_FILE',
      `The configuration file ${path} is not ${path.endsWith('.json') ? 'JSON' : 'YAML'}: ${asError(error).message}`,
      { cause: error },
    )
  }
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
