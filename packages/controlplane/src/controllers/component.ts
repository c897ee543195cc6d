import { type ControllerDefinition, ControllerRunner } from '@tenure/runtime'
import type { BuiltInController, ControlPlaneContext } from './context.ts'

/** Wraps a controller definition as a component of the control plane. */
export function builtIn(
  name: string,
  define: (context: ControlPlaneContext) => ControllerDefinition,
): BuiltInController {
  return {
    name,
    create: (context) => {
      const { controllers, clock, informers, log, metrics, random } = context
      const runner = new ControllerRunner(define(context), {
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
