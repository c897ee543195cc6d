import { EventEmitter } from 'node:events'
import { systemClock } from '@tenure/kube'
import { ClaimsServer, type ClaimsServerOptions } from '../testing/claims-server.ts'
import { claimCommand, claimSubcommands } from './commands.ts'
import type { ClaimCliContext, ClaimCliOptions } from './context.ts'

/** Runs commands against a server of its own, and collects their output. */
export class CliFixture implements AsyncDisposable {
  readonly server: ClaimsServer
  readonly signals = new EventEmitter<Record<NodeJS.Signals, [NodeJS.Signals]>>()
  readonly written: string[] = []
  readonly warned: string[] = []
  isTerminal = false
  /** Ends commands that watch. */
  readonly end = new AbortController()

  private constructor(server: ClaimsServer) {
    this.server = server
  }

  static async start(options: ClaimsServerOptions = {}): Promise<CliFixture> {
    return new CliFixture(await ClaimsServer.start(options))
  }

  /** Runs `tenure claim`, with words after `--` if there are any. */
  claim(options: ClaimCliOptions = {}, ...commandLine: readonly string[]): Promise<number> {
    const args = { operands: [], ...(commandLine.length > 0 && { commandLine }) }
    return claimCommand.run(this.context(), args, options)
  }

  /** Runs a subcommand. */
  async run(name: string, operands: readonly string[] = [], options: ClaimCliOptions = {}): Promise<number> {
    const command = claimSubcommands.find((candidate) => candidate.name === name)
    if (!command) throw new Error(`no command ${name}`)
    return await command.run(this.context(), { operands }, options)
  }

  signal(signal: NodeJS.Signals): void {
    this.signals.emit(signal, signal)
  }

  context(): ClaimCliContext {
    return {
      clock: systemClock,
      environment: { ...process.env, CLAIMS_URL: this.server.url },
      signals: this.signals,
      isTerminal: this.isTerminal,
      follow: { signal: this.end.signal },
      write: (text) => void this.written.push(text),
      warn: (text) => void this.warned.push(text),
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.close()
  }
}
