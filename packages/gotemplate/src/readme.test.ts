import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'

import * as gotemplate from './index.ts'

const readme = readFileSync(path.join(import.meta.dirname, '../README.md'), 'utf8')
const examples = Array.from(readme.matchAll(/^```ts\n([\s\S]*?)^```$/gm), ([, code = '']) => code)

test('every example of the README prints what its comments say', () => {
  expect(examples.length).toBeGreaterThanOrEqual(3)
  for (const code of examples) {
    const expected = Array.from(code.matchAll(/^\/\/ (.*)$/gm), ([, line = '']) => line)
    const printed: string[] = []
    const body = code.replaceAll(/^import .*$/gm, '').replaceAll(' as Error', '')
    // The README is part of the package.
    // oxlint-disable-next-line typescript/no-implied-eval
    const run = new Function('console', ...Object.keys(gotemplate), body)
    run({ log: (text: string) => printed.push(...text.trimEnd().split('\n')) }, ...Object.values(gotemplate))
    expect(printed).toEqual(expected)
  }
})
