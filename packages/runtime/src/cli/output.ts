import { writeYaml, type YamlValue } from '@tenure/yaml'
import { table } from './table.ts'

/** The formats of `-o`. `table` is the default. */
export const OUTPUT_FORMATS = ['table', 'wide', 'json', 'yaml', 'name'] as const

export type OutputFormat = (typeof OUTPUT_FORMATS)[number]

/** The help of `-o`. */
export function outputMeaning(allowed: readonly string[] = OUTPUT_FORMATS, fallback = 'table'): string {
  return `Output format: ${listOf(allowed)}. Default ${fallback}.`
}

/** The format that a user asked for. `fail` makes the error of the command if it is not one of `allowed`. */
export function outputFormatOf<F extends string = OutputFormat>(
  text: string | undefined,
  fail: (message: string) => Error,
  allowed: readonly F[] = OUTPUT_FORMATS as readonly string[] as readonly F[],
): F {
  const format = allowed.find((candidate) => candidate === (text ?? 'table'))
  if (format !== undefined) return format
  throw fail(`${JSON.stringify(text)} is not an output format: use ${listOf(allowed)}.`)
}

/** A column of a table. */
export interface OutputColumn<R> {
  readonly heading: string
  /** Only with `-o wide`. Default false. */
  readonly isWide?: boolean
  of(row: R): string
}

/** How rows are printed in each format. */
export interface RowOutput<R> {
  readonly columns: readonly OutputColumn<R>[]
  /** As `-o name` prints it: `pod/web`, `deployment.apps/web`. */
  nameOf(row: R): string
  /** For programs. Default: the row. */
  toValue?(row: R): object
}

/** Rows in a format, without a line feed at the end. Programs get `{"items": […]}`. */
export function rowsText<R>(format: OutputFormat, rows: readonly R[], output: RowOutput<R>): string {
  switch (format) {
    case 'json':
    case 'yaml':
      return valueText(format, { items: rows.map((row) => valueOfRow(row, output)) })
    case 'name':
      return rows.map((row) => output.nameOf(row)).join('\n')
    default: {
      const columns = shownColumns(format, output)
      return table(
        columns.map(({ heading }) => heading),
        rows.map((row) => columns.map((column) => column.of(row))),
      )
    }
  }
}

/** One row in a format: programs get the row itself. */
export function rowText<R>(format: OutputFormat, row: R, output: RowOutput<R>): string {
  return format === 'json' || format === 'yaml'
    ? valueText(format, valueOfRow(row, output))
    : rowsText(format, [row], output)
}

/** A value for programs, without a line feed at the end. */
export function valueText(format: 'json' | 'yaml', value: object): string {
  // Without undefined fields, which YAML has no words for.
  const json = JSON.stringify(value, undefined, 2)
  return format === 'json' ? json : writeYaml(JSON.parse(json) as YamlValue).trimEnd()
}

export function shownColumns<R>(format: 'table' | 'wide', { columns }: RowOutput<R>): readonly OutputColumn<R>[] {
  return columns.filter(({ isWide = false }) => format === 'wide' || !isWide)
}

export function valueOfRow<R>(row: R, output: RowOutput<R>): object {
  return output.toValue ? output.toValue(row) : (row as object)
}

/** `a, b or c`. */
function listOf(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}
