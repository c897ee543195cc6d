import type { Logger } from '../log/logger.ts'

export interface StopSignals {
  readonly signal: AbortSignal
  dispose(): void
}

/** Aborts on SIGINT or SIGTERM. A second signal ends the process at once, as if there were no handler. */
export function stopSignals(log: Logger): StopSignals {
  const controller = new AbortController()
  const names = ['SIGINT', 'SIGTERM'] as const
  const onSignal = (name: NodeJS.Signals): void => {
    dispose()
    log.info('stopping', { signal: name })
    controller.abort(new Error(`${name} received`))
  }
  const dispose = (): void => {
    for (const name of names) process.off(name, onSignal)
  }
  for (const name of names) process.on(name, onSignal)
  return { signal: controller.signal, dispose }
}
