import { expect, test } from 'vitest'
import { failuresOf, hasPassed, patternOf } from '../../scripts/failed-tests.ts'

const report = (results: readonly object[]): string => JSON.stringify({ testResults: results })

test('failed tests are read from the report, by file and full title', () => {
  const assertionResults = [
    { ancestorTitles: ['a group'], title: 'a test (of 3)', status: 'failed' },
    { ancestorTitles: ['a group'], title: 'another', status: 'passed' },
  ]
  const text = report([
    { name: '/repo/test/cluster/a.test.ts', status: 'failed', assertionResults },
    { name: '/repo/test/cluster/b.test.ts', status: 'passed', assertionResults: [] },
  ])
  expect(failuresOf(text, '/repo')).toEqual([{ file: 'test/cluster/a.test.ts', test: 'a group > a test (of 3)' }])
})

test('a file whose hook or import failed is a failure of its own', () => {
  const text = report([{ name: '/repo/test/cluster/a.test.ts', status: 'failed', assertionResults: [] }])
  expect(failuresOf(text, '/repo')).toEqual([{ file: 'test/cluster/a.test.ts' }])
})

test('the pattern of a title matches that title only', () => {
  const pattern = new RegExp(patternOf('a group > a test (of 3)'))
  expect('a group > a test (of 3)').toMatch(pattern)
  expect('a group > a test (of 3) and more').not.toMatch(pattern)
})

test('the pattern of a title that the report has shortened matches the whole title', () => {
  expect('YAML with more warnings than there is room for').toMatch(new RegExp(patternOf('YAML with more warnings…')))
})

test('a run passes only if a test ran', () => {
  const of = (...statuses: readonly string[]): string =>
    report([
      {
        name: '/repo/a.test.ts',
        status: 'passed',
        assertionResults: statuses.map((status) => ({ ancestorTitles: [], title: 'a', status })),
      },
    ])
  expect(hasPassed(of('skipped', 'passed'))).toBe(true)
  expect(hasPassed(of('skipped'))).toBe(false)
  expect(hasPassed(of('passed', 'failed'))).toBe(false)
  expect(hasPassed(report([{ name: '/repo/a.test.ts', status: 'failed', assertionResults: [] }]))).toBe(false)
})
