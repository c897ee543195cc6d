/** What can do without its parsed form. */
export interface Foldable {
  /** Keeps the JSON only, if it is there, and gives its place up. */
  fold(): void
}

/** Enough for what is being worked on. */
const MOST = 1024

const recent: (Foldable | undefined)[] = []
let next = 0

/**
 * Notes that something holds its parsed form, and returns its place. The parsed form is the larger half, and most
 * objects are read once in a while only: what was parsed longest ago goes back to its JSON.
 */
export function noteParsed(parsed: Foldable): number {
  const place = next
  recent[place]?.fold()
  recent[place] = parsed
  next = (place + 1) % MOST
  return place
}

/** Gives a place up: what nobody else needs any more is not kept by having been parsed, which with large objects is a lot. */
export function forgetParsed(parsed: Foldable, place: number): void {
  if (recent[place] === parsed) recent[place] = undefined
}
