import { type Kind, TenureError } from '@tenure/kube'
import { ConfigMap, Namespace, Node } from '@tenure/kube/kinds'
import { createMetrics, type Logger, silentLogger } from '@tenure/runtime'
import { refuse } from '@tenure/runtime/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { NEWER, SEED, World } from '../../testing/lease-harness.ts'

let world: World
beforeEach(() => {
  world = new World()
})
afterEach(() => world.stop())

const after = (seconds: number): string =>
  `${new Date(world.clock.now() + seconds * 1_000).toISOString().slice(0, 19)}Z`

describe('a lease', () => {
  it('costs one write and one delete', async () => {
    await world.start()
    // With the first, once a minute, our clock is compared with the server's.
    world.create('before', { [`${SEED}ttl`]: '2h' })
    await world.clock.advance(100)
    expect(world.requests().map(({ verb }) => verb)).toEqual(['get', 'patch'])
    world.server.clearRequests()
    const end = after(60)
    world.create('one', { [`${SEED}ttl`]: '60s' })
    await world.clock.advance(100)
    expect(world.notes('one')).toEqual({
      ttl: '60s',
      'expire-at': end,
      'lease-status': `Lease active. Expires at ${end} UTC.`,
    })
    await world.clock.advance(59_700)
    expect(world.object('one')).toBeDefined()
    await world.clock.advance(1_000)
    expect(world.object('one')).toBeUndefined()
    expect(world.requests().map(({ verb }) => verb)).toEqual(['patch', 'get', 'delete'])
    expect(JSON.stringify(world.requests('delete')[0]?.body)).toMatch(/uid.*resourceVersion/)
    expect(world.reasons('one')).toEqual(['LeaseStarted', 'LeaseExpired'])
  })

  it('is read and written as metadata only', async () => {
    await world.start()
    world.create('one', { [`${SEED}ttl`]: '1s' })
    await world.clock.advance(3_000)
    expect(world.object('one')).toBeUndefined()
    for (const { headers, verb } of world.server.requests.filter(({ plural }) => plural === 'configmaps')) {
      expect({ verb, accept: headers['accept'] }).toMatchObject({
        accept: expect.stringContaining('PartialObjectMetadata'),
      })
    }
  })

  it('costs nothing while it waits', async () => {
    const { keeper } = await world.start()
    world.create('one', { [`${SEED}ttl`]: '10h' })
    await world.clock.advance(1_000)
    world.server.clearRequests()
    await world.clock.advance(8 * 3_600_000)
    expect(world.server.requests.filter(({ verb }) => verb !== 'watch')).toEqual([])
    expect(keeper).toMatchObject({
      activeLeases: 1,
      nextExpiry: world.clock.now() - 8 * 3_600_000 - 1_000 + 36_000_000,
    })
  })

  it('that was extended before its end lives on, however late we learn of it', async () => {
    await world.start()
    world.create('one', { [`${SEED}ttl`]: '60s' })
    await world.clock.advance(50_000)
    world.server.holdWatches()
    world.annotate('one', { [`${SEED}extended-at`]: after(0) })
    await world.clock.advance(20_000)
    expect(world.object('one')).toBeDefined()
    expect(world.requests('delete')).toEqual([])
    world.server.releaseWatches()
    await world.clock.advance(1_000)
    expect(world.notes('one')['expire-at']).toBe(after(39))
    await world.clock.advance(45_000)
    expect(world.object('one')).toBeUndefined()
  })

  it('that ended while nobody was there is ended at the start, oldest first', async () => {
    const first = await world.start()
    world.create('second', { [`${SEED}ttl`]: '40s' })
    world.create('first', { [`${SEED}ttl`]: '30s' })
    await world.clock.advance(1_000)
    await first.stop()
    await world.clock.advance(3_600_000)
    world.server.clearRequests()
    await world.start()
    await world.clock.advance(2_000)
    expect(world.requests('delete').map(({ name }) => name)).toEqual(['first', 'second'])
    expect(world.requests('patch')).toEqual([])
  })

  it('of an object made while nobody was there starts when it is found', async () => {
    world.create('one', { [`${SEED}ttl`]: '60s' })
    await world.clock.advance(3_600_000)
    await world.start()
    await world.clock.advance(100)
    expect(world.notes('one')).toMatchObject({ 'extended-at': after(0), 'expire-at': after(60) })
  })

  it('starts by the clock of the server, not by ours', async () => {
    world.ahead = -1_800_000
    await world.start()
    world.create('one', { [`${NEWER}ttl`]: '10m' })
    await world.clock.advance(100)
    expect(world.object('one')?.metadata.annotations?.[`${NEWER}lease-start`]).toBe(after(0))
    world.ahead = 0
    await world.clock.advance(590_000)
    expect(world.object('one')).toBeDefined()
    await world.clock.advance(15_000)
    expect(world.object('one')).toBeUndefined()
  })

  it('does not end early when our clock runs ahead', async () => {
    await world.start()
    world.create('one', { [`${SEED}ttl`]: '60s' })
    await world.clock.advance(1_000)
    world.ahead = 7_200_000
    await world.clock.advance(55_000)
    expect(world.object('one')).toBeDefined()
    await world.clock.advance(10_000)
    expect(world.object('one')).toBeUndefined()
  })

  it('that is taken away leaves nothing behind, while we were down too', async () => {
    const process = await world.start()
    world.create('one', { [`${SEED}ttl`]: '60s' })
    world.create('two', { [`${SEED}ttl`]: '60s', [`${SEED}extended-at`]: after(5) })
    await world.clock.advance(1_000)
    world.annotate('one', { [`${SEED}ttl`]: undefined })
    await world.clock.advance(1_000)
    expect(world.notes('one')).toEqual({})
    await process.stop()
    world.annotate('two', { [`${SEED}ttl`]: undefined })
    await world.start()
    await world.clock.advance(100_000)
    expect(world.notes('two')).toEqual({})
    expect(world.reasons('two')).toContain('LeaseAnnotationsCleaned')
  })

  it('whose TTL is invalid is told so and kept, and mended at once', async () => {
    await world.start()
    world.create('one', { [`${SEED}ttl`]: '300y' })
    world.create('two', { [`${SEED}ttl`]: '5s' })
    await world.clock.advance(30_000)
    expect(world.notes('one')).toEqual({
      ttl: '300y',
      'lease-status': expect.stringMatching(/^Invalid TTL: .*290 years/),
    })
    expect(world.object('two')).toBeUndefined()
    world.annotate('one', { [`${SEED}ttl`]: '5s' })
    await world.clock.advance(10_000)
    expect(world.object('one')).toBeUndefined()
    expect(world.reasons('one')).toEqual(['InvalidTTL', 'LeaseStarted', 'LeaseExpired'])
  })

  it('of an object with a finalizer says why it goes, and is then left alone', async () => {
    await world.start()
    world.server.seed(ConfigMap, {
      metadata: { name: 'one', namespace: 'shop', finalizers: ['a/b'], annotations: { [`${SEED}ttl`]: '5s' } },
    })
    await world.clock.advance(7_000)
    expect(world.object('one')?.metadata.deletionTimestamp).toBeDefined()
    expect(world.notes('one')['lease-status']).toBe('Lease expired. Deleting object.')
    world.server.clearRequests()
    await world.clock.advance(600_000)
    expect(world.requests()).toEqual([])
    expect(world.reasons('one').filter((reason) => reason === 'LeaseExpired')).toHaveLength(1)
  })

  it.each(['Foreground', 'Orphan', 'Background'])('is deleted with propagation %s', async (propagation) => {
    await world.start()
    world.create('one', { [`${SEED}ttl`]: '5s', [`${SEED}propagation`]: propagation.toLowerCase() })
    await world.clock.advance(7_000)
    expect(world.requests('delete')[0]?.body).toMatchObject({ propagationPolicy: propagation })
  })

  it('of a kind without namespaces ends, too', async () => {
    await world.start({ kind: Node, settings: { optIn: { key: 'leases' } } })
    world.create('one', { [`${SEED}ttl`]: '5s' }, Node)
    await world.clock.advance(7_000)
    expect(world.object('one', Node)).toBeUndefined()
  })

  it('in a dry run is dated and kept, and said to have ended once', async () => {
    const process = await world.start({ settings: { dryRun: true } })
    world.create('one', { [`${SEED}ttl`]: '5s' })
    await world.clock.advance(20_000)
    expect(world.notes('one')['lease-status']).toBe('Lease expired. Dry run: object is kept.')
    await process.stop()
    await world.start({ settings: { dryRun: true } })
    await world.clock.advance(20_000)
    expect(world.requests('delete')).toEqual([])
    expect(world.requests('patch')).toHaveLength(2)
    expect(world.reasons('one')).toEqual(['LeaseStarted', 'LeaseExpired'])
  })

  it('in a dry run is not said to have ended early when our clock runs ahead', async () => {
    world.ahead = 7_200_000
    await world.start({ settings: { dryRun: true } })
    world.create('one', { [`${SEED}ttl`]: '1h' })
    await world.clock.advance(3_590_000)
    expect(world.notes('one')['lease-status']).toMatch(/^Lease active/)
    expect(world.reasons('one')).toEqual(['LeaseStarted'])
    await world.clock.advance(20_000)
    expect(world.notes('one')['lease-status']).toBe('Lease expired. Dry run: object is kept.')
    expect(world.reasons('one')).toEqual(['LeaseStarted', 'LeaseExpired'])
  })
})

