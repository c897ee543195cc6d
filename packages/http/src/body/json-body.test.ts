import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseJson } from './json-body.ts'

/** The value, or the status and the start of the error. */
function outcome(bytes: Uint8Array, depth: number): unknown {
  try {
    return { value: parseJson(bytes, depth) }
  } catch (error) {
    const { status, message } = error as { readonly status?: unknown; readonly message: string }
    return [status, message.split(' ').slice(0, 3).join(' ')]
  }
}

function expectedOf(text: string, depth: number): unknown {
  const value: unknown = JSON.parse(text)
  if (depthOf(value) > depth) return [400, 'JSON is nested']
  return hasPrototypeKey(value) ? [400, 'JSON must not'] : { value }
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}

function hasPrototypeKey(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Object.hasOwn(value, '__proto__') || Object.values(value).some(hasPrototypeKey)
}

test('the parser returns what JSON.parse returns, up to its depth', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 8 }), fc.integer({ min: 0, max: 8 }), (text, depth) => {
      expect(outcome(Buffer.from(text), depth)).toEqual(expectedOf(text, depth))
    }),
    { numRuns: 500 },
  )
})

test('any bytes give a value or a 400', () => {
  const known = [
    [400, 'Invalid JSON'],
    [400, 'JSON is nested'],
    [400, 'JSON must not'],
    { value: expect.anything() },
    { value: null },
  ]
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.string({ maxLength: 50 }), (bytes, text) => {
      for (const input of [bytes, Buffer.from(text), Buffer.from(`{"a":${text}}`)]) {
        expect(known).toContainEqual(outcome(input, 10))
      }
    }),
    { numRuns: 500 },
  )
})
