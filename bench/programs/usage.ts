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

/** Collects garbage if the program was started with --expose-gc, as the peer does before it reads its memory. */
export function collectGarbage(): void {
  const { gc } = globalThis as { gc?: () => void }
  gc?.()
  gc?.()
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