describe('the announcement of an end', () => {
  it.each([
    [{}, {}, /the object is deleted then \(Background\)\. Extend the lease to keep it\.$/],
    [{ dryRun: true }, {}, /the object would be deleted then, but this is a dry run\.$/],
    [{}, { [`${SEED}on-delete-job`]: 'x' }, /the object is kept then: the cleanup job cannot be run\.$/],
    [{}, { [`${SEED}on-delete-job`]: 'x', [`${SEED}job-on-failure`]: 'delete' }, /the object is deleted then/],
  ])('says what will be: %j %j', async (settings, annotations, note) => {
    await world.start({ settings })
    world.create('one', { [`${SEED}ttl`]: '100s', ...annotations })
    await world.clock.advance(95_000)
    expect(world.headsUps.map((event) => event.note)).toEqual([expect.stringMatching(note)])
  })

  it('comes once, also when the keeper was restarted in between', async () => {
    const process = await world.start()
    world.create('one', { [`${SEED}ttl`]: '100s' })
    await world.clock.advance(89_000)
    expect(world.headsUps).toEqual([])
    await world.clock.advance(2_000)
    expect(world.headsUps).toMatchObject([{ reason: 'LeaseExpiring', type: 'Normal', regarding: { name: 'one' } }])
    await process.stop()
    await world.start()
    await world.clock.advance(5_000)
    expect(world.headsUps).toHaveLength(1)
  })

  it('comes again for another end', async () => {
    await world.start()
    world.create('one', { [`${SEED}ttl`]: '100s' })
    await world.clock.advance(95_000)
    world.annotate('one', { [`${SEED}extended-at`]: after(0) })
    await world.clock.advance(95_000)
    expect(world.headsUps).toHaveLength(2)
  })
})

