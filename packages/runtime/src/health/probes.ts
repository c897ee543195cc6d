import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '@tenure/kube'
import { TenureError, asError, withTimeout } from '@tenure/kube'
import { sendText, rejectUnlessRead, targetOf } from './response.ts'

/** A check passes if it returns or resolves; a thrown error is the reason for the failure. */
export type Check = (signal: AbortSignal) => Promise<void> | void

export type ProbeKind = 'live' | 'ready'

export interface ProbesOptions {
  readonly clock: Clock
  /** Milliseconds after which an unanswered check counts as failed. Default 5,000. */
  readonly checkTimeout?: number
}

export interface CheckResult {
  readonly name: string
  /** Undefined if the check passed. */
  readonly problem: string | undefined
}

const PATHS: Readonly<Record<string, ProbeKind>> = { healthz: 'live', livez: 'live', readyz: 'ready' }

/**
 * Named checks behind `/livez` (and its old name `/healthz`) and `/readyz`, answered in the format of the Kubernetes
 * components: `ok`, or 503 and every check with its reason. `?verbose` always lists the checks, `?exclude=<name>`
 * leaves one out, `/readyz/<name>` runs one.
 */
export class Probes {
  readonly #clock: Clock
  readonly #timeout: number
  readonly #checks: Readonly<Record<ProbeKind, Map<string, Check>>> = { live: new Map(), ready: new Map() }

  constructor(options: ProbesOptions) {
    this.#clock = options.clock
    this.#timeout = options.checkTimeout ?? 5_000
    this.add('live', 'ping', () => undefined)
    this.add('ready', 'ping', () => undefined)
  }

  /** Adds a check and returns a function that removes it. Names are unique per kind. */
  add(kind: ProbeKind, name: string, check: Check): () => void {
    const checks = this.#checks[kind]
    if (checks.has(name) || !/^[\w.:-]+$/.test(name)) {
      const problem = checks.has(name) ? 'already exists' : 'may contain only letters, digits and . : _ -'
      throw new TenureError('TENURE_PROBE_NAME', `The ${kind} check ${JSON.stringify(name)} ${problem}.`, {
        fate: 'bug',
      })
    }
    checks.set(name, check)
    return () => {
      if (checks.get(name) === check) checks.delete(name)
    }
  }

  /** All results, in the order in which the checks were added. */
  check(kind: ProbeKind, exclude: readonly string[] = []): Promise<readonly CheckResult[]> {
    const selected = [...this.#checks[kind]].filter(([name]) => !exclude.includes(name))
    return Promise.all(selected.map(([name, check]) => this.#run(name, check)))
  }

  /** A request handler for the probe paths. Other paths get 404. */
  readonly handler = (request: IncomingMessage, response: ServerResponse): void => {
    void this.#handle(request, response)
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (rejectUnlessRead(request, response)) return
    const target = targetOf(request)
    const [, path = '', name, ...more] = target.path.split('/')
    const kind = Object.hasOwn(PATHS, path) ? PATHS[path] : undefined
    const only = name ? kind && this.#checks[kind].get(name) : undefined
    if (!kind || more.length > 0 || (name && !only)) {
      sendText(response, 404, 'not found\n')
      return
    }
    if (name && only) {
      const { problem } = await this.#run(name, only)
      if (problem === undefined) sendText(response, 200, 'ok')
      else sendText(response, 503, `${path}/${name} failed: ${problem}\n`)
      return
    }
    const results = await this.check(kind, target.query.getAll('exclude'))
    const passed = results.every(({ problem }) => problem === undefined)
    if (passed && !target.query.has('verbose')) {
      sendText(response, 200, 'ok')
      return
    }
    const lines = results.map(({ name, problem }) =>
      problem === undefined ? `[+]${name} ok` : `[-]${name} failed: ${problem}`,
    )
    sendText(
      response,
      passed ? 200 : 503,
      `${[...lines, `${path} check ${passed ? 'passed' : 'failed'}`].join('\n')}\n`,
    )
  }

  async #run(name: string, check: Check): Promise<CheckResult> {
    const late = () => new Error(`no response within ${this.#timeout} ms`)
    const limit = withTimeout(this.#clock, this.#timeout, late)
    try {
      // A check that ignores its signal must not block the response.
      await Promise.race([check(limit.signal), rejection(limit.signal)])
      return { name, problem: undefined }
    } catch (error) {
      return { name, problem: asError(error).message.replaceAll(/\s*\n\s*/g, ' ') || 'failed' }
    } finally {
      limit.dispose()
    }
  }
}

function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(asError(signal.reason)), { once: true })
  })
}
