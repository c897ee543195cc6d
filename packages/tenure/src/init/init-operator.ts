import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { asError, TenureError } from '@tenure/kube'
import { operatorFiles, type OperatorVersions } from './operator-files.ts'
import { operatorNames } from './operator-name.ts'

export interface InitOperatorOptions {
  readonly name: string
  /** API group of the kind. */
  readonly group: string
  /** The folder to create. Default: the name, in the working directory. */
  readonly directory?: string | undefined
}

export interface InitializedOperator {
  readonly directory: string
  /** Paths of the files below the directory. */
  readonly files: readonly string[]
  /** Whether the packages of Tenure are found from there, so that nothing must be installed. */
  readonly isInstalled: boolean
}

/** Writes the files of a new operator into an empty or new folder. Nothing is written if anything is in the way. */
export async function initOperator({ name, group, directory }: InitOperatorOptions): Promise<InitializedOperator> {
  const names = operatorNames(name, group)
  const target = path.resolve(directory ?? name)
  const present = await readdir(target).catch((error: unknown) => {
    const { code } = asError(error) as NodeJS.ErrnoException
    if (code === 'ENOENT') return []
    const problem = code === 'ENOTDIR' ? 'is a file, or is below one' : `cannot be read (${asError(error).message})`
    throw occupied(`${target} ${problem}`, error)
  })
  if (present.length > 0) throw occupied(`${target} is not empty`)
  const files = operatorFiles(names, await versions())
  for (const [file, text] of Object.entries(files)) {
    const at = path.join(target, file)
    await mkdir(path.dirname(at), { recursive: true })
    await writeFile(at, text, { flag: 'wx' })
  }
  return { directory: target, files: Object.keys(files), isInstalled: hasPackages(target) }
}

function occupied(problem: string, cause?: unknown): TenureError {
  return new TenureError(
    'TENURE_INIT_EXISTS',
    `${problem}: nothing was written. Choose another folder with --directory.`,
    { cause },
  )
}

/** The version of this command, and of the tools that it is tested with. */
async function versions(): Promise<OperatorVersions> {
  const text = await readFile(new URL('../../package.json', import.meta.url), 'utf8')
  const { version } = JSON.parse(text) as { readonly version: string }
  return { tenure: version, vitest: '5.1.0', typescript: '7.0.2', nodeTypes: '24.19.2' }
}

function hasPackages(directory: string): boolean {
  for (let at = directory; ; at = path.dirname(at)) {
    if (existsSync(path.join(at, 'node_modules', '@tenure', 'runtime'))) return true
    if (at === path.dirname(at)) return false
  }
}
