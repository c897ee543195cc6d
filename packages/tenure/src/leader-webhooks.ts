import type { ComponentDefinition, Webhook } from '@tenure/runtime'
import { Webhooks } from '@tenure/runtime'

/**
 * Webhooks of `tenure start`: several processes may share one control plane, and each is reached at a port of its own,
 * so the one that leads serves them and says where. Certificates live as long as the term.
 */
export function leaderWebhooks(name: string, webhooks: readonly Webhook[]): ComponentDefinition {
  return {
    stage: 'lead',
    create({ api, informers, clock, random, log, metrics }) {
      const served = new Webhooks({
        webhooks,
        host: '127.0.0.1',
        port: 0,
        configuration: { name, address: { url: 'https://127.0.0.1:0' } },
        cluster: { api, informers },
        clock,
        random,
        log,
        metrics,
      })
      return { name: 'webhooks', start: (signal) => served.start(signal), stop: (grace) => served.close(grace) }
    },
  }
}
