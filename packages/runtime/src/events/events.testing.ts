import type { KubeObject } from '@tenure/kube'
import { Client } from '@tenure/kube'
import { VirtualClock, seededRandom } from '@tenure/kube/testing'
import type { Logger } from '../log/logger.ts'
import { silentLogger } from '../log/logger.ts'
import { noMetrics } from '../metrics/metrics.ts'
import { MemoryApi } from '../testing/memory-api.ts'
import type { EventRecorderOptions } from './event-recorder.ts'
import { EventRecorder } from './event-recorder.ts'
import { kubeEvent } from './event.ts'

export const web: KubeObject = {
  apiVersion: 'example.dev/v1',
  kind: 'Website',
  metadata: { name: 'web', namespace: 'shop', uid: 'u-1', resourceVersion: '7' },
}
export const about = (name: string): KubeObject => ({ ...web, metadata: { ...web.metadata, name } })
export const ready = { type: 'Normal', reason: 'Ready', message: 'The website is served.' } as const

/** An event recorder with an in-memory API server, in virtual time. */
export function setup(options: Partial<EventRecorderOptions> = {}) {
  const clock = new VirtualClock()
  const api = new MemoryApi({ clock })
  const random = seededRandom()
  const dropped: Record<string, number> = {}
  const warnings: string[] = []
  const log: Logger = { ...silentLogger, warn: (message) => void warnings.push(message) }
  const metrics = {
    ...noMetrics,
    counter: () => ({
      with: ({ reason = '' }) => ({ inc: () => void (dropped[reason] = (dropped[reason] ?? 0) + 1) }),
      remove: () => undefined,
    }),
  }
  const recorder = new EventRecorder({
    api: new Client({ transport: api, clock, random, retry: { attempts: 1 } }),
    clock,
    random,
    controller: 'example.dev/websites',
    instance: 'pod-1',
    log,
    metrics,
    ...options,
  })
  const writes = () => api.requests.map(({ verb }) => verb)
  return { clock, api, recorder, dropped, warnings, writes, events: () => api.objects(kubeEvent) }
}
