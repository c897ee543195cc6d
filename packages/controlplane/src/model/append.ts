/**
 * Adds the items of lists to the end of a list. `push` with a spread list passes each item as an argument, and about
 * 120,000 of them overflow the stack.
 */
export function append<T>(list: T[], ...added: readonly Iterable<T>[]): void {
  for (const items of added) for (const item of items) list.push(item)
}
