import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CommandTree, commandTree, flattened } from '../cli/command-tree.ts'
import { commandTable } from '../command-table.ts'
import { bashCompletion } from './bash.ts'
import { fishCompletion } from './fish.ts'
import { shortMeaning } from './short-meaning.ts'
import { zshCompletion } from './zsh.ts'

let folder: string
let root: CommandTree

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'tenure-completion-'))
  writeFileSync(path.join(folder, 'values.yaml'), '')
  root = await commandTree(commandTable, 'tenure')
  for (const [shell, print] of [
    ['bash', bashCompletion],
    ['zsh', zshCompletion],
    ['fish', fishCompletion],
  ] as const)
    writeFileSync(path.join(folder, `tenure.${shell}`), print(root))
}, 60_000)

afterAll(() => rmSync(folder, { recursive: true }))

/** Whether a shell is on this machine. A missing one is named, or is an error if TENURE_REQUIRE_SHELLS=1. */
function has(shell: string): boolean {
  if (spawnSync(shell, ['-c', 'true']).status === 0) return true
  if (process.env['TENURE_REQUIRE_SHELLS'] === '1') throw new Error(`${shell} is not installed`)
  process.stderr.write(`${shell} is not installed, its tests are left out\n`)
  return false
}

/** The words that bash offers for the last of `words`. */
function bash(...words: readonly string[]): readonly string[] {
  const script =
    'source ./tenure.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tenure; printf "%s\\n" "${COMPREPLY[@]}"'
  const output = execFileSync('bash', ['-c', script, 'bash', ...words], { cwd: folder, encoding: 'utf8' })
  return output.split('\n').filter(Boolean)
}

/** The words that fish offers at the end of a line. */
function fish(line: string): readonly string[] {
  const script = 'source ./tenure.fish; complete -C $argv[1]'
  const env = { ...process.env, HOME: folder }
  const output = execFileSync('fish', ['--no-config', '-c', script, line], { cwd: folder, env, encoding: 'utf8' })
  return output.split('\n').flatMap((word) => word.split('\t').slice(0, 1).filter(Boolean))
}

test('the tree has every command with the options of its help', () => {
  const nodes = flattened(root)
  const paths = nodes.map((node) => node.path.join(' '))
  expect(paths).toEqual(expect.arrayContaining(['start', 'operator', 'lease set', 'claim renew', 'db create', 'help']))
  for (const { page, options } of nodes) {
    const terms = page.options?.map(({ term }) => term).join('\n')
    for (const { names } of options) for (const name of names) expect(terms).toContain(name.replace(/^--(?:no-)?/, ''))
  }
})

test('every command has examples, and exit codes if it does something itself', () => {
  const commands = flattened(root).filter(({ path: own }) => own.length > 0 && own[0] !== 'help')
  for (const { page, path: own } of commands) {
    const isGroup = page.usage.includes('[command]')
    expect([own, page.examples?.length]).not.toEqual([own, 0])
    expect([own, page.exitCodes !== undefined]).toEqual([own, !isGroup])
  }
})

test('the examples of the help have options that exist', () => {
  const nodes = flattened(root)
  const known = (words: readonly string[]): CommandTree | undefined =>
    nodes.findLast(({ path: own }) => own.length > 0 && own.every((word, index) => words[index] === word))
  const commandLines = nodes
    .flatMap(({ page }) => page.examples ?? [])
    .map(({ term }) => /(?:^|[ (])tenure ([^|)]*)/.exec(term)?.[1]?.split(' -- ')[0]?.trim().split(' ') ?? [])
  expect(commandLines.length).toBeGreaterThan(20)
  for (const words of commandLines) {
    const names = known(words)?.options.flatMap((option) => option.names)
    for (const word of words.filter((each) => each.startsWith('-')))
      expect([words, names]).toEqual([words, expect.arrayContaining([word])])
    expect([words, names]).toEqual([words, expect.any(Array)])
  }
})

test.skipIf(!has('bash'))('bash completes commands, options, values and files', () => {
  expect(bash('tenure', 'lea')).toEqual(['lease-controllers', 'leases', 'lease'])
  expect(bash('tenure', 'lease', '')).toEqual(['list', 'set', 'extend', 'clear', 'explain'])
  // Of the command itself, and of its group.
  expect(bash('tenure', 'lease', 'list', '--')).toEqual(expect.arrayContaining(['--output', '--kubeconfig', '--help']))
  expect(bash('tenure', 'lease', 'list', '-o', 'j')).toEqual(['json'])
  // As bash splits --auth=t.
  expect(bash('tenure', 'start', '--auth', '=', 't')).toEqual(['token'])
  expect(bash('tenure', 'start', '--auth', '=')).toEqual(['auto', 'token', 'none'])
  expect(bash('tenure', 'manifests', 'claims', 'lease-a')).toEqual(['lease-admission'])
  expect(bash('tenure', 'help', 'comp')).toEqual(['completion'])
  expect(bash('tenure', 'get', 'da')).toEqual(['databases'])
  expect(bash('tenure', 'claim', '--values', 'val')).toEqual(['values.yaml'])
  expect(bash('tenure', 'claim', '--', 'val')).toEqual(['values.yaml'])
  expect(bash('tenure', 'lease', 'set', 'pod/x', '')).toEqual([])
  expect(bash('kubectl-tenure', 'db', 'cre')).toEqual(['create'])
  const registered = execFileSync('bash', ['-c', 'source ./tenure.bash; complete -p tenure'], { cwd: folder })
  expect(String(registered)).toBe('complete -F _tenure tenure\n')
})

test.skipIf(!has('fish'))('fish completes commands, options, values and files', () => {
  expect(fish('tenure lea').toSorted()).toEqual(['lease', 'lease-controllers', 'leases'])
  expect(fish('tenure lease list -o ').toSorted()).toEqual(['json', 'name', 'table', 'wide', 'yaml'])
  expect(fish('tenure manifests claims lease-a')).toEqual(['lease-admission'])
  expect(fish('tenure claim --values val')).toEqual(['values.yaml'])
  expect(fish('tenure claim -- val')).toEqual(['values.yaml'])
})

test.skipIf(!has('zsh'))('zsh reads the script', () => {
  execFileSync('zsh', ['-n', 'tenure.zsh'], { cwd: folder })
  expect(zshCompletion(root)).toContain("'lease:Show and change the leases of objects'")
})

test('a description is the first sentence', () => {
  expect(shortMeaning('Port of the API. Default: 3000.')).toBe('Port of the API')
  expect(shortMeaning('Such as app.kubernetes.io/name')).toBe('Such as app.kubernetes.io/name')
})
