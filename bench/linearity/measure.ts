import type { Row } from '../rows.ts'
import { operations } from './operations.ts'

const SIZES = [1_000, 10_000, 100_000] as const
/** Runs per size, of which the fastest counts: load on the machine only makes a run slower. */
const RUNS = 5
/** The least CPU time of a run: the clock counts in steps of some milliseconds. */
const MIN_RUN_MICROSECONDS = 150_000
/** Ten times the items may take up to twice the time per item: caches miss more often, and sorting is not quite linear. */
const MAX_GROWTH = 2
/** Where plain loops over the same input grow more than that, the operation may grow this much more than they do. */
const MAX_OVER_BARE = 1.1

export interface Linearity {
  readonly rows: readonly Row[]
  readonly table: string
}

/** The time per item at each size. */
function measure(prepare: (items: number) => () => unknown): readonly [number, number, number] {
  const [small, medium, large] = SIZES
  const at = (size: number): number => microsecondsPerItem(prepare(size), size)
  return [at(small), at(medium), at(large)]
}

/** Times each operation at each size, in this process. */
export function measureLinearity(say: (text: string) => void): Linearity {
  const lines: string[] = []
  const rows = operations.map(({ what, prepare, bare }): Row => {
    say(`▸ linearity: ${what}`)
    const [small, medium, large] = measure(prepare)
    const growth = large / medium
    const [, bareMedium, bareLarge] = bare ? measure(bare) : [0, 1, 0]
    const bareGrowth = bareLarge / bareMedium
    const limit = Math.max(MAX_GROWTH, bareGrowth * MAX_OVER_BARE)
    const cells = [
      what,
      ...[small, medium, large].map((time) => `${time.toFixed(2)} µs`),
      `${growth.toFixed(2)}×`,
      bare ? `${bareGrowth.toFixed(2)}×` : '',
    ]
    lines.push(`| ${cells.join(' | ')} | ${growth <= limit ? 'reached' : 'MISSED'} |`)
    return { what, unit: 'µs', ours: large, peer: medium, bound: { on: 'ratio', is: 'at most', limit } }
  })
  const sizes = SIZES.map((size) => size.toLocaleString('en-US'))
  const head = ['time per item, of', ...sizes, `growth, ≤ ${MAX_GROWTH}×`, 'of bare loops', '']
  return { rows, table: [`| ${head.join(' | ')} |`, `|${head.map(() => ' --- ').join('|')}|`, ...lines].join('\n') }
}

function microsecondsPerItem(run: () => unknown, items: number): number {
  let best = Infinity
  for (let round = 0; round < RUNS; round++) {
    const started = threadMicroseconds()
    let taken = 0
    let repeats = 0
    for (; taken < MIN_RUN_MICROSECONDS; taken = threadMicroseconds() - started) {
      run()
      repeats++
    }
    best = Math.min(best, taken / repeats)
  }
  return best / items
}

/** The CPU time of this thread: other programs on the machine change it little. */
function threadMicroseconds(): number {
  const { user, system } = process.threadCpuUsage()
  return user + system
}
