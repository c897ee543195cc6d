import { expect, test } from 'vitest'
import { KeySequence } from './key-sequence.ts'

test('g and a second key go to a view', () => {
  const keys = new KeySequence()
  expect(keys.press('g', 0)).toBeUndefined()
  expect(keys.press('l', 500)).toEqual({ type: 'go', view: 'leases' })
  expect(keys.press('l', 600)).toBeUndefined()
})

test('after g, k goes to the controllers and does not move', () => {
  const keys = new KeySequence()
  expect(keys.press('k', 0)).toEqual({ type: 'move', by: -1 })
  keys.press('g', 100)
  expect(keys.press('k', 200)).toEqual({ type: 'go', view: 'controllers' })
})

test('a second key that comes too late counts alone', () => {
  const keys = new KeySequence()
  keys.press('g', 0)
  expect(keys.press('j', 5_000)).toEqual({ type: 'move', by: 1 })
})

test('single keys filter, help and close', () => {
  const keys = new KeySequence()
  expect(['/', '?', 'Escape', 'x'].map((key) => keys.press(key, 0)?.type)).toEqual([
    'filter',
    'help',
    'close',
    undefined,
  ])
})
