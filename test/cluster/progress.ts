/** Takes one line for people to read. */
export type Progress = (line: string) => void

/** Writes to standard error, so that standard output holds only what programs read. */
export const stderrProgress: Progress = (line) => process.stderr.write(`${line}\n`)

/** How often a long step says that it still goes on. */
const HEARTBEAT_MS = 15_000

/** Announces a step, repeats it with the elapsed seconds while it lasts, and says when it is over. */
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
