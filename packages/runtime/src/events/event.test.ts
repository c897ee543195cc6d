import { seededRandom } from '@tenure/kube/testing'
import { describe, expect, test } from 'vitest'
import { cutToBytes, eventName } from './event.ts'

describe('names and notes', () => {
  test('a note is truncated between characters to the limit of the server', () => {
    expect(cutToBytes('short', 1_024)).toBe('short')
    for (const text of [
      'x'.repeat(2_000),
      'ü'.repeat(600),
      '🙂'.repeat(300),
      `a${'🙂'.repeat(300)}`,
      '漢'.repeat(342),
    ]) {
      const cut = cutToBytes(text, 1_024)
      expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(1_024)
      expect(Buffer.byteLength(cut)).toBeGreaterThan(1_017)
      expect(text.startsWith(cut.slice(0, -1))).toBe(true)
      expect(cut).not.toContain('\uFFFD')
    }
  })

  test('event names are valid', () => {
    const random = seededRandom()
    expect(eventName('web', random)).toMatch(/^web\.[0-9a-f]{16}$/)
    expect(eventName('system:node', random)).toMatch(/^[0-9a-f]{16}$/)
    expect(eventName('', random)).toMatch(/^[0-9a-f]{16}$/)
    const long = eventName(`${'a'.repeat(235)}.${'b'.repeat(17)}`, random)
    expect(long).toMatch(/^a{235}\.[0-9a-f]{16}$/)
  })
})
