import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { root } from './sources.ts'

const surface = JSON.parse(readFileSync(path.join(import.meta.dirname, 'public-surface.json'), 'utf8')) as Record<
  string,
  readonly string[]
>

// What a package exports is a promise: it changes on purpose, in public-surface.json, or not at all.
it.each(Object.keys(surface))('%s exports what it promises', async (name) => {
  const exported: object = await import(name)
  expect(Object.keys(exported).toSorted()).toEqual(surface[name])
})

it('knows every package and entry', () => {
  const entries = ['kube', 'runtime', 'http', 'controlplane', 'applications', 'leases'].flatMap((room) => {
    const manifest = JSON.parse(readFileSync(path.join(root, 'packages', room, 'package.json'), 'utf8')) as {
      name: string
      exports: Record<string, string>
    }
    return Object.keys(manifest.exports).map((entry) => path.posix.join(manifest.name, entry))
  })
  expect(Object.keys(surface).toSorted()).toEqual(entries.toSorted())
})