describe('namespaces that opt in', () => {
  const settings = { optIn: { key: 'leases', value: 'on' } }

  it('are managed from the moment they do until they do not', async () => {
    for (let index = 0; index < 50; index++) {
      world.server.seed(Namespace, { metadata: { name: `n${index}` } })
      world.server.seed(ConfigMap, {
        metadata: { name: 'one', namespace: `n${index}`, annotations: { [`${SEED}ttl`]: '60s' } },
      })
    }
    const { keeper } = await world.start({ settings })
    await world.clock.advance(30_000)
    expect(world.requests('patch')).toEqual([])
    for (let index = 0; index < 50; index++) {
      world.server.seed(Namespace, { metadata: { name: `n${index}`, labels: { leases: 'on' } } })
    }
    await world.clock.advance(1_000)
    expect(keeper.activeLeases).toBe(50)
    world.server.seed(Namespace, { metadata: { name: 'n7', labels: { leases: 'off' } } })
    await world.clock.advance(120_000)
    expect(world.server.objects(ConfigMap).map(({ metadata }) => metadata.namespace)).toEqual(['n7'])
  })
})

it.each([
  ['far behind', -3_600_000],
  ['behind by just the age of the object', -1_795_000],
])('takes no old object for a new one with a clock that is %s', async (_, ahead) => {
  await world.start()
  world.create('one', {})
  world.create('other', { [`${SEED}ttl`]: '100h' })
  await world.clock.advance(1_799_000)
  world.ahead = ahead
  await world.clock.advance(1_000)
  world.annotate('one', { [`${SEED}ttl`]: '1h' })
  const end = after(3_600)
  await world.clock.advance(1_000)
  expect(world.notes('one')['expire-at']).toBe(end)
  world.ahead = 0
  await world.clock.advance(3_598_000)
  expect(world.object('one')).toBeDefined()
  await world.clock.advance(3_000)
  expect(world.object('one')).toBeUndefined()
})

