import { expect, test } from 'vitest'

import { podVolumeWarnings } from './volume-warnings.ts'

const volume = (paths: readonly string[]): Record<string, unknown> => ({
  name: 'v',
  configMap: { name: 'c', items: paths.map((path) => ({ key: 'k', path })) },
})

test('the number of reported path overlaps is bounded', () => {
  const same = Array.from({ length: 50_000 }, () => 'a')
  expect(podVolumeWarnings([volume(same)], 'volumes')).toHaveLength(128)
  const apart = Array.from({ length: 50_000 }, (_, index) => `f${index}`)
  expect(podVolumeWarnings([volume(apart)], 'volumes')).toEqual([])
  const volumes = Array.from({ length: 50 }, () => volume(same.slice(0, 10)))
  expect(podVolumeWarnings(volumes, 'volumes')).toHaveLength(128)
})

test.each([
  ['a/b', 'a', true],
  ['a', 'a//', true],
  ['a/', 'ab', false],
  ['', 'a', false],
])('the overlap of %s and %s is %s', (one, other, does) => {
  expect(podVolumeWarnings([volume([one, other])], 'volumes')).toHaveLength(does ? 1 : 0)
})
