/** The candidates whose names are closest to `name`, closest first, within one edit per three letters. */
export function closest<C>(name: string, candidates: readonly C[], namesOf: (candidate: C) => readonly string[]): C[] {
  const wanted = name.toLowerCase()
  const limit = Math.max(1, Math.floor(wanted.length / 3))
  return candidates
    .map((candidate) => ({
      candidate,
      distance: Math.min(...namesOf(candidate).map((other) => editDistance(wanted, other.toLowerCase()))),
    }))
    .filter(({ distance }) => distance <= limit)
    .toSorted((a, b) => a.distance - b.distance)
    .map(({ candidate }) => candidate)
}

/** Optimal string alignment distance: letters to insert, remove, replace or swap with a neighbour. */
export function editDistance(a: string, b: string): number {
  let beforePrevious: readonly number[] = []
  let previous: readonly number[] = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const replaced = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1)
      let distance = Math.min(replaced, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1)
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        distance = Math.min(distance, (beforePrevious[column - 2] ?? 0) + 1)
      }
      current.push(distance)
    }
    beforePrevious = previous
    previous = current
  }
  return previous[b.length] ?? 0
}
