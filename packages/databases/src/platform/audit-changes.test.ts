import { expect, test } from 'vitest'
import { changeLines } from './audit-changes.ts'

test('a change is a line, with the old value if there was one', () => {
  const changes = [
    { field: 'image', to: 'postgres:16-alpine' },
    { field: 'replicas', from: 1, to: 3 },
    { field: 'settings', from: ['a'], to: null },
  ]
  expect(changeLines({ name: 'orders', changes })).toEqual([
    'image: postgres:16-alpine',
    'replicas: 1 → 3',
    'settings: ["a"] → null',
  ])
})

test('a failure without changes is its error', () => {
  expect(changeLines({ error: 'The pod crashes.', changes: [] })).toEqual(['The pod crashes.'])
})

test('details of other programs are no lines', () => {
  for (const details of [null, 'text', [], {}, { changes: 'x' }, { changes: [1, null] }, { error: 5 }])
    expect(changeLines(details)).toEqual([])
})
