import { defineKind } from '@tenure/kube'
import { ConfigMap, CustomResourceDefinition, Namespace, Node } from '@tenure/kube/kinds'
import { createMetrics, type Logger, silentLogger } from '@tenure/runtime'
import { crdFor, refuse } from '@tenure/controlplane/testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { denied, NEWER, SEED, LeaseHarness } from '../../testing/lease-harness.ts'

let harness: LeaseHarness
beforeEach(async () => {
  harness = await LeaseHarness.create()
})
afterEach(() => harness.stop())

const after = (seconds: number): string =>
  `${new Date(harness.clock.now() + seconds * 1_000).toISOString().slice(0, 19)}Z`

describe('a lease', () => {
  test('a lease costs one write and one delete', async () => {
    await harness.start()
    // The first lease, once a minute, compares the clock with the server's.
    harness.create('before', { [`${SEED}ttl`]: '2h' })
    await harness.clock.advance(100)
    expect(harness.requests().map(({ verb }) => verb)).toEqual(['get', 'patch'])
    harness.server.clearRequests()
    const end = after(60)
    harness.create('one', { [`${SEED}ttl`]: '60s' })
    await harness.clock.advance(100)
    expect(harness.annotations('one')).toEqual({
      ttl: '60s',
      'expire-at': end,
      'lease-status': `Lease active. Expires at ${end} UTC.`,
    })
    await harness.clock.advance(59_700)
    expect(harness.object('one')).toBeDefined()
    await harness.clock.advance(1_000)
    expect(harness.object('one')).toBeUndefined()
    expect(harness.requests().map(({ verb }) => verb)).toEqual(['patch', 'get', 'delete'])
    expect(JSON.stringify(harness.requests('delete')[0]?.body)).toMatch(/uid.*resourceVersion/)
    expect(harness.reasons('one')).toEqual(['LeaseStarted', 'LeaseExpired'])
  })

  test('a lease is read and written as metadata only', async () => {
    await harness.start()
    harness.create('one', { [`${SEED}ttl`]: '1s' })
    await harness.clock.advance(3_000)
    expect(harness.object('one')).toBeUndefined()
    for (const { headers, verb } of harness.server.requests.filter(({ plural }) => plural === 'configmaps')) {
      expect({ verb, accept: headers['accept'] }).toMatchObject({
        accept: expect.stringContaining('PartialObjectMetadata'),
      })
    }
  })

  test('a waiting lease costs no requests', async () => {
    const { controller } = await harness.start()
    harness.create('one', { [`${SEED}ttl`]: '10h' })
    await harness.clock.advance(1_000)
    harness.server.clearRequests()
    await harness.clock.advance(8 * 3_600_000)
    expect(harness.server.requests.filter(({ verb }) => verb !== 'watch')).toEqual([])
    expect(controller).toMatchObject({
      activeLeases: 1,
      nextExpiry: harness.clock.now() - 8 * 3_600_000 - 1_000 + 36_000_000,
    })
  })

  test('an extension wins even if the watch delivers it late', async () => {
    await harness.start()
    harness.create('one', { [`${SEED}ttl`]: '60s' })
    await harness.clock.advance(50_000)
    harness.server.holdWatches()
    harness.annotate('one', { [`${SEED}extended-at`]: after(0) })
    await harness.clock.advance(20_000)
    expect(harness.object('one')).toBeDefined()
    expect(harness.requests('delete')).toEqual([])
    harness.server.releaseWatches()
    await harness.clock.advance(1_000)
    expect(harness.annotations('one')['expire-at']).toBe(after(39))
    await harness.clock.advance(45_000)
    expect(harness.object('one')).toBeUndefined()
  })

  test('leases that expired while no controller ran are deleted at the start, oldest first', async () => {
    const first = await harness.start()
    harness.create('second', { [`${SEED}ttl`]: '40s' })
    harness.create('first', { [`${SEED}ttl`]: '30s' })
    await harness.clock.advance(1_000)
    await first.stop()
    await harness.clock.advance(3_600_000)
    harness.server.clearRequests()
    await harness.start()
    await harness.clock.advance(2_000)
    expect(harness.requests('delete').map(({ name }) => name)).toEqual(['first', 'second'])
    expect(harness.requests('patch')).toEqual([])
  })

  test('the lease of an object that was created while no controller ran starts when it is found', async () => {
    harness.create('one', { [`${SEED}ttl`]: '60s' })
    await harness.clock.advance(3_600_000)
    await harness.start()
    await harness.clock.advance(100)
    expect(harness.annotations('one')).toMatchObject({ 'extended-at': after(0), 'expire-at': after(60) })
  })

  test("a lease starts by the server's clock, not the controller's", async () => {
    harness.clockOffset = -1_800_000
    await harness.start()
    harness.create('one', { [`${NEWER}ttl`]: '10m' })
    await harness.clock.advance(100)
    expect(harness.object('one')?.metadata.annotations?.[`${NEWER}lease-start`]).toBe(after(0))
    harness.clockOffset = 0
    await harness.clock.advance(590_000)
    expect(harness.object('one')).toBeDefined()
    await harness.clock.advance(15_000)
    expect(harness.object('one')).toBeUndefined()
  })

  test('a lease does not end early when the local clock runs ahead', async () => {
    await harness.start()
    harness.create('one', { [`${SEED}ttl`]: '60s' })
    await harness.clock.advance(1_000)
    harness.clockOffset = 7_200_000
    await harness.clock.advance(55_000)
    expect(harness.object('one')).toBeDefined()
    await harness.clock.advance(10_000)
    expect(harness.object('one')).toBeUndefined()
  })

  test('a removed TTL leaves no annotations behind, even if no controller ran at the time', async () => {
    const process = await harness.start()
    harness.create('one', { [`${SEED}ttl`]: '60s' })
    harness.create('two', { [`${SEED}ttl`]: '60s', [`${SEED}extended-at`]: after(5) })
    await harness.clock.advance(1_000)
    harness.annotate('one', { [`${SEED}ttl`]: undefined })
    await harness.clock.advance(1_000)
    expect(harness.annotations('one')).toEqual({})
    await process.stop()
    harness.annotate('two', { [`${SEED}ttl`]: undefined })
    await harness.start()
    await harness.clock.advance(100_000)
    expect(harness.annotations('two')).toEqual({})
    expect(harness.reasons('two')).toContain('LeaseAnnotationsCleaned')
  })

  test('an object with an invalid TTL is kept with a status, and recovers when the TTL is corrected', async () => {
    await harness.start()
    harness.create('one', { [`${SEED}ttl`]: '300y' })
    harness.create('two', { [`${SEED}ttl`]: '5s' })
    await harness.clock.advance(30_000)
    expect(harness.annotations('one')).toEqual({
      ttl: '300y',
      'lease-status': expect.stringMatching(/^Invalid TTL: .*290 years/),
    })
    expect(harness.object('two')).toBeUndefined()
    harness.annotate('one', { [`${SEED}ttl`]: '5s' })
    await harness.clock.advance(10_000)
    expect(harness.object('one')).toBeUndefined()
    expect(harness.reasons('one')).toEqual(['InvalidTTL', 'LeaseStarted', 'LeaseExpired'])
  })

  test('an object with a finalizer gets the deleting status and is then left alone', async () => {
    await harness.start()
    harness.server.seed(ConfigMap, {
      metadata: { name: 'one', namespace: 'shop', finalizers: ['a/b'], annotations: { [`${SEED}ttl`]: '5s' } },
    })
    await harness.clock.advance(7_000)
    expect(harness.object('one')?.metadata.deletionTimestamp).toBeDefined()
    expect(harness.annotations('one')['lease-status']).toBe('Lease expired. Deleting object.')
    harness.server.clearRequests()
    await harness.clock.advance(600_000)
    expect(harness.requests()).toEqual([])
    expect(harness.reasons('one').filter((reason) => reason === 'LeaseExpired')).toHaveLength(1)
  })

  test.each(['Foreground', 'Orphan', 'Background'])('an object is deleted with propagation %s', async (propagation) => {
    await harness.start()
    harness.create('one', { [`${SEED}ttl`]: '5s', [`${SEED}propagation`]: propagation.toLowerCase() })
    await harness.clock.advance(7_000)
    expect(harness.requests('delete')[0]?.body).toMatchObject({ propagationPolicy: propagation })
  })

  test('a lease on a cluster-scoped object expires', async () => {
    await harness.start({ kind: Node, settings: { optIn: { key: 'leases' } } })
    harness.create('one', { [`${SEED}ttl`]: '5s' }, Node)
    await harness.clock.advance(7_000)
    expect(harness.object('one', Node)).toBeUndefined()
  })

  test('a dry run keeps the object and reports the expiry once', async () => {
    const process = await harness.start({ settings: { dryRun: true } })
    harness.create('one', { [`${SEED}ttl`]: '5s' })
    await harness.clock.advance(20_000)
    expect(harness.annotations('one')['lease-status']).toBe('Lease expired. Dry run: object is kept.')
    await process.stop()
    await harness.start({ settings: { dryRun: true } })
    await harness.clock.advance(20_000)
    expect(harness.requests('delete')).toEqual([])
    expect(harness.requests('patch')).toHaveLength(2)
    expect(harness.reasons('one')).toEqual(['LeaseStarted', 'LeaseExpired'])
  })

  test('a dry run does not report an early expiry when the local clock runs ahead', async () => {
    harness.clockOffset = 7_200_000
    await harness.start({ settings: { dryRun: true } })
    harness.create('one', { [`${SEED}ttl`]: '1h' })
    await harness.clock.advance(3_590_000)
    expect(harness.annotations('one')['lease-status']).toMatch(/^Lease active/)
    expect(harness.reasons('one')).toEqual(['LeaseStarted'])
    await harness.clock.advance(20_000)
    expect(harness.annotations('one')['lease-status']).toBe('Lease expired. Dry run: object is kept.')
    expect(harness.reasons('one')).toEqual(['LeaseStarted', 'LeaseExpired'])
  })
})

