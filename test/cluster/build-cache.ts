/** Builds programs from Go modules of this repository once, and caches them for all checkouts of the user. */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, readdir, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import path from 'node:path'

import { TenureError } from '@tenure/kube'

import { withLock } from './lock.ts'
import { type Progress, startStep } from './progress.ts'

export interface GoProgram {
  /** The name of the binary. */
  readonly name: string
  /** The Go package of the program, relative to the module. */
  readonly package: string
}

export interface GoBuild {
  /** The readable prefix of the cache folder: `kubernetes-v1.36.3`. */
  readonly label: string
  /** The folder with go.mod and go.sum. */
  readonly module: string
  readonly programs: readonly GoProgram[]
  /** Linker flags. Default: none. */
  readonly ldflags?: readonly string[]
  /** Runs after the build, with the lock held, to add files to the cache folder. Default: none. */
  readonly afterwards?: (directory: string, go: GoRunner) => Promise<void>
}

/** Runs the `go` command in the module and returns its output. */
export type GoRunner = (args: readonly string[]) => Promise<string>

const FLAGS = ['-trimpath', '-buildvcs=false']
const MODULE_FILES = /^go\.(mod|sum)$|\.go$/

/** The cache folder: `$XDG_CACHE_HOME/tenure`, by default `~/.cache/tenure`. */
export function cacheRoot(): string {
  return path.join(process.env['XDG_CACHE_HOME'] || path.join(homedir(), '.cache'), 'tenure')
}

/**
 * Returns the cache folder with the wanted programs in `bin`, after building the missing ones. A program appears in
 * `bin` only when it is complete, so an interrupted build keeps its finished programs.
 */
export async function buildGo(build: GoBuild, wanted: ReadonlySet<string>, progress: Progress): Promise<string> {
  const directory = path.join(cacheRoot(), `${build.label}-${await fingerprint(build)}`)
  const missing = (): readonly GoProgram[] =>
    build.programs.filter(({ name }) => wanted.has(name) && !existsSync(path.join(directory, 'bin', name)))
  if (missing().length === 0 && existsSync(doneMark(directory))) return directory

  await withLock(
    `${directory}.lock`,
    () => progress('Another process is building the same programs; waiting for it.'),
    async () => {
      const programs = missing()
      await removeLeftovers(directory)
      await mkdir(path.join(directory, 'bin'), { recursive: true })
      for (const [index, program] of programs.entries()) {
        const step = startStep(progress, `building ${program.name} (${index + 1} of ${programs.length})`)
        try {
          await buildOne(build, program, directory)
        } finally {
          step.end()
        }
      }
      if (!existsSync(doneMark(directory))) {
        await build.afterwards?.(directory, goIn(build.module))
        await mkdir(doneMark(directory), { recursive: true })
      }
    },
  )
  return directory
}

async function buildOne(build: GoBuild, program: GoProgram, directory: string): Promise<void> {
  // Inside the cache folder, because a rename across file systems is not atomic.
  const buildDirectory = await mkdtemp(path.join(directory, 'building-'))
  try {
    const binary = path.join(buildDirectory, program.name)
    const ldflags = build.ldflags ? ['-ldflags', build.ldflags.join(' ')] : []
    await goIn(build.module)(['build', ...FLAGS, ...ldflags, '-o', binary, program.package])
    await rename(binary, path.join(directory, 'bin', program.name))
  } finally {
    await rm(buildDirectory, { recursive: true, force: true })
  }
}

/** Covers every input of the build, so that any change of them causes a rebuild. */
async function fingerprint(build: GoBuild): Promise<string> {
  const hash = createHash('sha256')
  for (const name of (await readdir(build.module)).filter((file) => MODULE_FILES.test(file)).toSorted()) {
    hash.update(`${name}\0`).update(await readFile(path.join(build.module, name)))
  }
  const settings = [process.platform, process.arch, FLAGS, build.ldflags, build.programs]
  return hash.update(JSON.stringify(settings)).digest('hex').slice(0, 12)
}

const doneMark = (directory: string): string => path.join(directory, 'complete')

async function removeLeftovers(directory: string): Promise<void> {
  if (!existsSync(directory)) return
  for (const name of await readdir(directory)) {
    if (name.startsWith('building-')) await rm(path.join(directory, name), { recursive: true, force: true })
  }
}

function goIn(module: string): GoRunner {
  return (args) =>
    new Promise((resolve, reject) => {
      const go = spawn('go', args, {
        cwd: module,
        // No C compiler, no Go workspace of the user, and the platform of this Node.
        env: { ...process.env, CGO_ENABLED: '0', GOWORK: 'off', GOOS: undefined, GOARCH: undefined },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      let stdout = ''
      let stderr = ''
      go.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
      go.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
      go.once('error', (cause) => reject(goMissing(cause)))
      go.once('close', (code, signal) => {
        if (code === 0) resolve(stdout)
        else reject(goFailed(args, code ?? signal, stderr))
      })
    })
}

function goMissing(cause: Error): Error {
  return new TenureError(
    'TENURE_CLUSTER_NO_GO',
    'Could not run "go", with which the test cluster is built. Install Go 1.26 or newer (https://go.dev/dl), or set ' +
      'KUBEBUILDER_ASSETS to a folder with ready binaries.',
    { cause },
  )
}

function goFailed(args: readonly string[], outcome: number | string | null, stderr: string): Error {
  const tail = stderr.trim().split('\n').slice(-15).join('\n')
  return new TenureError(
    'TENURE_CLUSTER_BUILD_FAILED',
    `"go ${args[0]}" of ${args.at(-1)} ended with ${outcome}. Its last words:\n${tail}`,
  )
}
