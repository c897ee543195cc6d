/** Columns of text, two blanks apart, as kubectl prints them. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  // What stands in annotations is anybody's: it must neither break a line nor speak to the terminal.
  const all = [headings, ...rows].map((row) => row.map((cell) => cell.replaceAll(/\p{Cc}/gu, ' ')))
  const widths = headings.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)))
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
