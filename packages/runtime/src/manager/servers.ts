import { serveMetrics, serveProbes } from '../health/index.ts'
import type { Served } from '../health/index.ts'
import type { Component, ManagerContext } from './component.ts'

export function probesComponent(address: string, context: ManagerContext, setting?: string): Component {
  const { clock, probes } = context
  return serverComponent('probes', context, () => serveProbes(probes, { address, clock, setting }))
}

export function metricsComponent(address: string, context: ManagerContext, setting?: string): Component {
  const { clock, metrics, log } = context
  return serverComponent('metrics', context, () => serveMetrics(metrics, { address, clock, log, setting }))
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
