/** The numbers that a program printed, by name; may be nested. */
export interface Figures {
  readonly [name: string]: unknown
}

/** One line of the table: the figures and the target. */
export interface Row {
  readonly what: string
  readonly unit: string
  readonly ours: number
  /** Undefined if there is no peer: the bound applies to our figure. */
  readonly peer: number | undefined
  /** `ratio`: ours divided by the peer's. `value`: ours alone. Undefined: for information only. */
  readonly bound:
    | { readonly on: 'ratio' | 'value'; readonly is: 'at most' | 'at least'; readonly limit: number }
    | undefined
}

export function figure(figures: Figures, name: string): number {
  const value = figures[name]
  if (typeof value !== 'number') throw new Error(`The program printed no ${name}: ${JSON.stringify(figures)}`)
  return value
}

export function ratio({ ours, peer }: Row): number | undefined {
  return peer === undefined ? undefined : ours / peer
}

export function isReached(row: Row): boolean {
  if (!row.bound) return true
  const { on, is, limit } = row.bound
  const judged = on === 'ratio' ? (ratio(row) ?? Number.NaN) : row.ours
  return is === 'at most' ? judged <= limit : judged >= limit
}

/** Formats the rows as a Markdown table. `peer` is the heading of the peer's column. */
export function table(rows: readonly Row[], peer: string): string {
  const cells = rows.map((row) => [
    row.what,
    `${round(row.ours)} ${row.unit}`,
    row.peer === undefined ? '' : `${round(row.peer)} ${row.unit}`,
    ratio(row) === undefined ? '' : `${ratio(row)?.toFixed(2)}×`,
    describeBound(row),
    row.bound ? (isReached(row) ? 'reached' : 'MISSED') : '',
  ])
  const lines = [['', 'Tenure', peer, 'ratio', 'to reach', ''], ...cells]
  const widths = lines[0]?.map((_, column) => Math.max(3, ...lines.map((line) => line[column]?.length ?? 0))) ?? []
  const format = (line: readonly string[]): string =>
    `| ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`
  return [format(lines[0] ?? []), rule, ...lines.slice(1).map(format)].join('\n')
}

function describeBound({ bound, unit }: Row): string {
  if (!bound) return ''
  const sign = bound.is === 'at most' ? '≤' : '≥'
  return bound.on === 'ratio'
    ? `${sign} ${bound.limit.toFixed(bound.limit < 1 ? 2 : 1)}×`
    : `${sign} ${round(bound.limit)} ${unit}`
}

function round(value: number): string {
  if (value >= 1000) return Math.round(value).toLocaleString('en-US')
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)
}
