import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'

const root = path.resolve(import.meta.dirname, '../../../..')
const POLL_OPTIONS = { timeout: 60_000, interval: 50 }
const CTRL_C = '\u0003'

/** `script` of util-linux runs a command in a terminal of its own, and types what it reads. */
const hasTerminal = process.platform === 'linux' && spawnSync('script', ['--version']).status === 0

let data: string
let terminal: TypedTerminal | undefined

beforeEach(() => {
  data = mkdtempSync(path.join(tmpdir(), 'tenure-terminal-'))
})
afterEach(async () => {
  await terminal?.close()
  for (const pid of processesOf(data)) process.kill(pid, 'SIGKILL')
  rmSync(data, { recursive: true, force: true })
})

/** `npm start` in a terminal. */
class TypedTerminal {
  readonly #child: ChildProcess
  output = ''

  constructor() {
    this.#child = spawn('script', ['--quiet', '--flush', '--return', '--command', 'npm start', '/dev/null'], {
      cwd: root,
      stdio: ['pipe', 'pipe', 'ignore'],
      env: { ...process.env, TENURE_DATA: data, PORT: '0', TENURE_KUBERNETES_PORT: '0', API_ADDR: '127.0.0.1:0' },
    })
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.output += text))
  }

  type(text: string): void {
    this.#child.stdin?.write(text)
  }

  /** Ends the terminal as its window does: the programs in it get SIGHUP. */
  async close(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const closed = new Promise((resolve) => this.#child.once('exit', resolve))
    this.#child.kill('SIGKILL')
    await closed
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    // Its process has ended meanwhile.
    return ''
  }
}

/** The processes that have the data directory in their environment or command line. */
function processesOf(directory: string): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((id) => ['environ', 'cmdline'].some((file) => textOf(`/proc/${id}/${file}`).includes(directory)))
    .map(Number)
}

const remaining = (): number => processesOf(data).length

async function startInTerminal(): Promise<TypedTerminal> {
  const started = new TypedTerminal()
  terminal = started
  await expect.poll(() => started.output, POLL_OPTIONS).toContain('Ctrl-C stops everything.')
  expect(remaining()).toBeGreaterThan(1)
  return started
}

test.runIf(hasTerminal)('Ctrl-C in a terminal ends everything cleanly', { timeout: 120_000 }, async () => {
  const started = await startInTerminal()
  started.type(CTRL_C)
  await expect.poll(remaining, POLL_OPTIONS).toBe(0)
  expect(started.output).toContain('Stopped.')
})

test.runIf(hasTerminal)('a terminal that closes ends everything', { timeout: 120_000 }, async () => {
  const started = await startInTerminal()
  await started.close()
  await expect.poll(remaining, POLL_OPTIONS).toBe(0)
  // The record of a clean stop.
  expect(JSON.parse(readFileSync(path.join(data, 'host.json'), 'utf8'))).toMatchObject({ state: 'stopped' })
})
