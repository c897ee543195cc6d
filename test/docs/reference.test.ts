import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { referencePages } from '../../scripts/reference/pages.ts'
import { packageSources } from '../house/sources.ts'

const page = (file: string): string => readFileSync(new URL(`../../docs/reference/${file}`, import.meta.url), 'utf8')

test(
  'the generated reference pages are up to date (update them with: npm run reference)',
  { timeout: 120_000 },
  async () => {
    for (const [file, text] of Object.entries(await referencePages())) expect([file, page(file)]).toEqual([file, text])
  },
)

test('the reference lists every metric that the code names', () => {
  const listed = page('metrics.md')
  const named = packageSources()
    .filter(({ path, text }) => !/\.test(ing)?\.ts$|\/testing\//.test(path) && /\bhelp: /.test(text))
    .flatMap(({ text }) => [...text.matchAll(/name: '([a-z]+(?:_[a-z]+)+)'/g)].map(([, name = '']) => name))
  expect(named.length).toBeGreaterThan(30)
  expect(named.filter((name) => !listed.includes(`\`${name}\``))).toEqual([])
})
