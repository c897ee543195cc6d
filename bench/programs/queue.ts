import { systemClock } from '@tenure/kube'
import { WorkQueue } from '@tenure/runtime'
import { run } from './run.ts'
import { Stopwatch } from './stopwatch.ts'
import type { Flags } from './usage.ts'

/**
 * Measures add, get, done: all keys in a batch, as after an initial list, and one key at a time, as in steady state.
 */
function queue(flag: Flags): object {
  const count = Number(flag('count'))
  const rounds = Number(flag('rounds'))
  const keys = Array.from({ length: count }, (_, index) => `bench/seed-${String(index).padStart(5, '0')}`)
  const work = new WorkQueue({ clock: systemClock, name: 'bench' })
  const take = (): void => {
    const key = work.tryGet()
    if (key === undefined) throw new Error('The queue is empty')
    work.done(key)
  }
  const batch = (): void => {
    for (const key of keys) work.add(key)
    for (let index = 0; index < count; index++) take()
  }
  const single = (): void => {
    for (const key of keys) {
      work.add(key)
      take()
    }
  }
  const measured = (round: () => void): ReturnType<Stopwatch['perItem']> => {
    round()
    const stopwatch = new Stopwatch()
    for (let turn = 0; turn < rounds; turn++) round()
    return stopwatch.perItem(count * rounds)
  }
  const result = { ...measured(batch), single: measured(single) }
  work.shutDown()
  return result
}

await run({ queue })
