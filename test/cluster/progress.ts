/** Receives one readable line. */
export type Progress = (line: string) => void

/** Writes to standard error, so that standard output is only for programs. */
export const stderrProgress: Progress = (line) => process.stderr.write(`${line}\n`)

/** Interval in milliseconds at which a long step reports that it is still running. */
const HEARTBEAT_MS = 15_000

/** Announces a step, repeats it with the elapsed seconds while it runs, and reports its end. */
export function startStep(progress: Progress, name: string): { end(): void } {
  const begun = performance.now()
  const elapsed = (): string => `${Math.round((performance.now() - begun) / 1_000)} s`
  progress(`${name}…`)
  const heartbeat = setInterval(() => progress(`${name}… ${elapsed()}`), HEARTBEAT_MS)
  heartbeat.unref()
  return {
    end() {
      clearInterval(heartbeat)
      progress(`${name}: ${elapsed()}`)
    },
  }
}
