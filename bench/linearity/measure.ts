import type { Row } from '../rows.ts'
import { operations } from './operations.ts'

const SIZES = [1_000, 10_000, 100_000] as const
/** Runs per size, of which the fastest counts: load on the machine only makes a run slower. */
const RUNS = 4
/** Ten times the items may take up to twice the time per item: caches miss more often, and sorting is not quite linear. */
const MAX_GROWTH = 2

export interface Linearity {
  readonly rows: readonly Row[]
  readonly table: string
}

/** Times each operation at each size, in this process. */
export function measureLinearity(say: (text: string) => void): Linearity {
  const lines: string[] = []
  const rows = operations.map(({ what, prepare }): Row => {
    say(`▸ linearity: ${what}`)
    const [small = 0, medium = 0, large = 0] = SIZES.map((size) => microsecondsPerItem(prepare(size), size))
    const growth = large / medium
    const cells = [what, ...[small, medium, large].map((time) => `${time.toFixed(2)} µs`), `${growth.toFixed(2)}×`]
    lines.push(`| ${cells.join(' | ')} | ${growth <= MAX_GROWTH ? 'reached' : 'MISSED'} |`)
    return { what, unit: 'µs', ours: large, peer: medium, bound: { on: 'ratio', is: 'at most', limit: MAX_GROWTH } }
  })
  const sizes = SIZES.map((size) => size.toLocaleString('en-US'))
  const head = ['time per item, of', ...sizes, `growth, ≤ ${MAX_GROWTH}×`, '']
  return { rows, table: [`| ${head.join(' | ')} |`, `|${head.map(() => ' --- ').join('|')}|`, ...lines].join('\n') }
}

function microsecondsPerItem(run: () => unknown, items: number): number {
  // A small input runs several times per measurement, and more often before, until it is compiled.
  const repeats = Math.max(1, 20_000 / items)
  let best = Infinity
  for (let round = 0; round < RUNS; round++) {
    const started = performance.now()
    for (let repeat = 0; repeat < repeats; repeat++) run()
    best = Math.min(best, performance.now() - started)
  }
  return (best * 1000) / repeats / items
}
