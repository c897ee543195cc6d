/** A Markdown table. Cells may hold any text of one line. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map(line).join('')
}

function line(cells: readonly string[]): string {
  return `| ${cells.map(escapeCell).join(' | ')} |\n`
}

export const code = (text: string): string => `\`${text}\``

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll(/\s*\n\s*/g, ' ')
}