it('does not write as fast as somebody takes it back', async () => {
  await world.start()
  world.create('one', { [`${SEED}ttl`]: '10h' })
  for (let count = 0; count < 600; count++) {
    await world.clock.advance(100)
    world.annotate('one', { [`${SEED}lease-status`]: undefined })
  }
  expect(world.requests('patch').length).toBeLessThan(20)
  await world.clock.advance(30_000)
  expect(world.notes('one')['lease-status']).toMatch(/^Lease active/)
})

it('asks for no namespace of a kind that is in none, which it may not be allowed to', async () => {
  world.server.intercept(({ plural }) => (plural === 'namespaces' ? refuse(403, 'Forbidden', 'no') : undefined))
  const { keeper } = await world.start({ kind: Node, settings: { optIn: { key: 'leases' } } })
  world.create('one', { [`${SEED}ttl`]: '5s' }, Node)
  await world.clock.advance(7_000)
  expect(keeper.problem).toBeUndefined()
  expect(world.object('one', Node)).toBeUndefined()
  expect(world.server.requests.filter(({ plural }) => plural === 'namespaces')).toEqual([])
})

describe('what stands in the way', () => {
  it('of one object does not delay another', async () => {
    await world.start()
    world.server.intercept(({ name, verb }) =>
      name.startsWith('bad') && verb === 'patch' ? refuse(500, 'InternalError', 'no') : undefined,
    )
    for (let index = 0; index < 40; index++) world.create(`bad${index}`, { [`${SEED}ttl`]: '5s' })
    world.create('good', { [`${SEED}ttl`]: '5s' })
    await world.clock.advance(500)
    expect(world.notes('good')['expire-at']).toBeDefined()
    await world.clock.advance(6_000)
    expect(world.object('good')).toBeUndefined()
  })

  it.each(['patch', 'delete', 'get'] as const)(
    'is told when the right to %s is missing, and passes when it returns',
    async (verb) => {
      const { keeper } = await world.start()
      const restore = world.server.intercept((request) =>
        request.verb === verb ? refuse(403, 'Forbidden', 'no') : undefined,
      )
      world.create('one', { [`${SEED}ttl`]: '5s' })
      await world.clock.advance(15_000)
      expect(keeper.problem).toMatch(new RegExp(`^Not allowed to ${verb} .* grant the verb ${verb} on it`))
      expect(world.object('one')).toBeDefined()
      restore()
      await world.clock.advance(60_000)
      expect(keeper.problem).toBeUndefined()
      expect(world.object('one')).toBeUndefined()
    },
  )

  it('is the right that is missing, not the one that would be needed next', async () => {
    const { keeper } = await world.start()
    world.create('one', { [`${SEED}ttl`]: '5s' })
    await world.clock.advance(1_000)
    world.server.intercept(({ verb }) => (verb === 'get' ? refuse(403, 'Forbidden', 'no') : undefined))
    await world.clock.advance(15_000)
    expect(keeper.problem).toMatch(/^Not allowed to get /)
  })

  it('is forgotten with the one object that it stood in the way of', async () => {
    const { keeper } = await world.start()
    world.server.intercept(({ verb }) => (verb === 'delete' ? refuse(403, 'Forbidden', 'no') : undefined))
    world.create('one', { [`${SEED}ttl`]: '5s' })
    await world.clock.advance(15_000)
    expect(keeper.problem).toMatch(/Not allowed to delete/)
    world.annotate('one', { [`${SEED}ttl`]: undefined })
    await world.clock.advance(1_000)
    expect(keeper.problem).toBeUndefined()
  })

  it.each([
    'admission webhook "guard.example.dev" denied the request: not on a Monday',
    'configmaps "one" is forbidden: exceeded quota: small, requested: count/configmaps=1',
  ])('is no missing right when only the object is refused: %s', async (message) => {
    const { keeper } = await world.start()
    const restore = world.server.intercept(({ verb }) =>
      verb === 'delete' ? refuse(403, 'Forbidden', message) : undefined,
    )
    world.create('one', { [`${SEED}ttl`]: '5s' })
    await world.clock.advance(15_000)
    expect(keeper.problem).toBeUndefined()
    expect(world.object('one')).toBeDefined()
    restore()
    await world.clock.advance(60_000)
    expect(world.object('one')).toBeUndefined()
  })

  it('is told when the kind may not be watched', async () => {
    const restore = world.server.intercept(({ verb }) =>
      verb === 'watch' || verb === 'list' ? refuse(403, 'Forbidden', 'no') : undefined,
    )
    const { keeper } = await world.start()
    await world.clock.advance(5_000)
    expect(keeper.problem).toMatch(/Not allowed to watch configmaps/)
    restore()
    world.create('one', { [`${SEED}ttl`]: '5s' })
    await world.clock.advance(60_000)
    expect(keeper.problem).toBeUndefined()
    expect(world.object('one')).toBeUndefined()
  })

  it('is whatever keeps it from beginning, told and tried less and less often', async () => {
    const errors: string[] = []
    const log: Logger = { ...silentLogger, error: (message) => void errors.push(message), child: () => log }
    const finder = { find: () => Promise.resolve(ConfigMap), invalidate: () => undefined }
    const { keeper } = await world.start({ settings: { optIn: { key: 'a b' } }, log, finder })
    await world.clock.advance(60_000)
    expect(keeper.problem).toMatch(/"a b" can ?not be read/)
    expect(errors.length).toBeLessThan(20)
  })

  it('is a kind that is not there: it is waited for, and again after it went', async () => {
    let isThere = false
    let looks = 0
    world.server.intercept(({ plural }) =>
      plural === 'configmaps' && !isThere ? refuse(404, 'NotFound', 'no such kind') : undefined,
    )
    const finder = {
      find: (): Promise<Kind> => {
        looks++
        return isThere
          ? Promise.resolve(ConfigMap)
          : Promise.reject(new TenureError('TENURE_KIND_UNKNOWN', 'not served'))
      },
      invalidate: () => undefined,
    }
    const { keeper } = await world.start({ kind: { group: '', version: 'v1', kind: 'ConfigMap' }, finder })
    await world.clock.advance(60_000)
    expect(keeper.problem).toBe('not served')
    expect(looks).toBeLessThan(30)
    isThere = true
    world.create('one', { [`${SEED}ttl`]: '5s' })
    await world.clock.advance(12_000)
    expect(keeper.problem).toBeUndefined()
    expect(world.object('one')).toBeUndefined()
    isThere = false
    world.server.dropWatches()
    await world.clock.advance(10_000)
    expect(keeper.problem).toBe('not served')
    isThere = true
    world.create('two', { [`${SEED}ttl`]: '5s' })
    await world.clock.advance(12_000)
    expect(world.object('two')).toBeUndefined()
  })
})

