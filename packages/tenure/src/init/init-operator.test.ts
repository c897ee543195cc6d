import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { initOperator } from './init-operator.ts'
import { operatorNames } from './operator-name.ts'

const root = path.resolve(import.meta.dirname, '../../../..')
let folder: string

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'tenure-init-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

/** Runs a program in a folder; its output if it fails. */
function problemOf(directory: string, ...command: readonly string[]): string {
  const { status, stderr, stdout } = spawnSync(process.execPath, command, { cwd: directory, encoding: 'utf8' })
  return status === 0 ? '' : stdout + stderr
}

test('a new operator passes its type check and its test, and runs at once', { timeout: 120_000 }, async () => {
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'), 'junction')
  const directory = path.join(folder, 'shop-window')
  const created = await initOperator({ name: 'shop-window', group: 'example.dev', directory })
  expect(created.isInstalled).toBe(true)
  expect(readdirSync(directory, { recursive: true })).toEqual(expect.arrayContaining([...created.files]))
  const tool = (name: string): string => path.join(root, 'node_modules', name)
  expect(problemOf(directory, tool('typescript/bin/tsc'))).toBe('')
  expect(problemOf(directory, tool('vitest/vitest.mjs'), 'run')).toBe('')

  const running = spawn(process.execPath, ['src/dev.ts'], { cwd: directory, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise((resolve) => running.once('exit', resolve))
  let output = ''
  running.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  try {
    await expect.poll(() => output, { timeout: 30_000 }).toContain('shop-window is ready.')
    expect(readFileSync(path.join(directory, '.data/kubeconfig'), 'utf8')).toContain('https://127.0.0.1:')
  } finally {
    running.kill('SIGINT')
  }
  expect(await ended).toBe(0)
})

test('the names of a kind follow from the name of the operator', () => {
  expect(operatorNames('shop-window', 'example.dev')).toEqual({
    name: 'shop-window',
    kind: 'ShopWindow',
    variable: 'shopWindow',
    singular: 'shopwindow',
    plural: 'shopwindows',
    group: 'example.dev',
  })
  const plurals = ['box', 'policy', 'day', 'batch'].map((name) => operatorNames(name, 'example.dev').plural)
  expect(plurals).toEqual(['boxes', 'policies', 'days', 'batches'])
})

test.each([
  ['ShopWindow', 'such as shop-window.'],
  ['1shop', 'such as shop.'],
  ['shop--window', 'such as shop-window.'],
  ['-', 'and begin with a letter.'],
  ['../shop', 'such as shop.'],
  ['a'.repeat(41), 'at most 40'],
  ['pod', 'Pod is a kind of Kubernetes'],
  ['date', 'Date is a name of the language'],
])('the name %s is refused with a reason', async (name, reason) => {
  await expect(initOperator({ name, group: 'example.dev', directory: path.join(folder, 'x') })).rejects.toThrow(reason)
  expect(readdirSync(folder)).toEqual([])
})

test('an API group that is not a domain is refused', async () => {
  const options = { name: 'shop', directory: path.join(folder, 'shop') }
  for (const group of ['apps', 'Example.dev', ''])
    await expect(initOperator({ ...options, group })).rejects.toMatchObject({ code: 'TENURE_INIT_NAME' })
})

test('nothing is written into a folder that is not empty, nor below a file', async () => {
  const file = path.join(folder, 'shop', 'README.md')
  mkdirSync(path.dirname(file))
  writeFileSync(file, 'mine')
  const options = { name: 'shop', group: 'example.dev' }
  await expect(initOperator({ ...options, directory: path.dirname(file) })).rejects.toThrow(
    'is not empty: nothing was written. Choose another folder with --directory.',
  )
  await expect(initOperator({ ...options, directory: path.join(file, 'shop') })).rejects.toThrow('is below one')
  expect(readdirSync(path.dirname(file))).toEqual(['README.md'])
  expect(readFileSync(file, 'utf8')).toBe('mine')
})
