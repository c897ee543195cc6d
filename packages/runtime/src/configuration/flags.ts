import { closest } from '@tenure/kube'
import type { OptionRow } from './table.ts'

export interface Flags {
  /** All values of each flag in order, by the key of the row. */
  readonly values: ReadonlyMap<string, readonly string[]>
  readonly config: string | undefined
  readonly help: boolean
  /** Positional arguments, and everything after `--`. */
  readonly rest: readonly string[]
  readonly problems: readonly string[]
}

/**
 * Parses `--flag value`, `--flag=value`, and `--flag` and `--no-flag` for booleans. A single dash works as well, as in
 * Go.
 */
export function readFlags(rows: readonly OptionRow[], argv: readonly string[]): Flags {
  const byFlag = new Map(rows.flatMap((row) => (row.flag === undefined ? [] : [[row.flag, row]])))
  const names = ['config', 'help', ...byFlag.keys()]
  const values = new Map<string, string[]>()
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
      push(values, row.key, inline ?? 'true')
    } else if (!row && negated?.option.type === 'boolean' && inline === undefined) {
      push(values, negated.key, 'false')
    } else if (row || flag === 'config') {
      const value = inline ?? argv[++i]
      if (value === undefined) problems.push(`--${flag} needs a value`)
      else if (row) push(values, row.key, value)
      else config = value
    } else {
      const [near] = closest(flag, names, (name) => [name])
      problems.push(`--${flag} is unknown${near ? `; did you mean --${near}?` : '; see --help'}`)
    }
  }
  return { values, config, help, rest, problems }
}

function push(map: Map<string, string[]>, key: string, value: string): void {
  const values = map.get(key)
  if (values) values.push(value)
  else map.set(key, [value])
}
