import { seededRandom } from '@tenure/kube/testing'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DueHeap } from './due-heap.ts'

describe('DueHeap', () => {
  test('the heap equals a sorted map after any sets and deletes', () => {
    const key = fc.integer({ min: 0, max: 30 }).map(String)
    const step = fc.oneof(
      fc.record({ op: fc.constant('set' as const), key, due: fc.integer({ min: 0, max: 50 }) }),
      fc.record({ op: fc.constant('delete' as const), key }),
      fc.record({ op: fc.constant('pop' as const) }),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const heap = new DueHeap()
        const model = new Map<string, number>()
        for (const step of steps) {
          const next = heap.next()
          if (step.op === 'set') {
            heap.set(step.key, step.due)
            model.set(step.key, step.due)
          } else {
            const key = step.op === 'delete' ? step.key : (next?.key ?? '')
            const outcome = { wasThere: heap.delete(key), due: next && model.get(next.key) }
            // oxlint-disable-next-line vitest/no-conditional-expect -- every step checks, by its own rule
            expect(outcome).toEqual({ wasThere: model.delete(key), due: next?.due })
          }
          expect(heap.size).toBe(model.size)
          expect(heap.next()?.due ?? Infinity).toBe(Math.min(...model.values()))
        }
        const drained: number[] = []
        for (let next = heap.next(); next; next = heap.next()) {
          expect(heap.get(next.key)).toBe(next.due)
          drained.push(next.due)
          heap.delete(next.key)
        }
        expect(drained).toEqual([...model.values()].toSorted((a, b) => a - b))
      }),
    )
  })

  test('the heap holds 100,000 entries in order', () => {
    const random = seededRandom(7)
    const heap = new DueHeap()
    for (let i = 0; i < 100_000; i++) heap.set(`namespace/object-${i}`, Math.floor(random.fraction() * 1e9))
    for (let i = 0; i < 100_000; i += 2) heap.delete(`namespace/object-${i}`)
    expect(heap.size).toBe(50_000)
    let last = -1
    let drained = 0
    for (let next = heap.next(); next; next = heap.next()) {
      if (next.due < last) break
      last = next.due
      drained++
      heap.delete(next.key)
    }
    expect(drained).toBe(50_000)
  })
})
