import { type ControllerDefinition, ControllerRunner } from '@tenure/runtime'
import type { BuiltInController, Surroundings } from './context.ts'

/** A controller of ours as a component of the control plane. */
export function builtIn(name: string, define: (around: Surroundings) => ControllerDefinition): BuiltInController {
  return {
    name,
    create: (around) => {
      const { controllers, clock, informers, log, metrics, random } = around
      const runner = new ControllerRunner(define(around), {
        api: controllers,
        informers,
        clock,
        random,
        log,
        metrics,
        fieldManager: controllers.fieldManager,
      })
      return {
        name,
        start: (signal) => runner.start(signal),
        stop: (grace) => runner.stop({ grace }),
      }
    },
  }
}
