import { TenureError } from '@tenure/kube'
import type { FileValues } from './file.ts'
import { readConfigFile } from './file.ts'
import { readFlags } from './flags.ts'
import type { Table, Value, Values } from './option.ts'
import { parseFileValue, parseText, problemOf } from './parse-value.ts'
import { helpText } from './reference.ts'
import type { Configuration, Row } from './table.ts'

export interface ConfigurationSources {
  /** Without the program's own name: `process.argv.slice(2)`. */
  readonly argv: readonly string[]
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Default: reads from disk. */
  readonly readText?: (path: string) => Promise<string>
  /** Arguments that are no flags are handed back instead of refused. Default false. */
  readonly allowRest?: boolean
}

export type Loaded<T extends Table> =
  | { readonly kind: 'help'; readonly text: string }
  | {
      readonly kind: 'values'
      readonly values: Values<T>
      /** Where each value came from: `--lease-duration`, `LEASE_DURATION`, `leaseDuration in tenure.yaml`, `default`. */
      readonly sources: Readonly<Record<keyof T, string>>
      readonly rest: readonly string[]
    }

/**
 * Reads a program's settings: a flag wins over the environment, that over the file named by `--config`, that over the
 * default. An empty variable counts as none. Everything that is wrong is said at once.
 */
export async function readConfiguration<T extends Table>(
  configuration: Configuration<T>,
  from: ConfigurationSources,
): Promise<Loaded<T>> {
  const { rows } = configuration
  const { argv, environment } = from
  const flags = readFlags(rows, argv)
  if (flags.help) return { kind: 'help', text: helpText(configuration) }
  const problems = [...flags.problems]
  if (!from.allowRest) problems.push(...flags.rest.map((argument) => `${argument} is not a flag; see --help`))
  const named = configuration.configEnvironment && environment[configuration.configEnvironment]
  const path = flags.config ?? (named || undefined)
  let file: FileValues = { given: new Map(), problems: [] }
  if (path !== undefined) {
    file = await readConfigFile(rows, path, from.readText ?? readFromDisk)
    problems.push(...file.problems)
  }
  const values: Record<string, unknown> = {}
  const sources: Record<string, string> = {}
  for (const row of rows) {
    const found = find(row, flags.given.get(row.key), environment, file, path)
    sources[row.key] = found.source
    try {
      values[row.key] = found.parse()
    } catch (error) {
      problems.push(`${found.source}: ${problemOf(row.option, error)}`)
    }
    if (row.option.required && found.source === 'default' && row.option.default === undefined) {
      problems.push(`${waysToSet(row)} is required: ${row.option.meaning}`)
    }
  }
  if (problems.length > 0) throw invalid(configuration.program, problems)
  // Each row's value was parsed by the row's type.
  return { kind: 'values', values: values as Values<T>, sources: sources as Record<keyof T, string>, rest: flags.rest }
}

/** The settings as facts for a log, secrets hidden. */
export function describeValues<T extends Table>(
  configuration: Configuration<T>,
  values: Values<T>,
): Readonly<Record<string, unknown>> {
  const facts: Record<string, unknown> = {}
  for (const { key, option } of configuration.rows) {
    const value = values[key as keyof T]
    facts[key] = option.secret && value !== undefined ? '<hidden>' : value
  }
  return facts
}

interface Found {
  readonly source: string
  readonly parse: () => Value | undefined
}

function find(
  row: Row,
  flag: readonly string[] | undefined,
  environment: ConfigurationSources['environment'],
  file: FileValues,
  path: string | undefined,
): Found {
  const { key, option } = row
  if (flag) {
    // A list may be given in pieces; of anything else the last one counts.
    const text = option.type === 'list' ? flag.join(',') : (flag.at(-1) ?? '')
    return { source: `--${row.flag}`, parse: () => parseText(option, text) }
  }
  const variable = row.environment === undefined ? undefined : environment[row.environment]
  if (variable) return { source: row.environment ?? '', parse: () => parseText(option, variable) }
  if (file.given.has(key)) {
    return { source: `${row.file} in ${path}`, parse: () => parseFileValue(option, file.given.get(key)) }
  }
  return { source: 'default', parse: () => defaultOf(row) }
}

function defaultOf({ option }: Row): Value | undefined {
  if (option.default === undefined) return undefined
  return typeof option.default === 'string' ? parseText(option, option.default) : option.default
}

function waysToSet({ key, flag, environment, file }: Row): string {
  return flag ? `--${flag}` : (environment ?? file ?? key)
}

function invalid(program: string, problems: readonly string[]): TenureError {
  const message =
    problems.length === 1
      ? `${program} can not start: ${problems[0]}.`
      : `${program} can not start, ${problems.length} settings are wrong:\n${problems.map((each) => `  - ${each}`).join('\n')}`
  return new TenureError('TENURE_CONFIGURATION_INVALID', message)
}

async function readFromDisk(path: string): Promise<string> {
  const { readFile } = await import('node:fs/promises')
  return readFile(path, 'utf8')
}
