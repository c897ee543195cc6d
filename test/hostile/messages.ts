/** The longest work between two turns of the event loop, in milliseconds of CPU and of time. */
export interface LongestTurn {
  readonly cpu: number
  readonly wall: number
}

export interface ServerReady {
  readonly type: 'ready'
  readonly url: string
  readonly token: string
  /** The operators' HTTP API; empty if they do not run. */
  readonly http: string
  /** The same routes for callers with a token; empty if the operators do not run. */
  readonly guarded: string
}

export interface ServerStatistics {
  readonly type: 'statistics'
  /** Since the last question. */
  readonly longest: LongestTurn
  /** The longest wait of the server for a processor since its start, in milliseconds. */
  readonly longestWait: number
  /** Bytes in use. */
  readonly memory: number
  /** Whether a request has changed the prototype of all objects. */
  readonly isPolluted: boolean
}

/** A question to the server; `collect` collects garbage first. */
export type Asked = 'collect' | 'statistics'

/** Probes since the start, with times in milliseconds. */
export interface ProbeReport {
  readonly probes: number
  readonly failures: readonly string[]
  /** The longest time without an answer. */
  readonly longestGap: number
  /** How late the prober itself was, at most. */
  readonly longestDelay: number
}