it('counts each fact once', async () => {
  const metrics = await createMetrics()
  await world.start({ metrics })
  let failures = 0
  world.server.intercept(({ name, verb }) =>
    name === 'one' && verb === 'delete' && failures++ < 3 ? refuse(500, 'InternalError', 'no') : undefined,
  )
  world.create('one', { [`${SEED}ttl`]: '5s' })
  world.create('two', { [`${SEED}ttl`]: 'x' })
  world.create('three', { [`${SEED}ttl`]: '10h' })
  await world.clock.advance(60_000)
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

it('stops at once, however many events and announcements wait', async () => {
  const process = await world.start()
  for (let index = 0; index < 500; index++) world.create(`n${index}`, { [`${SEED}ttl`]: '100s' })
  await world.clock.advance(500)
  world.create('one', { [`${SEED}ttl`]: '10s' })
  await world.clock.advance(9_200)
  expect(world.headsUps).toHaveLength(1)
  await world.clock.advance(81_300)
  expect(world.headsUps.length).toBeLessThan(200)
  await process.stop()
  expect(world.told.filter(({ reason }) => reason === 'LeaseStarted')).toHaveLength(501)
  expect(world.clock.pending).toBe(0)
})

it('stops clean: no timer is left', async () => {
  const process = await world.start()
  world.create('one', { [`${SEED}ttl`]: '10h' })
  await world.clock.advance(1_000)
  await process.stop()
  expect(world.clock.pending).toBe(0)
  expect(world.server.openWatches).toBe(0)
})