describe('the expiry warning', () => {
  test.each([
    [{}, {}, /the object is deleted then \(Background\)\. Extend the lease to keep it\.$/],
    [{ dryRun: true }, {}, /the object would be deleted then, but this is a dry run\.$/],
    [{}, { [`${SEED}on-delete-job`]: 'x' }, /the object is kept then: the cleanup job cannot be run\.$/],
    [{}, { [`${SEED}on-delete-job`]: 'x', [`${SEED}job-on-failure`]: 'delete' }, /the object is deleted then/],
  ])('the warning states what will happen: %j %j', async (settings, annotations, note) => {
    await harness.start({ settings })
    harness.create('one', { [`${SEED}ttl`]: '100s', ...annotations })
    await harness.clock.advance(95_000)
    expect(harness.expiryWarnings.map((event) => event.note)).toEqual([expect.stringMatching(note)])
  })

  test('the warning is recorded once, even if the controller restarts', async () => {
    const process = await harness.start()
    harness.create('one', { [`${SEED}ttl`]: '100s' })
    await harness.clock.advance(89_000)
    expect(harness.expiryWarnings).toEqual([])
    await harness.clock.advance(2_000)
    expect(harness.expiryWarnings).toMatchObject([
      { reason: 'LeaseExpiring', type: 'Normal', regarding: { name: 'one' } },
    ])
    await process.stop()
    await harness.start()
    await harness.clock.advance(5_000)
    expect(harness.expiryWarnings).toHaveLength(1)
  })

  test('an extended lease gets another warning', async () => {
    await harness.start()
    harness.create('one', { [`${SEED}ttl`]: '100s' })
    await harness.clock.advance(95_000)
    harness.annotate('one', { [`${SEED}extended-at`]: after(0) })
    await harness.clock.advance(95_000)
    expect(harness.expiryWarnings).toHaveLength(2)
  })
})

