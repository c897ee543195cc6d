import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { setTimeout as pause } from 'node:timers/promises'
import { freePorts } from '../cluster/free-ports.ts'

const ROOT = path.resolve(import.meta.dirname, '../..')
const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
/** Generous for slow machines: waiting ends with its condition. */
export const WAIT = { timeout: 60_000 }

/** Whether Chromium is on this machine. A missing one is named once, or is an error if TENURE_REQUIRE_CHROMIUM=1. */
export const hasChromium: boolean = existsSync(CHROMIUM)
if (!hasChromium) {
  if (process.env['TENURE_REQUIRE_CHROMIUM'] === '1') throw new Error(`Chromium is not installed: ${CHROMIUM}`)
  process.stderr.write('chromium is not installed, its tests are left out\n')
}

/** A browser without network access of its own. */
export async function launch(): Promise<Browser> {
  const quiet = ['--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking']
  const more = ['--disable-component-update', '--disable-sync', '--disable-dev-shm-usage']
  return await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', ...quiet, ...more] })
}

/** A tab whose console must stay empty of errors. */
export class Tab {
  readonly page: Page
  readonly context: BrowserContext
  /** Errors of the console and of scripts. */
  readonly errors: string[] = []

  private constructor(page: Page, context: BrowserContext) {
    this.page = page
    this.context = context
    page.setDefaultTimeout(WAIT.timeout)
    page.on('pageerror', (error) => this.errors.push(String(error)))
    page.on('console', (message) => {
      if (message.type() === 'error') this.errors.push(message.text())
    })
  }

  static async open(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Tab> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
    const tab = new Tab(await context.newPage(), context)
    await tab.page.goto(url)
    return tab
  }

  async close(): Promise<void> {
    await this.context.close()
  }
}

/** `npm start` with a data directory of its own, which outlives restarts. */
export class Tenure {
  readonly data = mkdtempSync(path.join(tmpdir(), 'tenure-browser-'))
  readonly port: number
  readonly #args: readonly string[]
  #child: ChildProcess | undefined
  #output = ''

  private constructor(port: number, args: readonly string[]) {
    this.port = port
    this.#args = args
  }

  static async start(...args: readonly string[]): Promise<Tenure> {
    const [port = 0] = await freePorts(1)
    const tenure = new Tenure(port, args)
    await tenure.run()
    return tenure
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  async run(): Promise<void> {
    const options = ['--data', this.data, '--port', String(this.port), '--kubernetes-port', '0', '--api-addr', '0']
    const command = ['scripts/launch.mjs', 'packages/tenure/src/main.ts', 'start', ...options, ...this.#args]
    this.#output = ''
    const child = spawn(process.execPath, command, {
      cwd: ROOT,
      // The pictures in docs show this name.
      env: { POD_NAME: 'tenure-0', ...process.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (this.#output += text))
    this.#child = child
    const deadline = performance.now() + WAIT.timeout
    while (!/^Ready /m.test(this.#output)) {
      if (child.exitCode !== null || performance.now() > deadline) throw new Error(`Not ready:\n${this.#output}`)
      await pause(50)
    }
  }

  /** Ends the process; `run` starts it again on the same data. */
  async halt(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const child = this.#child
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const exited = new Promise((resolve) => child.once('exit', resolve))
    child.kill(signal)
    await exited
  }

  async stop(): Promise<void> {
    await this.halt()
    rmSync(this.data, { recursive: true, force: true })
  }

  /** Runs a command of `tenure` against this instance. Rejects with its output if it fails. */
  async command(...args: readonly string[]): Promise<string> {
    const url = readFileSync(path.join(this.data, 'postgres-url'), 'utf8').trim()
    const command = ['scripts/launch.mjs', 'packages/tenure/src/main.ts', ...args]
    const child = spawn(process.execPath, command, {
      cwd: ROOT,
      env: { ...process.env, DATABASE_URL: url },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (output += text))
    const code = await new Promise((resolve) => child.once('exit', resolve))
    if (code !== 0) throw new Error(`tenure ${args.join(' ')}: ${output}`)
    return output
  }

  /** The JSON of a request, as another program would send it. */
  async call(method: string, target: string, body?: object): Promise<unknown> {
    const response = await fetch(`${this.url}${target}`, {
      method,
      ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${target}: ${response.status} ${text}`)
    return text === '' ? undefined : JSON.parse(text)
  }
}
