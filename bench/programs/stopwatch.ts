/** Measures wall and CPU time together, as the peer does. */
export class Stopwatch {
  readonly #wall = performance.now()
  readonly #cpu = process.cpuUsage()

  /** Returns the time since the start, in total and divided by `count`. */
  perItem(count: number): {
    readonly count: number
    readonly wallMs: number
    readonly cpuMs: number
    readonly cpuUsEach: number
    readonly perSecond: number
  } {
    const wallMs = performance.now() - this.#wall
    const { user, system } = process.cpuUsage(this.#cpu)
    return {
      count,
      wallMs,
      cpuMs: (user + system) / 1000,
      cpuUsEach: (user + system) / count,
      perSecond: (count / wallMs) * 1000,
    }
  }
}
