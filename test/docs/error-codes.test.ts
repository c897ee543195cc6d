import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { packageSources, root } from '../house/sources.ts'

const CODE = /TENURE_[A-Z]+(?:_[A-Z]+)*(?![A-Z_$])/g
const page = new Set(readFileSync(path.join(root, 'docs/reference/errors.md'), 'utf8').match(CODE))
const code = new Set(
  packageSources()
    .filter(({ path: file }) => !/\.test(ing)?\.ts$|\/testing\//.test(file))
    .flatMap(
      ({ text }) =>
        text.match(
          /(?<=['`])(?<!env\[['`])(?<!environment: ['`])(?<!etting: ['`])TENURE_[A-Z]+(?:_[A-Z]+)*(?=['`])/g,
        ) ?? [],
    ),
)

test('the reference lists every error code', () => {
  expect(code.size).toBeGreaterThan(50)
  expect([...code].filter((each) => !page.has(each))).toEqual([])
})

test('the reference lists no removed error code', () => {
  const families = /^TENURE_(API|KUBECONFIG)_/
  expect([...page].filter((each) => !code.has(each) && !families.test(each))).toEqual([])
})
