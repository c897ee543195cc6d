import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Frame } from './ring.ts'
import { frameOf, Ring } from './ring.ts'

const emptyFrame = (id: number, length: number): Frame<undefined> => ({
  id: String(id),
  bytes: Buffer.alloc(length),
  about: undefined,
})

test('the ring keeps the longest tail within its bounds, with the right positions', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(20), fc.nat(30)), { maxLength: 400 }),
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 1, max: 500 }),
      (pushes, maxFrames, maxBytes) => {
        const ring = new Ring<undefined>({ maxFrames, maxBytes })
        const all: Frame<undefined>[] = []
        for (const [id, length] of pushes) {
          all.push(emptyFrame(id, length))
          ring.push(all.at(-1) ?? emptyFrame(0, 0))
          const kept = ring.from(ring.start) ?? []
          expect(ring.end).toBe(all.length)
          expect(kept).toEqual(all.slice(ring.start))
          expect(kept.length).toBeLessThanOrEqual(maxFrames)
          expect(ring.bytes).toBe(kept.reduce((sum, { bytes }) => sum + bytes.length, 0))
          expect(ring.bytes).toBeLessThanOrEqual(maxBytes)
        }
        expect(ring.from(ring.start - 1)).toBeUndefined()
        expect(ring.from(ring.end)).toEqual([])
        for (const { id } of all) {
          const position = all.findIndex((each, at) => at >= ring.start && each.id === id)
          expect(ring.find(id)).toBe(position < 0 ? undefined : position)
        }
      },
    ),
    { numRuns: 100 },
  )
})

test('a kept frame keeps no memory besides its own bytes', () => {
  const { bytes } = frameOf('7', { text: 'grün\n' }, undefined)
  expect(String(bytes)).toBe('id: 7\ndata: {"text":"grün\\n"}\n\n')
  expect(bytes.buffer.byteLength).toBe(bytes.length)
})
