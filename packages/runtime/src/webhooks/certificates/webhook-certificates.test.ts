import { X509Certificate } from 'node:crypto'
import { Client, defineKind, type KubeObject } from '@tenure/kube'
import { seededRandom, settle, VirtualClock } from '@tenure/kube/testing'
import { afterEach, describe, expect, test } from 'vitest'
import { createAuthority, splitBundle, validityOf } from '../../certificates/index.ts'
import { SharedInformers } from '../../informer/shared-informers.ts'
import { silentLogger } from '../../log/logger.ts'
import { MemoryApi } from '../../testing/memory-api.ts'
import { refuse } from '../../testing/responses.ts'
import { configurationKind, type WebhookConfiguration } from './webhook-configuration.ts'
import { Website } from '../review.testing.ts'
import { allow } from '../admission-result.ts'
import { mutating, validating } from '../webhook.ts'
import { WebhookCertificates, type WebhookCertificatesOptions } from './webhook-certificates.ts'

interface SecretObject extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
}
const Secret = defineKind<SecretObject>({ apiVersion: 'v1', kind: 'Secret' })
const Validating = configurationKind('validating')
const Mutating = configurationKind('mutating')
const secret = { namespace: 'ops', name: 'webhook-certificates' }
const DAY = 86_400_000
const MINUTE = 60_000

const webhooks = [
  validating({ name: 'check.example.dev', kind: Website, failurePolicy: 'Fail', validate: () => allow() }),
  mutating({ name: 'change.example.dev', kind: Website, failurePolicy: 'Ignore', mutate: () => [] }),
]

const ended: AbortController[] = []
afterEach(() => {
  for (const end of ended.splice(0)) end.abort()
})

function bundleIn(configuration: WebhookConfiguration | undefined): readonly string[] {
  return (configuration?.webhooks ?? []).map(({ clientConfig }) =>
    Buffer.from(clientConfig.caBundle ?? '', 'base64').toString('utf8'),
  )
}

function setUp() {
  const clock = new VirtualClock()
  const api = new MemoryApi({ clock })
  const replica = (options: WebhookCertificatesOptions = {}, seed = 1) => {
    const end = new AbortController()
    ended.push(end)
    const client = new Client({ transport: api, clock, random: seededRandom(seed) })
    const informers = new SharedInformers({ api: client, clock, random: seededRandom(seed) })
    informers.start(end.signal)
    const certificates = new WebhookCertificates({
      cluster: { api: client, informers },
      dnsNames: ['web.ops.svc'],
      clock,
      random: seededRandom(seed),
      ...options,
    })
    const start = async () => {
      await certificates.prepare(end.signal)
      const running = certificates.run(end.signal)
      await settle()
      return running
    }
    return { certificates, start, signal: end.signal, end: () => end.abort() }
  }
  const stored = (file: string): string =>
    Buffer.from(api.peek(Secret, secret)?.data?.[file] ?? '', 'base64').toString('utf8')
  const writes = () =>
    api.requests.filter(({ verb }) => !['get', 'list', 'watch'].includes(verb)).map(({ verb }) => verb)
  return { clock, api, replica, stored, writes }
}

function chartMade(...names: readonly string[]): WebhookConfiguration {
  return {
    metadata: { name: 'charted' },
    webhooks: names.map((name) => ({ name, clientConfig: { service: { namespace: 'ops', name: 'web' } } })),
  }
}

