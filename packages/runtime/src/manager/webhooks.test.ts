import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { silentLogger } from '../log/logger.ts'
import { reachability } from './webhooks.ts'

const context = {
  identity: { name: 'operator', process: 'here-1', lease: undefined },
  log: silentLogger,
  namespace: 'here',
}
const settings = { webhookPort: 9443, webhookServiceName: 'service', webhookSecret: 'secret' }

beforeEach(() => vi.stubEnv('KUBERNETES_SERVICE_HOST', undefined))
afterEach(() => vi.unstubAllEnvs())

test('a process that the API server cannot reach registers nothing', () => {
  expect(reachability(context, settings)).toBeUndefined()
})

test('a pod is reached by its Service, and shares its certificate', () => {
  vi.stubEnv('KUBERNETES_SERVICE_HOST', '10.0.0.1')
  expect(reachability(context, settings)).toEqual({
    port: 9443,
    secret: { name: 'secret', namespace: 'here' },
    configuration: { name: 'operator', address: { service: { name: 'service', namespace: 'here' } } },
  })
})

test('names default to those of the operator', () => {
  expect(reachability(context, { webhookServiceNamespace: 'there' })).toMatchObject({
    secret: { name: 'operator-webhook', namespace: 'there' },
    configuration: { address: { service: { name: 'operator', namespace: 'there' } } },
  })
})

test('a process at a URL needs neither Service nor Secret', () => {
  const where = reachability(context, { ...settings, webhookUrl: 'https://127.0.0.1:0' })
  expect(where).toMatchObject({ configuration: { address: { url: 'https://127.0.0.1:0' } } })
  expect(where).not.toHaveProperty('secret')
})
