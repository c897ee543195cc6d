import { get } from 'node:https'
import { Client } from '@tenure/kube'
import { seededRandom, settle, VirtualClock } from '@tenure/kube/testing'
import { describe, expect, test } from 'vitest'
import { SharedInformers } from '../informer/shared-informers.ts'
import { MemoryApi } from '../testing/memory-api.ts'
import { configurationKind, configurationOf, namesOf } from './certificates/webhook-configuration.ts'
import { Website } from './review.testing.ts'
import { allow } from './admission-result.ts'
import { validating } from './webhook.ts'
import { Webhooks, type WebhooksOptions } from './webhooks.ts'

const webhook = validating({
  name: 'check.example.dev',
  path: '/check',
  kind: Website,
  failurePolicy: 'Fail',
  validate: () => allow(),
})

function setUp(options: Partial<WebhooksOptions> = {}) {
  const clock = new VirtualClock(Date.now())
  const api = new MemoryApi({ clock })
  const client = new Client({ transport: api, clock, random: seededRandom() })
  const informers = new SharedInformers({ api: client, clock, random: seededRandom() })
  const end = new AbortController()
  informers.start(end.signal)
  const webhooks = new Webhooks({
    webhooks: [webhook],
    cluster: { api: client, informers },
    configuration: { name: 'declared', address: { url: 'https://127.0.0.1:0' } },
    host: '127.0.0.1',
    port: 0,
    clock,
    ...options,
  })
  return { clock, api, webhooks, end }
}

function statusOf(port: number, ca: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path: '/check', ca, agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode)
    }).on('error', reject)
  })
}

function urlOf(url: string): string | undefined {
  return configurationOf('validating', 'a', [webhook], { url }, '').webhooks?.[0]?.clientConfig.url
}

describe('webhooks', () => {
  test('webhooks are served before their configuration is applied, and close leaves nothing behind', async () => {
    const { clock, api, webhooks, end } = setUp()
    let wasListening: boolean | undefined
    api.intercept(({ verb }) => {
      if (verb === 'apply') wasListening ??= webhooks.server.isListening
      return undefined
    })
    await webhooks.start()
    const { port } = webhooks.server
    await clock.advance(1000)
    expect(wasListening).toBe(true)
    expect(api.peek(configurationKind('validating'), { name: 'declared' })?.webhooks?.[0]?.clientConfig.url).toBe(
      `https://127.0.0.1:${port}/check`,
    )
    expect(await statusOf(port, webhooks.certificates.bundle)).toBe(405)

    await webhooks.close()
    end.abort()
    await settle()
    expect(webhooks.server.isListening).toBe(false)
    await expect(statusOf(port, webhooks.certificates.bundle)).rejects.toThrow('ECONNREFUSED')
    expect(api.openWatches).toBe(0)
    expect(clock.pending).toBe(0)
  })

  test('webhooks can be closed at any time during the start, and more than once', async () => {
    for (const turns of [0, 1, 2, 3, 5, 8, 13]) {
      const { clock, webhooks, end } = setUp({ secret: { namespace: 'ops', name: 'certificates' } })
      const start = webhooks.start()
      start.catch(() => undefined)
      for (let turn = 0; turn < turns; turn++) await Promise.resolve()
      await webhooks.close()
      await Promise.allSettled([start])
      await webhooks.close()
      end.abort()
      await settle()
      expect(webhooks.server.isListening).toBe(false)
      expect(clock.pending).toBe(0)
    }
  })
})

describe('an address', () => {
  test('the address determines the names of the certificate', () => {
    expect(namesOf({ service: { namespace: 'ops', name: 'web' } }).dnsNames).toContain('web.ops.svc')
    expect(namesOf({ url: 'https://[::1]:9443' })).toEqual({ dnsNames: [], ipAddresses: ['::1'] })
    expect(namesOf({ url: 'https://Hooks.example.dev/base' })).toEqual({
      dnsNames: ['hooks.example.dev'],
      ipAddresses: [],
    })
  })

  test('the path is appended to the address', () => {
    expect(urlOf('https://a.dev')).toBe('https://a.dev/check')
    expect(urlOf('https://a.dev:9443/base/')).toBe('https://a.dev:9443/base/check')
  })

  test('an address that the API server cannot call is rejected', () => {
    for (const url of ['', 'a.dev', 'http://a.dev', 'https://u:p@a.dev', 'https://a.dev?b', 'https://a.dev#c']) {
      expect(() => namesOf({ url })).toThrow('use https://host:port')
    }
  })
})
