import { describe, expect, test } from 'vitest'
import { writtenFiles } from './sources.ts'
import { hasBannedName, itCalls, RULES, titleFragments, violations } from './word-rules.ts'

const files = writtenFiles()

describe('the words of the repository', () => {
  test('the rules find what they ban', () => {
    const text = '// It can not be told.\n// What is there.\nconst MOST_ROWS = 3\nconst AT_MOST = 3\n'
    const found = RULES.filter((rule) => violations(rule, { path: 'packages/a.ts', text }).length > 0)
    expect(found.map(({ name }) => name)).toEqual([
      'can not',
      'a comment that begins with a relative clause',
      'a constant that names no quantity',
    ])
  })

  test.each(RULES)('no file contains $name', (rule) => {
    expect(files.flatMap((file) => violations(rule, file))).toEqual([])
  })

  test('file names are words of the field', () => {
    expect(files.map((file) => file.path).filter(hasBannedName)).toEqual([])
  })

  test('tests are written with test, not with it', () => {
    expect(files.flatMap(itCalls)).toEqual([])
  })

  test('titles of tests are whole statements', () => {
    const text = "test('refused', () => {})\ntest('keeps the finalizer while cleanup fails', () => {})\n"
    expect(titleFragments({ path: 'a.test.ts', text })).toHaveLength(2)
    expect(files.flatMap(titleFragments)).toEqual([])
  })
})
