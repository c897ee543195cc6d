import type { ComponentDefinition } from '../manager/component.ts'
import type { Metrics } from './metrics.ts'

/** Calls `collect` before each scrape, to set gauges, while the manager runs. */
export function collectorComponent(name: string, metrics: Metrics, collect: () => void): ComponentDefinition {
  return {
    stage: 'serve',
    create: () => {
      let stop: (() => void) | undefined
      return {
        name,
        start: () => {
          stop = metrics.onCollect(collect)
          return Promise.resolve()
        },
        stop: () => {
          stop?.()
          return Promise.resolve()
        },
      }
    },
  }
}
