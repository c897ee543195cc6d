/** Columns separated by two spaces, as kubectl prints them. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  // Cells come from annotations and servers: control characters must not reach the terminal.
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
