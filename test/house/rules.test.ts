import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { packageSources, root } from './sources.ts'

/** Returns the linter's output for a file with `code`, in an otherwise empty repository. */
function lint(code: string): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'tenure-lint-'))
  const folder = path.join(directory, 'packages/runtime/src')
  try {
    mkdirSync(folder, { recursive: true })
    for (const file of ['.oxlintrc.json', 'tsconfig.json']) cpSync(path.join(root, file), path.join(directory, file))
    symlinkSync(path.join(root, 'node_modules'), path.join(directory, 'node_modules'), 'junction')
    writeFileSync(path.join(folder, 'probe.ts'), code)
    execFileSync(process.execPath, [path.join(root, 'node_modules/oxlint/bin/oxlint')], {
      cwd: directory,
      stdio: 'pipe',
    })
    return ''
  } catch (error) {
    return String((error as { stdout?: Buffer }).stdout)
  } finally {
    rmSync(directory, { recursive: true })
  }
}

test('the linter accepts good code', () => {
  expect(lint('export const answer = 42\n')).toBe('')
})

test.each([
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
  [
    'an import of a higher package',
    "export { start } from '@tenure/applications'\n",
    'runtime imports kube and yaml only',
  ],
])('the linter rejects %s', (_name, code, message) => {
  expect(lint(code)).toContain(message)
})

/** Ways to the machine's clock and randomness that no lint rule covers. */
const DIRECT_CLOCK_OR_RANDOM =
  /new Date\(\)|import \{[^}]*\b(?:setTimeout|setInterval|performance)\b[^}]*\} from 'node:|\b(?:randomUUID|randomInt|getRandomValues)\b/

/** Adapters that cannot use those of kube, because a browser loads them. */
const BROWSER_ADAPTERS = ['packages/claims/src/client/system.ts']

test('no source imports the clock or randomness of the machine', () => {
  expect("import { setTimeout as delay } from 'node:timers/promises'").toMatch(DIRECT_CLOCK_OR_RANDOM)
  const found = packageSources()
    .filter(({ path: file }) => !/\.test(ing)?\.ts$|\/test(ing|data)\//.test(file) && !BROWSER_ADAPTERS.includes(file))
    .filter(({ text }) => DIRECT_CLOCK_OR_RANDOM.test(text))
  expect(found.map(({ path: file }) => file)).toEqual([])
})

test('every dependency has an exact version', () => {
  const manifests = [
    'package.json',
    ...readdirSync(path.join(root, 'packages')).map((name) => `packages/${name}/package.json`),
  ]
  const loose = manifests.flatMap((file) => {
    const manifest = JSON.parse(readFileSync(path.join(root, file), 'utf8')) as Record<string, Record<string, string>>
    return ['dependencies', 'devDependencies', 'optionalDependencies']
      .flatMap((group) => Object.entries(manifest[group] ?? {}))
      .filter(([, version]) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version))
      .map(([name, version]) => `${file}: ${name}@${version}`)
  })
  expect(loose).toEqual([])
})
