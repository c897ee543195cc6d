import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { root } from './sources.ts'

const surface = JSON.parse(readFileSync(path.join(import.meta.dirname, 'public-surface.json'), 'utf8')) as Record<
  string,
  readonly string[]
>

// Every change of a package's exports must be made on purpose, in public-surface.json.
test.each(Object.keys(surface))('%s exports exactly the names in public-surface.json', async (name) => {
  const exported: object = await import(name)
  expect(Object.keys(exported).toSorted()).toEqual(surface[name])
})

test('public-surface.json lists every entry of every package', () => {
  // The command has no importers.
  const packages = readdirSync(path.join(root, 'packages')).filter((name) => name !== 'tenure')
  const entries = packages.flatMap((name) => {
    const manifest = JSON.parse(readFileSync(path.join(root, 'packages', name, 'package.json'), 'utf8')) as {
      name: string
      exports?: Record<string, string>
    }
    return Object.keys(manifest.exports ?? {}).map((entry) => path.posix.join(manifest.name, entry))
  })
  expect(Object.keys(surface).toSorted()).toEqual(entries.toSorted())
})
