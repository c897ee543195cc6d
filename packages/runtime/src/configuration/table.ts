import { TenureError } from '@tenure/kube'
import type { Option, Table } from './option.ts'
import { parseText } from './parse-value.ts'

/** A row with its resolved names. */
export interface OptionRow {
  readonly key: string
  readonly option: Option
  readonly flag: string | undefined
  readonly environment: string | undefined
  readonly file: string | undefined
}

export interface ConfigurationOptions<T extends Table> {
  /** The command: `tenure start`. */
  readonly program: string
  /** Description of the program in one sentence. */
  readonly summary: string
  readonly options: T
  /** Prefix of derived environment variable names: `TENURE_`. Default none. */
  readonly environmentPrefix?: string
  /** Environment variables with the path of the file, as alternative to `--config`. The first that is set counts. Default none. */
  readonly configEnvironment?: string | readonly string[]
}

export interface Configuration<T extends Table> {
  readonly program: string
  readonly summary: string
  readonly configEnvironment: readonly string[]
  readonly rows: readonly OptionRow[]
  /** Never set; carries the type. */
  readonly table?: T
}

/** Flags of every program. */
const RESERVED = ['config', 'help']

/** Validates a program's table and resolves its names. An invalid table is a bug and throws at startup. */
export function defineConfiguration<const T extends Table>(options: ConfigurationOptions<T>): Configuration<T> {
  const { program, summary, environmentPrefix = '' } = options
  const configEnvironment = [options.configEnvironment ?? []].flat()
  const rows = Object.entries<Option>(options.options).map(([key, option]): OptionRow => {
    const { flag = kebabCase(key), environment = environmentPrefix + constantCase(key), file = key } = option
    return { key, option, flag: flag || undefined, environment: environment || undefined, file: file || undefined }
  })
  rejectDuplicates(program, 'flag', [...RESERVED, ...rows.map(({ flag }) => flag)])
  rejectDuplicates(program, 'environment variable', [
    ...configEnvironment,
    ...rows.map(({ environment }) => environment),
  ])
  rejectDuplicates(
    program,
    'file key',
    rows.map(({ file }) => file),
  )
  for (const { key, option } of rows) {
    if (typeof option.default !== 'string') continue
    try {
      parseText(option, option.default)
    } catch (error) {
      throw new TenureError(
        'TENURE_CONFIGURATION_TABLE',
        `The default of ${key} in the table of ${program} is invalid.`,
        {
          cause: error,
          fate: 'bug',
        },
      )
    }
  }
  return { program, summary, configEnvironment, rows }
}

function rejectDuplicates(program: string, what: string, names: readonly (string | undefined)[]): void {
  const seen = new Set<string>()
  for (const name of names) {
    if (name === undefined) continue
    if (seen.has(name)) {
      throw new TenureError('TENURE_CONFIGURATION_TABLE', `${program} defines the ${what} ${name} twice.`, {
        fate: 'bug',
      })
    }
    seen.add(name)
  }
}

function kebabCase(key: string): string {
  return key.replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase()
}

function constantCase(key: string): string {
  return kebabCase(key).replaceAll(/[-.]/g, '_').toUpperCase()
}
