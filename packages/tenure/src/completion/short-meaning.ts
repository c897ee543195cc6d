/** The first sentence, without its full stop: shells have one line for it. */
export function shortMeaning(text: string): string {
  return /^.*?(?=[.:](?:\s|$)|$)/s.exec(text)?.[0] ?? text
}
