import { serveMetrics, serveProbes } from '../health/index.ts'
import type { Served } from '../health/index.ts'
import { Webhooks } from '../webhooks/index.ts'
import type { Component, ManagerContext } from './component.ts'
import type { ManagerOptions } from './options.ts'

export function probesComponent(address: string, context: ManagerContext): Component {
  const { clock, probes } = context
  return serverComponent('probes', context, () => serveProbes(probes, { address, clock }))
}

export function metricsComponent(address: string, context: ManagerContext): Component {
  const { clock, metrics, log } = context
  return serverComponent('metrics', context, () => serveMetrics(metrics, { address, clock, log }))
}

function serverComponent(name: string, { log }: ManagerContext, serve: () => Promise<Served | undefined>): Component {
  let served: Served | undefined
  return {
    name,
    async start() {
      served = await serve()
      if (served) log.info('serving', { what: name, address: served.address })
    },
    async stop(grace) {
      await served?.close(Math.min(grace, 2_000))
    },
  }
}

export function webhooksComponent(
  options: NonNullable<ManagerOptions['webhooks']>,
  context: ManagerContext,
): Component {
  const { api, informers, clock, random, log, metrics } = context
  const webhooks = new Webhooks({ ...options, cluster: { api, informers }, clock, random, log, metrics })
  return {
    name: 'webhooks',
    start: (signal) => webhooks.start(signal),
    stop: (grace) => webhooks.close(grace),
  }
}
