import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { root } from '../run.ts'
import { emit } from './emit.ts'
import { packedManifest } from './manifest.ts'
import { sourcePackages, type SourcePackage } from './packages.ts'

/** A package as it is published, in a folder of its own. */
export interface StagedPackage {
  readonly name: string
  readonly directory: string
}

/** Writes every package into a folder of its own below `folder`, which is emptied first. */
export async function stagePackages(folder: string): Promise<readonly StagedPackage[]> {
  rmSync(folder, { recursive: true, force: true })
  const emitted = path.join(folder, '.emitted')
  mkdirSync(emitted, { recursive: true })
  const packages = sourcePackages()
  await emit(packages, emitted)
  const staged = packages.map((source) => stage(source, emitted, path.join(folder, source.folder)))
  rmSync(emitted, { recursive: true })
  return staged
}

function stage(source: SourcePackage, emitted: string, directory: string): StagedPackage {
  const { name, files = [] } = source.manifest
  cpSync(path.join(emitted, source.folder, 'src'), path.join(directory, 'dist'), { recursive: true })
  for (const file of files) cpSync(path.join(source.directory, file), path.join(directory, file), { recursive: true })
  for (const launcher of source.launchers) writeLauncher(launcher, path.join(directory, 'bin'))
  writeFileSync(path.join(directory, 'package.json'), `${JSON.stringify(packedManifest(source), undefined, 2)}\n`)
  const readme = path.join(source.directory, 'README.md')
  if (!existsSync(readme)) throw new Error(`${name} has no README.md`)
  copyFileSync(readme, path.join(directory, 'README.md'))
  copyFileSync(path.join(root, 'LICENSE'), path.join(directory, 'LICENSE'))
  return { name, directory }
}

/** Writes a command of an installed package: it runs the compiled program, and has its own copy of what launchers share. */
function writeLauncher(launcher: string, folder: string): void {
  mkdirSync(folder, { recursive: true })
  const text = readFileSync(launcher, 'utf8')
  const own = text
    .replaceAll(/(new URL\('\.\.\/)src(\/[\w./-]+)\.ts'/g, "$1dist$2.js'")
    .replaceAll(/(?<=^import .*from ')[./\w-]+(?=\/launch\.mjs')/gm, '.')
  const file = path.join(folder, path.basename(launcher))
  writeFileSync(file, own)
  chmodSync(file, 0o755)
  const shared = /^import .*from '(\.\.[./\w-]+\/launch\.mjs)'/m.exec(text)?.[1]
  if (shared !== undefined) writeLauncher(path.resolve(path.dirname(launcher), shared), folder)
}
