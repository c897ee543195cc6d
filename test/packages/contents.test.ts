import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkExports } from '../../scripts/pack/check-exports.ts'
import { stagePackages, type StagedPackage } from '../../scripts/pack/stage.ts'
import { root } from '../house/sources.ts'

/** Every kind of file that a package may have. */
const KINDS: readonly RegExp[] = [
  /^package\.json$/,
  /^README\.md$/,
  /^LICENSE$/,
  /^bin\/[\w-]+\.mjs$/,
  /^dist\/.*\.js$/,
  /^dist\/.*\.d\.ts$/,
  /^dist\/(index\.html|app\.css)$/,
  /^config\/template\/\w+\.yaml$/,
]

interface Manifest {
  readonly name: string
  readonly version: string
  readonly exports: Readonly<Record<string, unknown>>
  readonly dependencies?: Readonly<Record<string, string>>
}

let folder: string
let staged: readonly StagedPackage[]
const filesOf = ({ directory }: StagedPackage): readonly string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(directory, path.join(entry.parentPath, entry.name)))
const manifestOf = ({ directory }: StagedPackage): Manifest =>
  JSON.parse(readFileSync(path.join(directory, 'package.json'), 'utf8')) as Manifest

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'tenure-packages-'))
  staged = await stagePackages(path.join(folder, 'staged'))
}, 300_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the packages that npm publishes', () => {
  test('every package of the workspace is packed', () => {
    expect(staged.map(({ name }) => name).toSorted()).toEqual(
      readdirSync(path.join(root, 'packages'))
        .map((name) => (name === 'tenure' ? name : `@tenure/${name}`))
        .toSorted(),
    )
  })

  test('every export, command and import leads to a file of the package or to a dependency', () => {
    expect(staged.flatMap(checkExports)).toEqual([])
  })

  test('a package has no other files than code, types, its own assets, its README and the license', () => {
    const others = staged.flatMap((each) =>
      filesOf(each)
        .filter((file) => !KINDS.some((kind) => kind.test(file)))
        .map((file) => `${each.name}: ${file}`),
    )
    expect(others).toEqual([])
  })

  test('no test is in a package, and fixtures only where an export offers them', () => {
    const wrong = staged.flatMap((each) => {
      const hasFixtures = './testing' in manifestOf(each).exports
      return filesOf(each)
        .filter((file) => /\.test(ing)?\.|testdata/.test(file) || (!hasFixtures && /\/testing[./]/.test(file)))
        .map((file) => `${each.name}: ${file}`)
    })
    expect(wrong).toEqual([])
  })

  test('no package names a path of this machine', () => {
    const paths = [root, folder, `${homedir()}/`]
    const named = staged.flatMap((each) =>
      filesOf(each).filter((file) => {
        const text = readFileSync(path.join(each.directory, file), 'utf8')
        return paths.some((machine) => text.includes(machine))
      }),
    )
    expect(named).toEqual([])
  })

  test('packages depend on each other in exactly their own version', () => {
    const versions = new Map(staged.map(manifestOf).map(({ name, version }) => [name, version]))
    const wrong = staged.map(manifestOf).flatMap(({ name, dependencies = {} }) =>
      Object.entries(dependencies)
        .filter(([sibling, version]) => (versions.get(sibling) ?? version) !== version)
        .map(([sibling, version]) => `${name}: ${sibling} ${version}`),
    )
    expect(wrong).toEqual([])
  })
})