describe('namespaces that opt in', () => {
  const settings = { optIn: { key: 'leases', value: 'on' } }

  test('a namespace is managed exactly while it has the label', async () => {
    for (let index = 0; index < 50; index++) {
      harness.server.seed(Namespace, { metadata: { name: `n${index}` } })
      harness.server.seed(ConfigMap, {
        metadata: { name: 'one', namespace: `n${index}`, annotations: { [`${SEED}ttl`]: '60s' } },
      })
    }
    const { controller } = await harness.start({ settings })
    await harness.clock.advance(30_000)
    expect(harness.requests('patch')).toEqual([])
    for (let index = 0; index < 50; index++) {
      harness.server.seed(Namespace, { metadata: { name: `n${index}`, labels: { leases: 'on' } } })
    }
    await harness.clock.advance(1_000)
    expect(controller.activeLeases).toBe(50)
    harness.server.seed(Namespace, { metadata: { name: 'n7', labels: { leases: 'off' } } })
    await harness.clock.advance(120_000)
    expect(harness.server.objects(ConfigMap).map(({ metadata }) => metadata.namespace)).toEqual(['n7'])
  })
})

test.each([
  ['far behind', -3_600_000],
  ['behind by just the age of the object', -1_795_000],
])('an old object is not taken for a new one by a clock that is %s', async (_, ahead) => {
  await harness.start()
  harness.create('one', {})
  harness.create('other', { [`${SEED}ttl`]: '100h' })
  await harness.clock.advance(1_799_000)
  harness.clockOffset = ahead
  await harness.clock.advance(1_000)
  harness.annotate('one', { [`${SEED}ttl`]: '1h' })
  const end = after(3_600)
  await harness.clock.advance(1_000)
  expect(harness.annotations('one')['expire-at']).toBe(end)
  harness.clockOffset = 0
  await harness.clock.advance(3_598_000)
  expect(harness.object('one')).toBeDefined()
  await harness.clock.advance(3_000)
  expect(harness.object('one')).toBeUndefined()
})

