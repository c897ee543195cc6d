/** What this process has used since it began, as the peer reports it too. */
export interface Usage {
  /** User and system time in milliseconds. */
  readonly cpuMs: number
  readonly rssKb: number
  /** The part of it that is not mapped files: a program's own memory, without the pages of its executable. */
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

/** When whoever runs this program began to start it, as milliseconds since 1970; if nobody said, when Node began. */
export function startedAt(): number {
  return Number(process.env['BENCH_STARTED_AT'] ?? performance.timeOrigin)
}

/**
 * Collects garbage, as the peer does before it reads its memory. Not by --expose-gc: a process that is started with
 * it does not use the compiled code that Node brings along, and takes 15 to 20 ms longer to start.
 */
export function collectGarbage(): void {
  process.getBuiltinModule('node:v8').setFlagsFromString('--expose-gc')
  const gc = process.getBuiltinModule('node:vm').runInNewContext('gc') as () => void
  gc()
  gc()
}

/** The value of `--name`, or the fallback; throws if there is neither. */
export type Flags = (name: string, fallback?: string) => string

export function flags(argv: readonly string[]): Flags {
  return (name, fallback) => {
    const at = argv.indexOf(`--${name}`)
    const value = at < 0 ? fallback : argv[at + 1]
    if (value === undefined) throw new Error(`--${name} is missing`)
    return value
  }
}