describe('certificates in memory', () => {
  test('in-memory certificates need no cluster and are renewed', async () => {
    const clock = new VirtualClock()
    const end = new AbortController()
    const certificates = new WebhookCertificates({ ipAddresses: ['127.0.0.1'], clock })
    expect(() => certificates.serving).toThrow('await prepare() first')
    await certificates.prepare(end.signal)
    const running = certificates.run(end.signal)
    const first = certificates.serving
    let notified = 0
    certificates.subscribe(() => notified++)
    await clock.advance(60 * DAY - 1)
    expect(certificates.serving).toBe(first)
    await clock.advance(1)
    expect(certificates.serving).not.toEqual(first)
    expect(notified).toBe(1)
    end.abort()
    await running
    expect(clock.pending).toBe(0)
  })

  test('certificates are renewed after the wall clock jumps', async () => {
    const clock = new VirtualClock()
    const end = new AbortController()
    ended.push(end)
    const certificates = new WebhookCertificates({ clock })
    await certificates.prepare(end.signal)
    void certificates.run(end.signal)
    const first = certificates.serving
    clock.jump(61 * DAY)
    await clock.advance(61 * MINUTE)
    expect(certificates.serving).not.toEqual(first)
  })

  test('lifetimes that are too short and a Secret without a cluster are rejected', () => {
    expect(() => new WebhookCertificates({ servingLife: 1000 })).toThrow('at least a minute')
    expect(() => new WebhookCertificates({ authorityLife: DAY })).toThrow('three times')
    expect(() => new WebhookCertificates({ propagation: 40 * DAY })).toThrow('three times')
    expect(() => new WebhookCertificates({ secret })).toThrow('need a cluster')
    expect(() => new WebhookCertificates({ inject: [{ type: 'mutating', name: 'a' }] })).toThrow('need a cluster')
  })
})