test('writes slow down when another client keeps reverting them', async () => {
  await harness.start()
  harness.create('one', { [`${SEED}ttl`]: '10h' })
  for (let count = 0; count < 600; count++) {
    await harness.clock.advance(100)
    harness.annotate('one', { [`${SEED}lease-status`]: undefined })
  }
  expect(harness.requests('patch').length).toBeLessThan(20)
  await harness.clock.advance(30_000)
  expect(harness.annotations('one')['lease-status']).toMatch(/^Lease active/)
})

test('a cluster-scoped kind needs no access to namespaces', async () => {
  harness.server.intercept(({ plural }) => (plural === 'namespaces' ? refuse(403, 'Forbidden', 'no') : undefined))
  const { controller } = await harness.start({ kind: Node, settings: { optIn: { key: 'leases' } } })
  harness.create('one', { [`${SEED}ttl`]: '5s' }, Node)
  await harness.clock.advance(7_000)
  expect(controller.problem).toBeUndefined()
  expect(harness.object('one', Node)).toBeUndefined()
  expect(harness.server.requests.filter(({ plural }) => plural === 'namespaces')).toEqual([])
})

describe('problems', () => {
  test('a failing object does not delay another', async () => {
    await harness.start()
    harness.server.intercept(({ name, verb }) =>
      name.startsWith('bad') && verb === 'patch' ? refuse(500, 'InternalError', 'no') : undefined,
    )
    for (let index = 0; index < 40; index++) harness.create(`bad${index}`, { [`${SEED}ttl`]: '5s' })
    harness.create('good', { [`${SEED}ttl`]: '5s' })
    await harness.clock.advance(500)
    expect(harness.annotations('good')['expire-at']).toBeDefined()
    await harness.clock.advance(6_000)
    expect(harness.object('good')).toBeUndefined()
  })

  test.each(['patch', 'delete', 'get'] as const)(
    'a missing permission to %s is reported until it is granted',
    async (verb) => {
      const { controller } = await harness.start()
      const restore = harness.server.intercept((request) =>
        request.verb === verb ? denied(verb, 'configmaps') : undefined,
      )
      harness.create('one', { [`${SEED}ttl`]: '5s' })
      await harness.clock.advance(15_000)
      expect(controller.problem).toMatch(new RegExp(`^Not allowed to ${verb} .* grant the verb ${verb} on it`))
      expect(harness.object('one')).toBeDefined()
      restore()
      await harness.clock.advance(60_000)
      expect(controller.problem).toBeUndefined()
      expect(harness.object('one')).toBeUndefined()
    },
  )

  test('the problem names the missing permission, not the next one', async () => {
    const { controller } = await harness.start()
    harness.create('one', { [`${SEED}ttl`]: '5s' })
    await harness.clock.advance(1_000)
    harness.server.intercept(({ verb }) => (verb === 'get' ? denied(verb, 'configmaps') : undefined))
    await harness.clock.advance(15_000)
    expect(controller.problem).toMatch(/^Not allowed to get /)
  })

  test('a missing permission is forgotten with the only object that needed it', async () => {
    const { controller } = await harness.start()
    harness.server.intercept(({ verb }) => (verb === 'delete' ? denied(verb, 'configmaps') : undefined))
    harness.create('one', { [`${SEED}ttl`]: '5s' })
    await harness.clock.advance(15_000)
    expect(controller.problem).toMatch(/Not allowed to delete/)
    harness.annotate('one', { [`${SEED}ttl`]: undefined })
    await harness.clock.advance(1_000)
    expect(controller.problem).toBeUndefined()
  })

  test.each([
    'admission webhook "guard.example.dev" denied the request: not on a Monday',
    'configmaps "one" is forbidden: exceeded quota: small, requested: count/configmaps=1',
  ])('a refusal of one object is not a missing permission: %s', async (message) => {
    const { controller } = await harness.start()
    const restore = harness.server.intercept(({ verb }) =>
      verb === 'delete' ? refuse(403, 'Forbidden', message) : undefined,
    )
    harness.create('one', { [`${SEED}ttl`]: '5s' })
    await harness.clock.advance(15_000)
    expect(controller.problem).toBeUndefined()
    expect(harness.object('one')).toBeDefined()
    restore()
    await harness.clock.advance(60_000)
    expect(harness.object('one')).toBeUndefined()
  })

  test('an object whose annotations are full is reported by an event, counted and kept until it has space', async () => {
    const metrics = await createMetrics()
    const { controller } = await harness.start({ metrics })
    const full = 'x'.repeat(256 * 1_024 - 60)
    harness.create('full', { [`${SEED}ttl`]: '5s', full })
    harness.create('other', { [`${SEED}ttl`]: '5s' })
    await harness.clock.advance(600_000)
    expect(harness.object('other')).toBeUndefined()
    expect(harness.annotations('full')).not.toHaveProperty('expire-at')
    const reports = harness.events.filter(({ name }) => name === 'full')
    expect(reports).toEqual([
      expect.objectContaining({
        type: 'Warning',
        reason: 'LeaseRejected',
        message: expect.stringContaining('Too long'),
      }),
    ])
    expect((await metrics.expose()).text).toMatch(/^object_lease_controller_reconcile_errors_total\{[^}]*\} 1$/m)
    expect(controller.problem).toBeUndefined()
    harness.annotate('full', { full: undefined })
    await harness.clock.advance(1_000)
    // The TTL counts from the time of its first date.
    expect(Date.parse(harness.annotations('full')['expire-at'] ?? '')).toBeGreaterThan(harness.clock.now())
    await harness.clock.advance(10_000)
    expect(harness.object('full')).toBeUndefined()
  })

  test('a lease that was extended while its annotations are full is not deleted by its old date', async () => {
    await harness.start()
    harness.create('full', { [`${SEED}ttl`]: '60s', [`${SEED}extended-at`]: after(0) })
    await harness.clock.advance(1_000)
    const full = 'x'.repeat(256 * 1_024 - 500)
    harness.annotate('full', { full, [`${SEED}ttl`]: `${' '.repeat(200)}1h` })
    await harness.clock.advance(600_000)
    expect(harness.object('full')).toBeDefined()
    await harness.clock.advance(3_600_000)
    expect(harness.reasons('full')).toContain('LeaseRejected')
  })

  test('a missing permission to watch is reported', async () => {
    const restore = harness.server.intercept(({ verb }) =>
      verb === 'watch' || verb === 'list' ? refuse(403, 'Forbidden', 'no') : undefined,
    )
    const { controller } = await harness.start()
    await harness.clock.advance(5_000)
    expect(controller.problem).toMatch(/Not allowed to watch configmaps/)
    restore()
    harness.create('one', { [`${SEED}ttl`]: '5s' })
    await harness.clock.advance(60_000)
    expect(controller.problem).toBeUndefined()
    expect(harness.object('one')).toBeUndefined()
  })

  test('a failure to start is reported and retried with backoff', async () => {
    const errors: string[] = []
    const log: Logger = { ...silentLogger, error: (message) => void errors.push(message), child: () => log }
    const { controller } = await harness.start({ settings: { optIn: { key: 'a b' } }, log })
    await harness.clock.advance(60_000)
    expect(controller.problem).toMatch(/"a b" cannot be parsed/)
    expect(errors.length).toBeLessThan(20)
  })

  test('the controller waits for a kind that is not served, also after it is removed', async () => {
    const Widget = defineKind({ apiVersion: 'example.dev/v1', kind: 'Widget' })
    const crd = crdFor(Widget)
    const name = { name: crd.metadata?.name ?? '' }
    const { controller } = await harness.start({ kind: { group: 'example.dev', version: 'v1', kind: 'Widget' } })
    await harness.clock.advance(60_000)
    expect(controller.problem).toMatch(/does not serve Widget/)
    expect(harness.server.requests.filter(({ path }) => path === '/apis').length).toBeLessThan(40)
    await harness.server.client.create(CustomResourceDefinition, crd)
    await harness.clock.advance(5_000)
    harness.create('one', { [`${SEED}ttl`]: '5s' }, Widget)
    await harness.clock.advance(12_000)
    expect(controller.problem).toBeUndefined()
    expect(harness.object('one', Widget)).toBeUndefined()
    await harness.server.client.delete(CustomResourceDefinition, name)
    harness.server.dropWatches()
    await harness.clock.advance(10_000)
    expect(controller.problem).toMatch(/does not serve Widget/)
    await harness.server.client.create(CustomResourceDefinition, crd)
    await harness.clock.advance(5_000)
    harness.create('two', { [`${SEED}ttl`]: '5s' }, Widget)
    await harness.clock.advance(12_000)
    expect(harness.object('two', Widget)).toBeUndefined()
  })
})

