import fc from 'fast-check'
import { expect, test } from 'vitest'
import { OrderedSlots, type Slot } from './ordered-slots.ts'
import { Version } from './version.ts'

const slot = (key: string): Slot => ({ key, newest: Version.ofJson(key, 1, '{}') })
const keys = (slots: Iterable<Slot>): readonly string[] => Array.from(slots, ({ key }) => key)

test('iteration is ordered from any key, whatever order keys are inserted and removed in', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 0, max: 3000 })), { maxLength: 4000, size: 'max' }),
      fc.integer({ min: 0, max: 3000 }),
      (steps, start) => {
        const slots = new OrderedSlots()
        const model = new Set<string>()
        for (const [isAdded, number] of steps) {
          const key = String(number).padStart(4, '0')
          if (isAdded && !model.has(key)) slots.add(slot(key))
          if (isAdded) model.add(key)
          else if (model.delete(key)) slots.remove(key)
        }
        const from = String(start).padStart(4, '0')
        expect(keys(slots.from(from))).toEqual([...model].filter((key) => key >= from).toSorted())
      },
    ),
    { numRuns: 50 },
  )
})

test('a paused iteration visits every remaining slot once, in order', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 0, max: 1999 })), { maxLength: 2000, size: 'max' }),
      (steps) => {
        const slots = new OrderedSlots()
        const present = new Set<string>()
        for (let number = 0; number < 2000; number += 2) {
          const key = String(number).padStart(4, '0')
          slots.add(slot(key))
          present.add(key)
        }
        const stayed = new Set(present)
        const seen: string[] = []
        const pending = [...steps]
        for (const { key } of slots.from('')) {
          seen.push(key)
          for (const [isAdded, number] of pending.splice(0, 2)) {
            const other = String(number).padStart(4, '0')
            if (isAdded && !present.has(other)) {
              slots.add(slot(other))
              present.add(other)
            } else if (!isAdded && present.delete(other)) {
              slots.remove(other)
              stayed.delete(other)
            }
          }
        }
        expect(seen).toEqual([...new Set(seen)].toSorted())
        expect(seen.filter((key) => stayed.has(key))).toEqual([...stayed])
      },
    ),
    { numRuns: 15 },
  )
})
