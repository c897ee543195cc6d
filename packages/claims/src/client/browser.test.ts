import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import vm from 'node:vm'
import { rolldown } from 'rolldown'
import { expect, test } from 'vitest'
import { ClaimsServer } from '../testing/claims-server.ts'
import type { ClaimGrant } from './index.ts'

/** Bytes of the client after bundling, not minified: a page loads it in one small request. */
const MAX_BUNDLE_BYTES = 24_000

test('the client imports only its own files', () => {
  const sources = readdirSync(import.meta.dirname).filter((name) => !/\.test(ing)?\.ts$/.test(name))
  expect(sources).toContain('index.ts')
  for (const name of sources) {
    const text = readFileSync(path.join(import.meta.dirname, name), 'utf8')
    for (const [, specifier] of text.matchAll(/\bfrom '([^']+)'/g)) expect(specifier).toMatch(/^\.\/[\w-]+\.ts$/)
  }
})

test('the bundled client runs with the globals of a browser alone', async () => {
  const bundle = await rolldown({ input: path.join(import.meta.dirname, 'index.ts'), platform: 'browser' })
  const { output } = await bundle.generate({ format: 'iife', name: 'claims' })
  const [{ code }] = output
  expect(output).toHaveLength(1)
  expect(code.length).toBeLessThan(MAX_BUNDLE_BYTES)
  await using server = await ClaimsServer.start()
  const globals = { AbortController, clearTimeout, crypto, fetch, Headers, performance, Response, setTimeout, URL }
  const script = `${code}
    ;(async () => {
      const held = await claims.claim({ url, pool: 'chrome' })
      await held.release()
      return { id: held.id, data: held.data }
    })()`
  const held = (await vm.runInNewContext(script, { ...globals, url: server.url })) as ClaimGrant
  expect(held.data).toEqual({ fqdn: 'web.example' })
  expect(server.to('release').map(({ path: target }) => target)).toEqual([`/release/${held.id}`])
})