describe('certificates in a Secret', () => {
  test('replicas share the certificates that the first one creates', async () => {
    const { api, replica, stored, writes } = setUp()
    const replicas = [1, 2, 3].map((seed) => replica({ secret }, seed))
    await Promise.all(replicas.map(({ certificates, signal }) => certificates.prepare(signal)))
    expect(api.objects(Secret)).toHaveLength(1)
    expect(api.peek(Secret, secret)).toMatchObject({ type: 'kubernetes.io/tls' })
    for (const { certificates } of replicas) {
      expect(certificates.serving).toEqual({ certificate: stored('tls.crt'), key: stored('tls.key') })
      expect(certificates.bundle).toBe(stored('ca.crt'))
    }
    expect(writes().filter((verb) => verb === 'create').length).toBeGreaterThan(1)
    const late = replica({ secret }, 4)
    api.clearRequests()
    await late.certificates.prepare(late.signal)
    expect(writes()).toEqual([])
    expect(late.certificates.serving.certificate).toBe(stored('tls.crt'))
  })

  test('certificates are renewed once and every replica serves the new one', async () => {
    const { clock, api, replica, stored } = setUp()
    const replicas = [1, 2, 3].map((seed) => replica({ secret, servingLife: 90 * MINUTE }, seed))
    for (const { start } of replicas) void start()
    await settle()
    const first = stored('tls.crt')
    const version = Number(api.revision)
    await clock.advance(61 * MINUTE)
    expect(stored('tls.crt')).not.toBe(first)
    expect(Number(api.revision)).toBe(version + 1)
    for (const { certificates } of replicas) expect(certificates.serving.certificate).toBe(stored('tls.crt'))
  })

  test('no requests are sent while nothing is due', async () => {
    const { clock, api, replica } = setUp()
    const { start } = replica({ secret, declare: { name: 'd', webhooks, address: { url: 'https://127.0.0.1:9443' } } })
    void start()
    await clock.advance(10 * MINUTE)
    api.clearRequests()
    await clock.advance(5 * 60 * MINUTE)
    expect(api.requests.filter(({ verb }) => verb !== 'watch')).toEqual([])
  })

  test('deleted or damaged certificates are replaced while callers keep trusting the served one', async () => {
    const { clock, api, replica, stored } = setUp()
    const faults: unknown[] = []
    const log = { ...silentLogger, error: (_: string, facts?: object) => void faults.push(facts) }
    const { certificates, start } = replica({ secret, log })
    void start()
    await clock.advance(MINUTE)
    const first = { serving: stored('tls.crt'), authority: stored('ca.crt') }
    api.unseed(Secret, secret)
    await clock.advance(MINUTE)
    expect(stored('tls.crt')).toBe(first.serving)
    const [second = '', ...others] = splitBundle(stored('ca.crt'))
    expect(others).toEqual([first.authority])
    await clock.advance(10 * MINUTE)
    expect(stored('tls.crt')).not.toBe(first.serving)
    expect(certificates.serving.certificate).toBe(stored('tls.crt'))
    expect(faults).toEqual([])

    const spoilt = { 'ca.crt': Buffer.from(second).toString('base64'), 'tls.crt': 'bm9uc2Vuc2U=', other: 'a2VlcA==' }
    api.seed(Secret, { metadata: secret, data: spoilt })
    await clock.advance(MINUTE)
    expect(faults).toEqual([{ fault: 'ca.key, tls.key is missing' }])
    expect(splitBundle(stored('ca.crt')).slice(1)).toEqual([second, first.authority])
    expect(stored('other')).toBe('keep')
    expect(certificates.serving.certificate).toBe(stored('tls.crt'))
  })

  test('certificates are recreated at most once a second', async () => {
    const { clock, api, replica, writes } = setUp()
    const { start } = replica({ secret })
    void start()
    await clock.advance(MINUTE)
    api.clearRequests()
    const end = api.intercept(({ verb }) => {
      if (verb === 'create') void settle().then(() => api.unseed(Secret, secret))
      return undefined
    })
    api.unseed(Secret, secret)
    await clock.advance(MINUTE)
    end()
    expect(writes().length).toBeGreaterThan(10)
    expect(writes().length).toBeLessThanOrEqual(61)
  })

  test('a starting replica keeps the trusted authorities of an unusable Secret', async () => {
    const { api, replica, stored } = setUp()
    const authority = createAuthority({ commonName: 'before' }).certificate
    const data = { 'ca.crt': Buffer.from(authority).toString('base64'), 'tls.crt': 'bm9uc2Vuc2U=' }
    api.seed(Secret, { metadata: secret, data })
    const { certificates, signal } = replica({ secret })
    await certificates.prepare(signal)
    expect(splitBundle(stored('ca.crt'))[1]).toBe(authority)
    expect(stored('tls.crt')).toBe(certificates.serving.certificate)
  })

  test('an empty Secret is filled, so that no permission to create one is needed', async () => {
    const { api, replica, stored, writes } = setUp()
    api.seed(Secret, { metadata: { ...secret, labels: { app: 'web' } } })
    const { certificates, signal } = replica({ secret })
    await certificates.prepare(signal)
    expect(writes()).toEqual(['update'])
    expect(stored('tls.crt')).toBe(certificates.serving.certificate)
    expect(api.peek(Secret, secret)?.metadata.labels).toEqual({ app: 'web' })
  })

  test('an unavailable API server is retried and logged', async () => {
    const { clock, api, replica } = setUp()
    const warnings: unknown[] = []
    const log = { ...silentLogger, warn: (message: string) => void warnings.push(message) }
    let mood: 'away' | 'forbids' | 'well' = 'away'
    api.intercept((request) => {
      if (request.verb === 'watch' || mood === 'well') return undefined
      return mood === 'away' ? 'drop' : refuse(403, 'Forbidden', 'not you')
    })
    const { certificates, signal } = replica({ secret, log })
    let isPrepared = false
    void certificates.prepare(signal).then(() => (isPrepared = true))
    await clock.advance(5 * MINUTE)
    mood = 'forbids'
    await clock.advance(5 * MINUTE)
    expect(isPrepared).toBe(false)
    expect(warnings.length).toBeGreaterThan(5)
    mood = 'well'
    await clock.advance(MINUTE)
    expect(isPrepared).toBe(true)
  })

  test('a write whose response was lost counts', async () => {
    const { clock, api, replica, stored } = setUp()
    let lost = 0
    api.intercept(({ verb }) => (verb === 'create' && lost++ === 0 ? 'drop-response' : undefined))
    const { certificates, signal } = replica({ secret })
    void certificates.prepare(signal)
    await clock.advance(MINUTE)
    expect(lost).toBe(1)
    expect(certificates.serving.certificate).toBe(stored('tls.crt'))
  })
})

