import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { root } from '../run.ts'

/** A package.json of the workspace, as far as packing reads it. */
export interface SourceManifest {
  readonly name: string
  readonly version: string
  readonly exports: Readonly<Record<string, string>>
  readonly bin?: Readonly<Record<string, string>>
  /** Files that code reads at run time. Sources and their output need no entry. */
  readonly files?: readonly string[]
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly [field: string]: unknown
}

/** A package to be packed. */
export interface SourcePackage {
  /** The name of its folder in `packages`. */
  readonly folder: string
  readonly directory: string
  readonly manifest: SourceManifest
  /** Files of its commands. */
  readonly launchers: readonly string[]
}

/** Every package of the workspace: `tenure` depends on all of them, so all are published. */
export function sourcePackages(): readonly SourcePackage[] {
  return readdirSync(path.join(root, 'packages')).map((folder) => {
    const directory = path.join(root, 'packages', folder)
    const manifest = JSON.parse(readFileSync(path.join(directory, 'package.json'), 'utf8')) as SourceManifest
    return { folder, directory, manifest, launchers: launchersOf(directory) }
  })
}

/** In the workspace, commands are launchers in plain JavaScript, because `npm ci` links them as they are. */
function launchersOf(directory: string): readonly string[] {
  const folder = path.join(directory, 'bin')
  return existsSync(folder) ? readdirSync(folder).map((name) => path.join(folder, name)) : []
}

/** The TypeScript programs that launchers run. */
function programsOf(launchers: readonly string[]): readonly string[] {
  return launchers.flatMap((launcher) => {
    const urls = readFileSync(launcher, 'utf8').matchAll(/new URL\('(\.\.\/src\/[\w./-]+\.ts)'/g)
    return Array.from(urls, ([, program = '']) => path.resolve(path.dirname(launcher), program))
  })
}

/** Sources from which everything that is packed can be reached: exports, programs, and threads. */
export function entryPoints({ directory, launchers, manifest }: SourcePackage): readonly string[] {
  const exported = Object.values(manifest.exports).map((file) => path.join(directory, file))
  const entries = [...exported, ...programsOf(launchers), ...threadsOf(path.join(directory, 'src'))]
  const missing = entries.find((file) => !existsSync(file))
  if (missing !== undefined) throw new Error(`${manifest.name} names ${missing}, which does not exist`)
  return [...new Set(entries)]
}

/** Threads are started from URLs, not by imports. */
function threadsOf(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !/\.test(ing)?\.ts$|(^|\/)(testdata|testing)\//.test(name))
    .flatMap((name) => {
      const file = path.join(folder, name)
      const urls = readFileSync(file, 'utf8').matchAll(/new URL\('(\.\/[\w./-]+\.ts)'/g)
      return Array.from(urls, ([, relative = '']) => path.join(path.dirname(file), relative))
    })
}
