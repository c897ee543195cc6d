// npm run pack: builds the packages as they are published, and a tarball of each.
import { execFile } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { checkExports } from './pack/check-exports.ts'
import { type StagedPackage, stagePackages } from './pack/stage.ts'
import { programArguments } from './program-help.ts'
import { root } from './run.ts'

const HELP = {
  usage: 'npm run pack [-- options]',
  summary: 'Build every package as JavaScript with types, and pack it.',
  options: [
    {
      term: '--out <folder>',
      meaning: 'Folder of the tarballs; its folder staged has their files. Default: artifacts/packages.',
    },
  ],
}

/** A packed package. */
export interface Tarball extends StagedPackage {
  readonly file: string
  /** Paths of its files, sorted. */
  readonly files: readonly string[]
}

/** Builds, checks and packs all packages. */
export async function pack(out: string): Promise<readonly Tarball[]> {
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  const staged = await stagePackages(path.join(out, 'staged'))
  const problems = staged.flatMap(checkExports)
  if (problems.length > 0) throw new Error(`The packages are incomplete:\n${problems.join('\n')}`)
  const folders = staged.map(({ directory }) => directory)
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', out, ...folders]
  const { stdout } = await promisify(execFile)('npm', args, { cwd: out, maxBuffer: 64 * 1024 * 1024 })
  const packed = JSON.parse(stdout) as readonly {
    readonly name: string
    readonly filename: string
    readonly files: readonly { readonly path: string }[]
  }[]
  return staged.map((each) => {
    const found = packed.find(({ name }) => name === each.name)
    if (!found) throw new Error(`npm did not pack ${each.name}`)
    return { ...each, file: path.join(out, found.filename), files: found.files.map((file) => file.path).toSorted() }
  })
}

if (process.argv[1] === import.meta.filename) {
  const { values } = programArguments(HELP, {
    options: { out: { type: 'string', default: path.join(root, 'artifacts/packages') } },
  })
  for (const { name, file, files } of await pack(path.resolve(values.out)))
    console.log(`${name.padEnd(22)} ${String(files.length).padStart(4)} files  ${path.relative(process.cwd(), file)}`)
}