test('metrics count each fact once', async () => {
  const metrics = await createMetrics()
  await harness.start({ metrics })
  let failures = 0
  harness.server.intercept(({ name, verb }) =>
    name === 'one' && verb === 'delete' && failures++ < 3 ? refuse(500, 'InternalError', 'no') : undefined,
  )
  harness.create('one', { [`${SEED}ttl`]: '5s' })
  harness.create('two', { [`${SEED}ttl`]: 'x' })
  harness.create('three', { [`${SEED}ttl`]: '10h' })
  await harness.clock.advance(60_000)
  const { text } = await metrics.expose()
  const value = (name: string): string | undefined =>
    new RegExp(`^object_lease_controller_${name}\\{[^}]*\\} (.*)$`, 'm').exec(text)?.[1]
  expect({
    started: value('leases_started_total'),
    expired: value('leases_expired_total'),
    invalid: value('invalid_ttl_total'),
    errors: value('reconcile_errors_total'),
    active: value('active_leases'),
    info: value('info'),
    late: value('expiry_lateness_seconds_count'),
  }).toEqual({ started: '2', expired: '1', invalid: '1', errors: '1', active: '1', info: '1', late: '1' })
})

test('the controller stops at once with many queued events and warnings', async () => {
  const process = await harness.start()
  for (let index = 0; index < 500; index++) harness.create(`n${index}`, { [`${SEED}ttl`]: '100s' })
  await harness.clock.advance(500)
  harness.create('one', { [`${SEED}ttl`]: '10s' })
  await harness.clock.advance(9_200)
  expect(harness.expiryWarnings).toHaveLength(1)
  await harness.clock.advance(81_300)
  expect(harness.expiryWarnings.length).toBeLessThan(200)
  await process.stop()
  expect(harness.events.filter(({ reason }) => reason === 'LeaseStarted')).toHaveLength(501)
  expect(harness.pendingTimers).toBe(0)
})

test('a stopped controller leaves no timer and no watch', async () => {
  const process = await harness.start()
  harness.create('one', { [`${SEED}ttl`]: '10h' })
  await harness.clock.advance(1_000)
  await process.stop()
  expect(harness.pendingTimers).toBe(0)
  expect(harness.server.openWatches).toBe(0)
})
