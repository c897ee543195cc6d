import { execFileSync } from 'node:child_process'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

import { type GoBuild, buildGo } from './build-cache.ts'

let folder: string
let lines: string[]

const progress = (line: string): number => lines.push(line)
const starts = (): readonly string[] => lines.filter((line) => line.startsWith('building') && line.endsWith('…'))

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tenure-build-'))
  lines = []
  // Go's cache also follows XDG_CACHE_HOME and would be empty.
  vi.stubEnv('GOCACHE', execFileSync('go', ['env', 'GOCACHE'], { encoding: 'utf8' }).trim())
  vi.stubEnv('XDG_CACHE_HOME', path.join(folder, 'cache'))
  await writeFile(path.join(folder, 'go.mod'), 'module example.test/hello\n\ngo 1.26.0\n')
  await source('hello')
})

afterEach(async () => {
  vi.unstubAllEnvs()
  await rm(folder, { recursive: true, force: true })
})

const source = (word: string): Promise<void> =>
  writeFile(path.join(folder, 'main.go'), `package main\n\nfunc main() { print("${word}") }\n`)

function build(afterwards?: GoBuild['afterwards']): GoBuild {
  const programs = ['one', 'two'].map((name) => ({ name, package: '.' }))
  return { label: 'hello', module: folder, programs, ...(afterwards && { afterwards }) }
}

const said = (cache: string, name: string): string =>
  execFileSync('sh', ['-c', `"${path.join(cache, 'bin', name)}" 2>&1`], { encoding: 'utf8' })

describe('the build cache', () => {
  test('concurrent builds build each program once, and later builds only the missing ones', async () => {
    const afterwards = vi.fn(() => Promise.resolve())
    const one = new Set(['one'])
    const [first, second] = await Promise.all([
      buildGo(build(afterwards), one, progress),
      buildGo(build(afterwards), one, progress),
    ])
    expect(first).toBe(second)
    expect(starts()).toEqual(['building one (1 of 1)…'])
    expect(said(first, 'one')).toBe('hello')

    await buildGo(build(afterwards), new Set(['one', 'two']), progress)
    expect(starts()).toEqual(['building one (1 of 1)…', 'building two (1 of 1)…'])
    expect(afterwards).toHaveBeenCalledTimes(1)
    expect(await readdir(first)).toEqual(['bin', 'complete'])
  })

  test('a changed source is rebuilt', async () => {
    const before = await buildGo(build(), new Set(['one']), progress)
    await source('good morning')
    const after = await buildGo(build(), new Set(['one']), progress)
    expect(said(before, 'one')).toBe('hello')
    expect(said(after, 'one')).toBe('good morning')
  })

  test('a failed build reports why, leaves nothing in bin, and can be repeated', async () => {
    const wanted = new Set(['one'])
    let cache = ''
    const failing = build((directory) => {
      cache = directory
      return Promise.reject(new Error('No stages'))
    })
    await expect(buildGo(failing, wanted, progress)).rejects.toThrow('No stages')
    expect(await buildGo(build(), wanted, progress)).toBe(cache)

    await writeFile(path.join(folder, 'main.go'), 'package main\n\nfunc main() { nonsense }\n')
    await expect(buildGo(build(), wanted, progress)).rejects.toMatchObject({
      code: 'TENURE_CLUSTER_BUILD_FAILED',
      message: expect.stringContaining('undefined: nonsense') as string,
    })
    const caches = (await readdir(path.join(folder, 'cache', 'tenure'), { recursive: true })).filter((name) =>
      name.endsWith(`${path.sep}one`),
    )
    expect(caches).toEqual([path.join(path.basename(cache), 'bin', 'one')])
  })

  test('a missing Go installation is reported with a remedy', async () => {
    vi.stubEnv('PATH', path.join(folder, 'nothing'))
    await expect(buildGo(build(), new Set(['one']), progress)).rejects.toMatchObject({
      code: 'TENURE_CLUSTER_NO_GO',
      message: expect.stringContaining('KUBEBUILDER_ASSETS') as string,
    })
  })
})
