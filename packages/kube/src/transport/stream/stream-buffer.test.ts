import { expect, test } from 'vitest'
import { StreamBuffer } from './stream-buffer.ts'

const add = (buffer: StreamBuffer, text: string): void => buffer.add(Buffer.from(`<${text}>`), 1, text.length + 1)

test('added bytes are taken once', () => {
  const buffer = new StreamBuffer()
  expect(buffer.take()).toBeUndefined()
  add(buffer, 'a')
  add(buffer, 'bc')
  expect(buffer.length).toBe(3)
  expect(buffer.take()?.toString()).toBe('abc')
  expect(buffer.take()).toBeUndefined()
  add(buffer, 'd')
  buffer.clear()
  expect(buffer.take()).toBeUndefined()
})

test('taken bytes stay valid until the next take', () => {
  const buffer = new StreamBuffer()
  let expected = ''
  for (let round = 0; round < 20; round++) {
    // Sizes that grow, shrink and exceed the buffer.
    const text = String(round % 10).repeat(1 + ((round * 7919) % 40_000))
    add(buffer, text)
    const taken = buffer.take()
    expect(taken?.toString()).toBe(text)
    add(buffer, 'next')
    expect(taken?.toString()).toBe(text)
    expected = `${buffer.take()?.toString()}`
    expect(expected).toBe('next')
  }
})

test('memory is reused, and large buffers are freed after an idle time', () => {
  const buffer = new StreamBuffer()
  const memory = (size: number): ArrayBufferLike | undefined => {
    add(buffer, 'x'.repeat(size))
    return buffer.take()?.buffer
  }
  const first = memory(100)
  memory(100)
  expect(memory(100)).toBe(first)
  const large = memory(200_000)
  expect(large?.byteLength).toBeGreaterThanOrEqual(200_000)
  buffer.take()
  memory(200_000)
  expect(memory(200_000)).toBe(large)
  for (let turn = 0; turn < 15; turn++) buffer.take()
  add(buffer, 'waits')
  const last = buffer.take()
  expect(last?.toString()).toBe('waits')
  expect(last?.buffer.byteLength).toBeLessThan(200_000)
  expect(memory(10)?.byteLength).toBeLessThan(200_000)
})
