import type { Clock } from '@tenure/kube'
import type { PollContext } from '@tenure/runtime/cli'
import type { ClientFetch } from '../client/index.ts'

/** The signals that this process gets: `process`, or an emitter in tests. */
export interface SignalSource {
  on(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): unknown
  off(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): unknown
}

/** Dependencies of the commands. */
export interface ClaimCliContext {
  readonly clock: Clock
  /** CLAIMS_URL and CLAIMS_TOKEN are read from it, and commands inherit it. */
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly signals: SignalSource
  /** Whether a terminal is attached, which sends Ctrl-C to the command by itself. */
  readonly isTerminal: boolean
  /** The terminal of standard output, and what ends `list --watch`. Default: none. */
  readonly follow?: Pick<PollContext, 'signal' | 'terminal'>
  /** Default: the global fetch. */
  readonly fetch?: ClientFetch
  /** Writes whole lines to standard output. */
  readonly write: (text: string) => void
  /** Writes whole lines to standard error. */
  readonly warn: (text: string) => void
}

export interface ClaimCliOptions {
  /** Default: CLAIMS_URL, then http://localhost:8080. */
  readonly url?: string | undefined
  /** Default: CLAIMS_TOKEN, then none. */
  readonly token?: string | undefined
  readonly pool?: string | undefined
  readonly ttl?: string | undefined
  /** `key=value`, with types as Helm's `--set` infers them. */
  readonly set?: readonly string[] | undefined
  /** `key=value`, always strings. */
  readonly setString?: readonly string[] | undefined
  /** Path of a YAML or JSON file with values. */
  readonly values?: string | undefined
  /** A duration. */
  readonly timeout?: string | undefined
  readonly output?: string | undefined
  /** Shows changes as they happen. Default false. */
  readonly watch?: boolean | undefined
}
