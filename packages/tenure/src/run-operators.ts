import type { HttpServerOptions, Operator } from '@tenure/http'
import { HttpServer } from '@tenure/http'
import type { ComponentDefinition, Logger, ManagerOptions } from '@tenure/runtime'
import { createMetrics, manager } from '@tenure/runtime'

export interface RunOptions extends Pick<
  ManagerOptions,
  'transport' | 'config' | 'leaderElection' | 'webhooks' | 'probes' | 'metricsAddress'
> {
  /** In whose name fields are owned and events are reported. */
  readonly name: string
  readonly operators: readonly Operator[]
  readonly log: Logger
  /** Serves the operators' routes. Default: nothing is served. */
  readonly http?: Omit<HttpServerOptions, 'routes'> | undefined
  /** What runs beside the operators. Default: nothing. */
  readonly components?: readonly ComponentDefinition[]
}

/** Runs operators in one manager and behind one HTTP server, until `signal` aborts. */
export async function runOperators(options: RunOptions, signal: AbortSignal): Promise<void> {
  const { operators, http, components = [], ...rest } = options
  // First, so that probes answer from the start.
  const server: ComponentDefinition[] = http
    ? [
        {
          stage: 'serve',
          create: (context) => {
            const routes = operators.flatMap((operator) => operator.routes.flatMap((group) => group(context)))
            return new HttpServer({ ...http, routes }, context)
          },
        },
      ]
    : []
  await manager({
    ...rest,
    controllers: operators.flatMap(({ controllers }) => controllers),
    components: [...server, ...operators.flatMap((operator) => operator.components), ...components],
    metrics: await createMetrics(),
  }).run(signal)
}
