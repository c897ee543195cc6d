import { compareBytes } from './bytes.ts'

/** The keys of a map in the order in which Go's templates visit them. */
export function sortedKeys(map: ReadonlyMap<string, unknown>): readonly string[] {
  const keys = [...map.keys()]
  for (let index = 1; index < keys.length; index++) {
    if (compareBytes(keys[index - 1] ?? '', keys[index] ?? '') > 0) return keys.toSorted(compareBytes)
  }
  return keys
}
