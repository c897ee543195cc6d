/** Recorders for programs that run inside a test. */
import { HttpTransport, loadConfig, type Transport, type TransportRequest, type TransportResponse } from '@tenure/kube'
import type { Facts, Logger } from '@tenure/runtime'

export interface Sent {
  readonly method: TransportRequest['method']
  readonly path: string
  readonly isWatch: boolean
  readonly isLease: boolean
  /** Undefined: no response yet, or none at all. */
  status: number | undefined
}

/** Forwards and records every request. */
export class RecordingTransport implements Transport {
  readonly sent: Sent[] = []
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  static async open(kubeconfigPath: string): Promise<RecordingTransport> {
    return new RecordingTransport(new HttpTransport(await loadConfig({ kubeconfigPath })))
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    const { method, path, stream = false } = request
    const sent: Sent = { method, path, isWatch: stream, isLease: path.includes('/leases/'), status: undefined }
    this.sent.push(sent)
    const response = await this.#transport.request(request)
    sent.status = response.status
    return response
  }

  close(): Promise<void> {
    return this.#transport.close()
  }

  /**
   * Requests besides watches and lease renewals, which an idle operator must not send. A request that was throttled
   * (429) and repeated counts once.
   */
  get work(): readonly string[] {
    return this.sent
      .filter(({ isWatch, isLease, status }) => !isWatch && !isLease && status !== 429)
      .map(({ method, path }) => `${method} ${path}`)
  }
}

export interface Line {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly message: string
  readonly facts: Facts
}

/** Records every log line. */
export class RecordingLog implements Logger {
  readonly lines: Line[]
  readonly #facts: Facts

  constructor(lines: Line[] = [], facts: Facts = {}) {
    this.lines = lines
    this.#facts = facts
  }

  debug(message: string, facts?: Facts): void {
    this.#add('debug', message, facts)
  }

  info(message: string, facts?: Facts): void {
    this.#add('info', message, facts)
  }

  warn(message: string, facts?: Facts): void {
    this.#add('warn', message, facts)
  }

  error(message: string, facts?: Facts): void {
    this.#add('error', message, facts)
  }

  child(facts: Facts): Logger {
    return new RecordingLog(this.lines, { ...this.#facts, ...facts })
  }

  /** Returns the messages of the errors in lines of a level. */
  errorsAt(level: Line['level']): readonly string[] {
    return this.lines
      .filter((line) => line.level === level)
      .map(({ facts }) => (facts['error'] instanceof Error ? facts['error'].message : ''))
  }

  #add(level: Line['level'], message: string, facts?: Facts): void {
    this.lines.push({ level, message, facts: { ...this.#facts, ...facts } })
  }
}
