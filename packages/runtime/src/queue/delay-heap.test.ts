import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { DelayHeap } from './delay-heap.ts'
import { type Entry, newEntry } from './entry.ts'

const operation = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('push' as const), due: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('remove' as const), which: fc.nat() }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('advance' as const), which: fc.nat(), by: fc.integer({ min: 1, max: 20 }) }),
  },
)

test('the top is always the entry with the earliest due time', () => {
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 120, size: 'max' }), (operations) => {
      const heap = new DelayHeap()
      const entries: Entry[] = []
      for (const step of operations) {
        const entry = step.do === 'push' ? newEntry('key') : entries[step.which % entries.length]
        if (entry === undefined) continue
        if (step.do === 'push') {
          entry.due = step.due
          heap.push(entry)
          entries.push(entry)
        } else if (step.do === 'remove') {
          heap.remove(entry)
          entries.splice(entries.indexOf(entry), 1)
        } else {
          entry.due -= step.by
          heap.advanced(entry)
        }
        const first = entries.toSorted((a, b) => a.due - b.due || a.order - b.order)[0]
        expect(heap.top).toBe(first)
      }
      const order: Entry[] = []
      for (let top = heap.top; top; top = heap.top) {
        order.push(top)
        heap.remove(top)
      }
      expect(order).toEqual(entries.toSorted((a, b) => a.due - b.due || a.order - b.order))
    }),
    { numRuns: 300 },
  )
})
