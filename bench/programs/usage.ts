/** The resources that this process has used since it started, in the peer's format. */
export interface Usage {
  /** User and system time in milliseconds. */
  readonly cpuMs: number
  readonly rssKb: number
  /** Resident memory that is not mapped from files: without the pages of the executable. */
  readonly anonKb: number
  readonly peakRssKb: number
}

export function usage(): Usage {
  const { user, system } = process.cpuUsage()
  const status = process.getBuiltinModule('node:fs').readFileSync('/proc/self/status', 'utf8')
  const field = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0)
  return {
    cpuMs: (user + system) / 1000,
    rssKb: field('VmRSS'),
    anonKb: field('RssAnon'),
    peakRssKb: field('VmHWM'),
  }
}

/**
 * Returns when the parent began to start this program, in milliseconds since 1970; without a parent's value, when Node
 * started.
 */
export function startedAt(): number {
  return Number(process.env['BENCH_STARTED_AT'] ?? performance.timeOrigin)
}

/**
 * Collects garbage, as the peer does before it reads its memory. --expose-gc is not used: it disables Node's built-in
 * code cache, which makes the start 15 to 20 ms slower.
 */
export function collectGarbage(): void {
  process.getBuiltinModule('node:v8').setFlagsFromString('--expose-gc')
  const gc = process.getBuiltinModule('node:vm').runInNewContext('gc') as () => void
  gc()
  gc()
}

/** Returns the value of `--name`, or the fallback; throws if there is neither. */
export type Flags = (name: string, fallback?: string) => string

export function flags(argv: readonly string[]): Flags {
  return (name, fallback) => {
    const at = argv.indexOf(`--${name}`)
    const value = at < 0 ? fallback : argv[at + 1]
    if (value === undefined) throw new Error(`--${name} is missing`)
    return value
  }
}
