import { nearest } from './nearest.ts'
import type { Row } from './table.ts'

export interface Flags {
  /** By key, every text given, in order. */
  readonly given: ReadonlyMap<string, readonly string[]>
  readonly config: string | undefined
  readonly help: boolean
  /** What is no flag, and all after `--`. */
  readonly rest: readonly string[]
  readonly problems: readonly string[]
}

/**
 * Reads `--flag value`, `--flag=value`, `--flag` and `--no-flag` for a boolean. One dash does as well as two, as Go
 * programs allow.
 */
export function readFlags(rows: readonly Row[], argv: readonly string[]): Flags {
  const byFlag = new Map(rows.flatMap((row) => (row.flag === undefined ? [] : [[row.flag, row]])))
  const names = ['config', 'help', ...byFlag.keys()]
  const given = new Map<string, string[]>()
  const rest: string[] = []
  const problems: string[] = []
  let config: string | undefined
  let help = false
  for (let i = 0; i < argv.length; i++) {
    const argument = argv[i] ?? ''
    if (argument === '--') {
      rest.push(...argv.slice(i + 1))
      break
    }
    const [, flag = '', , inline] = /^--?([^\s=-][^=]*)(=([^]*))?$/.exec(argument) ?? []
    if (!flag) {
      rest.push(argument)
      continue
    }
    if (flag === 'h' || flag === 'help') {
      help = true
      continue
    }
    const row = byFlag.get(flag)
    const negated = flag.startsWith('no-') ? byFlag.get(flag.slice(3)) : undefined
    if (row?.option.type === 'boolean') {
      push(given, row.key, inline ?? 'true')
    } else if (!row && negated?.option.type === 'boolean' && inline === undefined) {
      push(given, negated.key, 'false')
    } else if (row || flag === 'config') {
      const value = inline ?? argv[++i]
      if (value === undefined) problems.push(`--${flag} needs a value`)
      else if (row) push(given, row.key, value)
      else config = value
    } else {
      const near = nearest(flag, names)
      problems.push(`--${flag} is not known${near ? `; did you mean --${near}?` : '; see --help'}`)
    }
  }
  return { given, config, help, rest, problems }
}

function push(map: Map<string, string[]>, key: string, value: string): void {
  const values = map.get(key)
  if (values) values.push(value)
  else map.set(key, [value])
}
