import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import '../../docs/examples/previews/operator.test.ts'

/** All files of the example, blank lines included. */
const MAX_LINES = 120

test(`an operator with a CRD, a webhook, a route, a metric and a test has at most ${MAX_LINES} lines`, () => {
  const folder = new URL('../../docs/examples/previews/', import.meta.url)
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const lines = files.flatMap((file) => readFileSync(new URL(file, folder), 'utf8').trimEnd().split('\n'))
  expect(files.length).toBeGreaterThan(1)
  expect(lines.length).toBeLessThanOrEqual(MAX_LINES)
})
