/** The candidate that `typed` was most likely meant to be; undefined if none is near. */
export function nearest(typed: string, candidates: readonly string[]): string | undefined {
  // A third of the letters may be wrong; with more it is a guess.
  let least = Math.floor(Math.max(typed.length, 3) / 3) + 1
  let best: string | undefined
  for (const candidate of candidates) {
    const edits = distance(typed.toLowerCase(), candidate.toLowerCase(), least)
    if (edits < least) {
      least = edits
      best = candidate
    }
  }
  return best
}

/** Letters to add, drop, change or swap with their neighbour to get from one to the other; at most `limit`. */
function distance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1
      let cost = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + same)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, (before[j - 2] ?? 0) + 1)
      row.push(cost)
    }
    before = last
    last = row
  }
  return last[b.length] ?? limit
}
