import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { configurationReference } from '../../scripts/reference.ts'

test('the configuration reference lists every setting (update it with: npm run reference)', () => {
  const page = readFileSync(new URL('../../docs/reference/configuration.md', import.meta.url), 'utf8')
  expect(page).toBe(configurationReference())
})
