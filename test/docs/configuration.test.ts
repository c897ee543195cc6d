import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { configurationReference } from '../../scripts/reference.ts'

it('lists every setting as the commands read it: npm run reference', () => {
  const page = readFileSync(new URL('../../docs/reference/configuration.md', import.meta.url), 'utf8')
  expect(page).toBe(configurationReference())
})
