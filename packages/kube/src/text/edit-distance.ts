/** The candidates whose names are closest to `name`, closest first. At most a third of the letters may differ. */
export function closest<C>(name: string, candidates: readonly C[], namesOf: (candidate: C) => readonly string[]): C[] {
  const wanted = name.toLowerCase()
  const limit = Math.max(1, Math.floor(wanted.length / 3))
  return candidates
    .map((candidate) => ({
      candidate,
      distance: Math.min(...namesOf(candidate).map((other) => editDistance(wanted, other.toLowerCase(), limit))),
    }))
    .filter(({ distance }) => distance <= limit)
    .toSorted((a, b) => a.distance - b.distance)
    .map(({ candidate }) => candidate)
}

/**
 * The number of letters to insert, remove, replace or swap with their neighbour to turn `a` into `b`. Texts whose lengths
 * differ by more than `limit` are not compared: the result is the difference of the lengths.
 */
export function editDistance(a: string, b: string, limit = Infinity): number {
  const difference = Math.abs(a.length - b.length)
  if (difference > limit) return difference
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const replaced = (last[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1)
      let cost = Math.min(replaced, (last[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1)
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        cost = Math.min(cost, (beforeLast[column - 2] ?? 0) + 1)
      }
      current.push(cost)
    }
    beforeLast = last
    last = current
  }
  return last[b.length] ?? 0
}
