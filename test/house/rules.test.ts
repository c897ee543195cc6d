import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it } from 'vitest'
import { packageSources, root } from './sources.ts'

/** What the linter says of a file with `code`, in a copy of the house with nothing else in it. */
function lint(code: string): string {
  const house = mkdtempSync(path.join(tmpdir(), 'tenure-lint-'))
  const room = path.join(house, 'packages/runtime/src')
  try {
    mkdirSync(room, { recursive: true })
    for (const file of ['.oxlintrc.json', 'tsconfig.json']) cpSync(path.join(root, file), path.join(house, file))
    symlinkSync(path.join(root, 'node_modules'), path.join(house, 'node_modules'), 'junction')
    writeFileSync(path.join(room, 'probe.ts'), code)
    execFileSync(process.execPath, [path.join(root, 'node_modules/oxlint/bin/oxlint')], { cwd: house, stdio: 'pipe' })
    return ''
  } catch (error) {
    return String((error as { stdout?: Buffer }).stdout)
  } finally {
    rmSync(house, { recursive: true })
  }
}

it('the linter has nothing to say of good code', () => {
  expect(lint('export const answer = 42\n')).toBe('')
})

it.each([
  ['the wall clock', 'export const at = Date.now()\n', 'time is injected'],
  ['a timer', 'export const timer = setTimeout(() => undefined, 1)\n', 'time is injected'],
  ['randomness', 'export const dice = Math.random()\n', 'randomness is injected'],
  ['the global fetch', "export const answer = await fetch('http://localhost')\n", 'the network is injected'],
  [
    'a floating promise',
    'async function work(): Promise<void> {}\nexport function start(): void {\n  work()\n}\n',
    'floating',
  ],
  ['any', 'export const anything: any = 1\n', 'no-explicit-any'],
  ['a non-null assertion', 'export const first = (list: string[]): string => list[0]!\n', 'non-null'],
  ['an import of a higher floor', "export { start } from '@tenure/applications'\n", 'runtime stands on kube only'],
])('the linter refuses %s', (_name, code, complaint) => {
  expect(lint(code)).toContain(complaint)
})

/** Ways to the machine's clock and randomness for which the linter has no rule. */
const BY_THE_BACK_DOOR =
  /new Date\(\)|import \{[^}]*\b(?:setTimeout|setInterval|performance)\b[^}]*\} from 'node:|\b(?:randomUUID|randomInt|getRandomValues)\b/

it('no source gets at time or randomness by the back door', () => {
  expect("import { setTimeout as delay } from 'node:timers/promises'").toMatch(BY_THE_BACK_DOOR)
  const found = packageSources()
    .filter(({ path: file }) => !/\.test(ing)?\.ts$|\/test(ing|data)\//.test(file))
    .filter(({ text }) => BY_THE_BACK_DOOR.test(text))
  expect(found.map(({ path: file }) => file)).toEqual([])
})

it('pins every dependency exactly', () => {
  const manifests = [
    'package.json',
    ...readdirSync(path.join(root, 'packages')).map((room) => `packages/${room}/package.json`),
  ]
  const loose = manifests.flatMap((file) => {
    const manifest = JSON.parse(readFileSync(path.join(root, file), 'utf8')) as Record<string, Record<string, string>>
    return ['dependencies', 'devDependencies', 'optionalDependencies']
      .flatMap((group) => Object.entries(manifest[group] ?? {}))
      .filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))
      .map(([name, version]) => `${file}: ${name}@${version}`)
  })
  expect(loose).toEqual([])
})
