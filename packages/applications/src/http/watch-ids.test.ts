import { expect, test } from 'vitest'
import { isWatchId, versionOfId, WatchIds } from './watch-ids.ts'

test('an id is the resourceVersion, and no two ids are equal', () => {
  const ids = new WatchIds()
  expect(ids.latest).toBeUndefined()
  expect(['5', '7', '5', '7', '9', '9'].map((version) => ids.next(version))).toEqual([
    '5',
    '7',
    '7.1',
    '7.2',
    '9',
    '9.1',
  ])
  expect(ids.latest).toBe('9')
})

test('a client resumes from either form of an id', () => {
  expect(['7', '7.2'].map(versionOfId)).toEqual(['7', '7'])
  expect(['7', '7.2'].every(isWatchId)).toBe(true)
  expect(['', 'x', '7.', '.1', '7.1.1', '-7', '7-1', '9'.repeat(31)].some(isWatchId)).toBe(false)
})
