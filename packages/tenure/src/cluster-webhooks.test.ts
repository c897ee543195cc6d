import { leaseAnnotationsWebhook } from '@tenure/leases'
import { silentLogger } from '@tenure/runtime'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { clusterWebhooks, type ClusterWebhookSettings } from './cluster-webhooks.ts'

const wanted = { name: 'operator', webhooks: [leaseAnnotationsWebhook()], namespace: 'here' }
const settings: ClusterWebhookSettings = {
  webhookPort: 9443,
  webhookServiceName: 'service',
  webhookServiceNamespace: undefined,
  webhookUrl: undefined,
  webhookSecret: 'secret',
}

beforeEach(() => vi.stubEnv('KUBERNETES_SERVICE_HOST', undefined))
afterEach(() => vi.unstubAllEnvs())

test('a process that the API server can not reach registers nothing', () => {
  expect(clusterWebhooks(wanted, settings, silentLogger)).toEqual({})
})

test('a pod is reached by its Service, and shares its certificate', () => {
  vi.stubEnv('KUBERNETES_SERVICE_HOST', '10.0.0.1')
  expect(clusterWebhooks(wanted, settings, silentLogger).webhooks).toMatchObject({
    port: 9443,
    secret: { name: 'secret', namespace: 'here' },
    configuration: { name: 'operator', address: { service: { name: 'service', namespace: 'here' } } },
  })
})

test('a URL needs neither', () => {
  const { webhooks } = clusterWebhooks(wanted, { ...settings, webhookUrl: 'https://127.0.0.1:0' }, silentLogger)
  expect(webhooks).toMatchObject({ configuration: { address: { url: 'https://127.0.0.1:0' } } })
  expect(webhooks).not.toHaveProperty('secret')
})
