/** What can do without its parsed form. */
export interface Foldable {
  /** Keeps the JSON only, if it is there. */
  fold(): void
}

/** Enough for what is being worked on. */
const MOST = 1024

const recent: (Foldable | undefined)[] = []
let next = 0

/**
 * Notes that something holds its parsed form. The parsed form is the larger half, and most objects are read once in a
 * while only: what was parsed longest ago goes back to its JSON.
 */
export function noteParsed(parsed: Foldable): void {
  recent[next]?.fold()
  recent[next] = parsed
  next = (next + 1) % MOST
}