describe('a CA bundle', () => {
  const inject = [{ type: 'validating', name: 'charted', webhooks: ['ours.example.dev'] }] as const

  test('the CA bundle is injected when a configuration appears and when it is removed', async () => {
    const { clock, api, replica } = setUp()
    const { certificates, start } = replica({ inject })
    void start()
    await clock.advance(MINUTE)
    api.seed(Validating, chartMade('theirs.example.dev', 'ours.example.dev'))
    await clock.advance(MINUTE)
    expect(bundleIn(api.peek(Validating, { name: 'charted' }))).toEqual(['', certificates.bundle])
    // Like `helm upgrade`, in a different order.
    for (const names of [['ours.example.dev'], ['ours.example.dev', 'theirs.example.dev']]) {
      api.seed(Validating, chartMade(...names))
      await clock.advance(MINUTE)
      expect(bundleIn(api.peek(Validating, { name: 'charted' }))[0]).toBe(certificates.bundle)
    }
    api.unseed(Validating, { name: 'charted' })
    api.clearRequests()
    await clock.advance(60 * MINUTE)
    expect(api.peek(Validating, { name: 'charted' })).toBeUndefined()
    expect(api.requests.filter(({ verb }) => verb === 'patch' || verb === 'apply')).toEqual([])
  })

  test('a conflicting writer causes at most one write per second', async () => {
    const { clock, api, replica } = setUp()
    api.seed(Validating, chartMade('ours.example.dev'))
    let isQuarrelling = true
    const { start } = replica({ inject })
    api.intercept((request) => {
      if (request.verb === 'patch' && isQuarrelling)
        void settle().then(() => api.seed(Validating, chartMade('ours.example.dev')))
      return undefined
    })
    void start()
    await clock.advance(MINUTE)
    isQuarrelling = false
    const patches = api.requests.filter(({ verb }) => verb === 'patch').length
    expect(patches).toBeGreaterThan(10)
    expect(patches).toBeLessThanOrEqual(61)
  })

  test('configurations of declared webhooks contain the CA bundle', async () => {
    const { clock, api, replica } = setUp()
    const address = { service: { namespace: 'ops', name: 'web' } }
    const { certificates, start } = replica({ declare: { name: 'declared', webhooks, address } })
    void start()
    await clock.advance(MINUTE)
    const caBundle = Buffer.from(certificates.bundle).toString('base64')
    expect(api.peek(Validating, { name: 'declared' })?.webhooks).toEqual([
      {
        name: 'check.example.dev',
        clientConfig: {
          caBundle,
          service: { namespace: 'ops', name: 'web', port: 443, path: '/validate-example-dev-v1-website' },
        },
        rules: [
          {
            apiGroups: ['example.dev'],
            apiVersions: ['v1'],
            operations: ['CREATE', 'UPDATE'],
            resources: ['websites'],
            scope: 'Namespaced',
          },
        ],
        failurePolicy: 'Fail',
        matchPolicy: 'Equivalent',
        namespaceSelector: {},
        objectSelector: {},
        sideEffects: 'None',
        timeoutSeconds: 10,
        admissionReviewVersions: ['v1'],
      },
    ])
    expect(api.peek(Mutating, { name: 'declared' })?.webhooks).toMatchObject([
      { name: 'change.example.dev', failurePolicy: 'Ignore', reinvocationPolicy: 'Never' },
    ])
    expect(new X509Certificate(certificates.serving.certificate).checkHost('web.ops.svc')).toBe('web.ops.svc')

    // A deleted configuration is applied again; changes by an administrator stay, except for the bundle.
    api.unseed(Mutating, { name: 'declared' })
    const [webhook] = api.peek(Validating, { name: 'declared' })?.webhooks ?? []
    const changed = {
      ...webhook,
      name: 'check.example.dev',
      failurePolicy: 'Ignore',
      clientConfig: { url: 'https://a' },
    }
    api.seed(Validating, { metadata: { name: 'declared' }, webhooks: [changed] })
    await clock.advance(MINUTE)
    expect(bundleIn(api.peek(Mutating, { name: 'declared' }))).toEqual([certificates.bundle])
    expect(api.peek(Validating, { name: 'declared' })?.webhooks).toMatchObject([
      { failurePolicy: 'Ignore', clientConfig: { url: 'https://a', caBundle } },
    ])
  })

  test('every configuration trusts a new authority before it serves', async () => {
    const { clock, api, replica } = setUp()
    api.seed(Validating, chartMade('ours.example.dev'))
    const { certificates, start } = replica({ secret, inject, propagation: 5 * MINUTE, servingLife: 180 * MINUTE })
    void start()
    await clock.advance(MINUTE)
    const before = { serving: certificates.serving, bundle: certificates.bundle }

    let isForbidden = true
    api.intercept(({ verb }) => (verb === 'patch' && isForbidden ? refuse(403, 'Forbidden', 'not you') : undefined))
    await certificates.renewNow('authority')
    await clock.advance(60 * MINUTE)
    expect(splitBundle(certificates.bundle)).toHaveLength(2)
    expect(bundleIn(api.peek(Validating, { name: 'charted' }))).toEqual([before.bundle])
    expect(certificates.serving).toEqual(before.serving)

    isForbidden = false
    await clock.advanceUntil(() => bundleIn(api.peek(Validating, { name: 'charted' }))[0] === certificates.bundle)
    await clock.advance(4 * MINUTE)
    expect(certificates.serving).toEqual(before.serving)
    await clock.advance(2 * MINUTE)
    expect(certificates.serving).not.toEqual(before.serving)
    const [newest = '', old] = splitBundle(certificates.bundle)
    const serving = new X509Certificate(certificates.serving.certificate)
    expect(serving.verify(new X509Certificate(newest).publicKey)).toBe(true)
    expect(old).toBe(before.bundle)

    await clock.advance(180 * MINUTE)
    expect(certificates.bundle).toBe(newest)
    expect(bundleIn(api.peek(Validating, { name: 'charted' }))).toEqual([newest])
  })

  test('a replica follows a rotation that another replica started', async () => {
    const { clock, api, replica } = setUp()
    api.seed(Validating, chartMade('ours.example.dev'))
    const one = replica({ secret, inject }, 1)
    const two = replica({ secret, inject }, 2)
    void one.start()
    void two.start()
    await clock.advance(MINUTE)
    await Promise.all([one.certificates.renewNow('authority'), two.certificates.renewNow('authority')])
    await clock.advance(MINUTE)
    expect(splitBundle(one.certificates.bundle)).toHaveLength(2)
    expect(two.certificates.bundle).toBe(one.certificates.bundle)
    await clock.advance(10 * MINUTE)
    expect(two.certificates.serving).toEqual(one.certificates.serving)
    expect(bundleIn(api.peek(Validating, { name: 'charted' }))).toEqual([one.certificates.bundle])
    const [newest = ''] = splitBundle(one.certificates.bundle)
    expect(
      new X509Certificate(one.certificates.serving.certificate).verify(new X509Certificate(newest).publicKey),
    ).toBe(true)
  })

  test('certificates rotate over the whole life of an authority', async () => {
    const { clock, replica } = setUp()
    const { certificates, start } = replica({
      secret,
      servingLife: 30 * MINUTE,
      authorityLife: 300 * MINUTE,
      propagation: MINUTE,
    })
    void start()
    const authorities = new Set<string>()
    for (let turn = 0; turn < 90; turn++) {
      await clock.advance(10 * MINUTE)
      for (const authority of splitBundle(certificates.bundle)) authorities.add(authority)
      expect(validityOf(certificates.serving.certificate).notAfter).toBeGreaterThan(clock.now())
      expect(splitBundle(certificates.bundle).length).toBeLessThanOrEqual(2)
    }
    expect(authorities.size).toBe(5)
  })
})

describe('stopping', () => {
  test('stopping leaves no timer and no watch behind', async () => {
    const { clock, api, replica } = setUp()
    const { start, end } = replica({ secret, declare: { name: 'd', webhooks, address: { url: 'https://127.0.0.1' } } })
    const running = start()
    await clock.advance(10 * MINUTE)
    end()
    await running
    await settle()
    expect(api.openWatches).toBe(0)
    expect(clock.pending).toBe(0)
  })
})
