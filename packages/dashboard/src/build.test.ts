import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { BUILT_FILES, buildPage, DIST } from '../build.ts'

/** Bytes that a browser loads, compressed. */
const MAX_TRANSFER_BYTES = 80_000

const read = (folder: string, name: string): string => readFileSync(path.join(folder, name), 'utf8')

test('dist is what the sources build; if not, run npm run dashboard:build', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'tenure-dashboard-'))
  try {
    await buildPage(folder)
    expect(readdirSync(folder).toSorted()).toEqual([...BUILT_FILES])
    expect(readdirSync(DIST).toSorted()).toEqual([...BUILT_FILES])
    // Texts of this length make a failed comparison unreadable.
    const changed = BUILT_FILES.filter((name) => read(folder, name) !== read(DIST, name))
    expect(changed).toEqual([])
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test(`the page transfers at most ${MAX_TRANSFER_BYTES} bytes`, () => {
  const sizes = BUILT_FILES.map((name) => gzipSync(read(DIST, name)).length)
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(MAX_TRANSFER_BYTES)
  expect(brotliCompressSync(read(DIST, 'app.js')).length).toBeLessThan(MAX_TRANSFER_BYTES)
})

test('the page obeys a policy without inline scripts, inline styles and other origins', () => {
  const html = read(DIST, 'index.html')
  expect(html).not.toMatch(/<script(?![^>]*\bsrc=)/)
  expect(html).not.toMatch(/<style|\sstyle=|\son\w+=/)
  const addresses = [...html.matchAll(/\b(?:src|href)="([^"]*)"/g)].map(([, address = '']) => address)
  expect(addresses.length).toBeGreaterThan(2)
  expect(addresses.filter((address) => !/^(?:\.\/|data:image)/.test(address))).toEqual([])
  expect(read(DIST, 'app.css')).not.toMatch(/@import|url\(/)
})

test('no text is drawn as HTML', () => {
  const folder = path.join(import.meta.dirname, 'page')
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name))
  expect(sources.length).toBeGreaterThan(20)
  const unsafe = /dangerouslySetInnerHTML|\b(?:inner|outer)HTML\b|insertAdjacentHTML|document\.write/
  expect(sources.filter((name) => unsafe.test(read(folder, name)))).toEqual([])
})

test('the page names no path of the machine that built it', () => {
  const root = path.resolve(DIST, '../../..')
  expect(BUILT_FILES.filter((name) => read(DIST, name).includes(root))).toEqual([])
})
