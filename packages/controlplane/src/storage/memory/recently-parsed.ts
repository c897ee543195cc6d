/** An object that can drop its parsed form. */
export interface Foldable {
  /** Drops the parsed form if the JSON exists, and releases its slot. */
  fold(): void
}

/** Maximum number of objects that keep their parsed form: enough for those in use. */
const MAX_PARSED_OBJECTS = 1024

const recent: (Foldable | undefined)[] = []
let next = 0

/**
 * Registers an object that holds its parsed form and returns its slot. The parsed form is larger than the JSON and most
 * objects are read rarely: the object parsed longest ago drops it.
 */
export function noteParsed(parsed: Foldable): number {
  const place = next
  recent[place]?.fold()
  recent[place] = parsed
  next = (place + 1) % MAX_PARSED_OBJECTS
  return place
}

/** Releases a slot, so that being recently parsed does not keep an unused object in memory. */
export function forgetParsed(parsed: Foldable, place: number): void {
  if (recent[place] === parsed) recent[place] = undefined
}
