/** All texts of a row in lower case, one per line, so that no match spans two texts. */
export function searchText(row: object): string {
  const texts: string[] = []
  collect(row, texts)
  return texts.join('\n').toLowerCase()
}

function collect(value: unknown, texts: string[]): void {
  if (typeof value === 'string') texts.push(value)
  else if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) collect(inner, texts)
  }
}

/** The words of a filter, in lower case. A row matches if it has all of them. */
export function searchWords(query: string): readonly string[] {
  return query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
}

export function matchesWords(text: string, words: readonly string[]): boolean {
  return words.every((word) => text.includes(word))
}
