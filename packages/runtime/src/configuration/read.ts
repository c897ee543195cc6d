import { TenureError } from '@tenure/kube'
import type { FileValues } from './file.ts'
import { readConfigFile } from './file.ts'
import { readFlags } from './flags.ts'
import type { Option, Table, Value, Values } from './option.ts'
import { parseFileValue, parseText, problemOf } from './parse-value.ts'
import { helpText } from './reference.ts'
import type { Configuration, OptionRow } from './table.ts'

export interface ConfigurationSources {
  /** Without node and the script: `process.argv.slice(2)`. */
  readonly argv: readonly string[]
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Default: reads from disk. */
  readonly readText?: (path: string) => Promise<string>
  /** Return positional arguments instead of rejecting them. Default false. */
  readonly allowRest?: boolean
}

export type Loaded<T extends Table> =
  | { readonly kind: 'help'; readonly text: string }
  | {
      readonly kind: 'values'
      readonly values: Values<T>
      /** The source of each value: `--lease-duration`, `LEASE_DURATION`, `leaseDuration in tenure.yaml`, `default`. */
      readonly sources: Readonly<Record<keyof T, string>>
      readonly rest: readonly string[]
    }

/**
 * Reads a program's settings: flags override the environment, which overrides the file named by `--config`, which
 * overrides the defaults. An empty variable counts as unset. All problems are reported at once.
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
  if (!from.allowRest) problems.push(...flags.rest.map((argument) => `${argument} is not an option; see --help`))
  const named = configuration.configEnvironment.map((name) => environment[name]).find(Boolean)
  const path = flags.config ?? named
  let file: FileValues = { values: new Map(), problems: [] }
  if (path !== undefined) {
    file = await readConfigFile(rows, path, from.readText ?? readFromDisk)
    problems.push(...file.problems)
  }
  const values: Record<string, unknown> = {}
  const sources: Record<string, string> = {}
  for (const row of rows) {
    const found = find(row, flags.values.get(row.key), environment, file, path)
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
  // Each value was parsed according to its row's type.
  return { kind: 'values', values: values as Values<T>, sources: sources as Record<keyof T, string>, rest: flags.rest }
}

/** The settings as facts for a log line, with secrets hidden. */
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
  row: OptionRow,
  flag: readonly string[] | undefined,
  environment: ConfigurationSources['environment'],
  file: FileValues,
  path: string | undefined,
): Found {
  const { key, option } = row
  if (flag) {
    // The items of a list add up; for other types the last flag wins.
    const text = option.type === 'list' ? flag.join(',') : (flag.at(-1) ?? '')
    return { source: `--${row.flag}`, parse: () => parseText(option, text) }
  }
  const variable = row.environment === undefined ? undefined : environment[row.environment]
  if (variable) return { source: row.environment ?? '', parse: () => parseText(option, variable) }
  if (file.values.has(key)) {
    return { source: `${row.file} in ${path}`, parse: () => parseFileValue(option, file.values.get(key)) }
  }
  return { source: 'default', parse: () => defaultOf(row.option) }
}

/** The values of a table without flags, environment or file. */
export function defaultValues<T extends Table>(table: T): Values<T> {
  const values: Record<string, unknown> = {}
  for (const [key, option] of Object.entries(table)) values[key] = defaultOf(option)
  // Each default was parsed by its row's type.
  return values as Values<T>
}

function defaultOf(option: Option): Value | undefined {
  if (option.default === undefined) return undefined
  return typeof option.default === 'string' ? parseText(option, option.default) : option.default
}

function waysToSet({ key, flag, environment, file }: OptionRow): string {
  return flag ? `--${flag}` : (environment ?? file ?? key)
}

function invalid(program: string, problems: readonly string[]): TenureError {
  const message =
    problems.length === 1
      ? `${program} cannot start: ${(problems[0] ?? '').replace(/[^.!?]$/, '$&.')}`
      : `${program} cannot start, ${problems.length} settings are invalid:\n${problems.map((each) => `  - ${each}`).join('\n')}`
  return new TenureError('TENURE_CONFIGURATION_INVALID', message)
}

async function readFromDisk(path: string): Promise<string> {
  const { readFile } = await import('node:fs/promises')
  return readFile(path, 'utf8')
}
