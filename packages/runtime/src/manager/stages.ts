import type { Clock } from '@tenure/kube'
import { asError } from '@tenure/kube'
import type { Logger } from '../log/logger.ts'
import type { Component } from './component.ts'

/** Components in the order of their start. They stop in reverse within one grace period for all. */
export class StartedComponents {
  readonly #clock: Clock
  readonly #log: Logger
  readonly #started: Component[][] = []

  constructor(clock: Clock, log: Logger) {
    this.#clock = clock
    this.#log = log
  }

  /** Starts components together; resolves when all have started. If one fails, `stop` still stops all of them. */
  async start(components: readonly Component[], signal: AbortSignal): Promise<void> {
    this.#started.push([...components])
    await Promise.all(components.map((component) => component.start(signal)))
  }

  /** Stops the components, last started first. One that fails to stop is logged and does not affect the others. */
  async stop(grace: number): Promise<void> {
    const end = this.#clock.monotonic() + grace
    for (let group = this.#started.pop(); group; group = this.#started.pop()) {
      await Promise.all(group.map((component) => this.#stop(component, end)))
    }
  }

  async #stop(component: Component, end: number): Promise<void> {
    try {
      await component.stop(Math.max(end - this.#clock.monotonic(), 0))
    } catch (error) {
      this.#log.error('failed to stop component', { component: component.name, error: asError(error) })
    }
  }
}
