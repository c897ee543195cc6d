import type { Stored } from '@tenure/kube'
import { ConfigMap, Job, Node } from '@tenure/kube/kinds'
import { createMetrics } from '@tenure/runtime'
import { refuse } from '@tenure/runtime/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { NEWER, SEED, withJob, World } from '../../../testing/lease-harness.ts'

let world: World
beforeEach(() => {
  world = new World()
  world.server.seed(ConfigMap, { metadata: { name: 'scripts', namespace: 'shop' }, data: { 'run.sh': '#!/bin/sh' } })
})
afterEach(() => world.stop())

const creates = () => world.server.requests.filter(({ plural, verb }) => plural === 'jobs' && verb === 'create')

function onlyJob(): Stored<Job> {
  expect(world.jobs).toHaveLength(1)
  return world.firstJob
}

describe('a cleanup job', () => {
  it('is made at the end of the lease, as the object asks, and not waited for', async () => {
    await world.start()
    world.create(
      'one',
      withJob({
        'job-service-account': 'cleaner',
        'job-image': 'busybox:1',
        'job-ttl': '7',
        'job-backoff-limit': '0',
        'job-env-secrets': 'a, b',
        other: '$(HOME) costs $5',
      }),
    )
    await world.clock.advance(59_000)
    expect(world.jobs).toEqual([])
    await world.clock.advance(2_000)
    expect(world.object('one')).toBeUndefined()
    const { metadata, spec } = onlyJob()
    expect(metadata).toMatchObject({
      namespace: 'shop',
      name: expect.stringMatching(/^lease-cleanup-one-[0-9a-f]{10}$/),
      generateName: 'lease-cleanup-one-',
      labels: { [`${SEED}source-kind`]: 'ConfigMap', [`${SEED}source-name`]: 'one', [`${SEED}cleanup-job`]: 'true' },
    })
    expect(spec).toMatchObject({ backoffLimit: 0, ttlSecondsAfterFinished: 7 })
    expect(metadata).not.toHaveProperty('finalizers')
    expect(metadata).not.toHaveProperty('ownerReferences')
    expect(spec).not.toHaveProperty('activeDeadlineSeconds')
    const pod = spec?.template.spec
    expect(pod).toMatchObject({
      serviceAccountName: 'cleaner',
      restartPolicy: 'Never',
      volumes: [
        {
          name: 'script',
          configMap: { name: 'scripts', defaultMode: 0o755, items: [{ key: 'run.sh', path: 'cleanup-script' }] },
        },
      ],
    })
    const [container] = pod?.containers ?? []
    expect(container).toMatchObject({
      image: 'busybox:1',
      command: ['/scripts/cleanup-script'],
      envFrom: [{ secretRef: { name: 'a' } }, { secretRef: { name: 'b' } }],
      volumeMounts: [{ name: 'script', mountPath: '/scripts', readOnly: true }],
    })
    const environment = Object.fromEntries((container?.env ?? []).map(({ name, value }) => [name, value]))
    expect(environment).toMatchObject({
      OBJECT_NAME: 'one',
      OBJECT_NAMESPACE: 'shop',
      OBJECT_KIND: 'ConfigMap',
      OBJECT_GROUP: '',
      OBJECT_VERSION: 'v1',
      OBJECT_UID: expect.any(String),
      OBJECT_RESOURCE_VERSION: expect.any(String),
      LEASE_STARTED_AT: '2026-01-01T00:00:00Z',
      LEASE_EXPIRED_AT: '2026-01-01T00:01:00Z',
      OBJECT_LABELS: '{}',
    })
    // What looks like a reference to a variable is none.
    expect(environment['OBJECT_ANNOTATIONS']).toContain('$$(HOME) costs $$5')
    expect(world.reasons('one')).toEqual(['LeaseStarted', 'CleanupJobCreated', 'LeaseExpired'])
  })

  it('has defaults, and carries no copy of the object that kubectl left on it', async () => {
    await world.start()
    const annotations = { ...withJob({}, NEWER), 'kubectl.kubernetes.io/last-applied-configuration': '{"secret":1}' }
    world.create(`${'long.name-'.repeat(12)}x`, annotations)
    await world.clock.advance(63_000)
    const { metadata, spec } = onlyJob()
    expect(metadata.name.length).toBeLessThanOrEqual(63)
    expect(metadata.labels).toMatchObject({ [`${NEWER}cleanup-job`]: 'true' })
    expect(spec).toMatchObject({ backoffLimit: 3, ttlSecondsAfterFinished: 300 })
    expect(spec?.template.spec).toMatchObject({
      serviceAccountName: 'default',
      containers: [{ image: 'bitnami/kubectl:latest' }],
    })
    expect(JSON.stringify(spec)).not.toContain('secret\\"')
  })

  it('is waited for without taking a worker', async () => {
    await world.start({ concurrency: 1 })
    world.create('slow', withJob({ 'job-wait': 'true', 'job-timeout': '1h' }))
    await world.clock.advance(62_000)
    expect(world.notes('slow')['lease-status']).toMatch(/^Lease expired\. Waiting for cleanup job lease-cleanup-slow-/)
    world.create('quick', { [`${SEED}ttl`]: '5s' })
    await world.clock.advance(7_000)
    expect(world.object('quick')).toBeUndefined()
    world.server.clearRequests()
    await world.clock.advance(30_000)
    expect(world.server.requests.filter(({ verb }) => verb !== 'watch')).toEqual([])
    world.finishJob(onlyJob(), 'Complete')
    await world.clock.advance(100)
    expect(world.object('slow')).toBeUndefined()
    expect(world.reasons('slow')).toEqual(['LeaseStarted', 'CleanupJobCreated', 'CleanupJobCompleted', 'LeaseExpired'])
  })

  it('that is removed as soon as it has ended has ended all the same', async () => {
    await world.start()
    world.create('one', withJob({ 'job-wait': 'true', 'job-ttl': '0' }))
    await world.clock.advance(62_000)
    const job = onlyJob()
    world.finishJob(job, 'Complete')
    world.server.unseed(Job, { name: job.metadata.name, namespace: 'shop' })
    await world.clock.advance(1_000)
    expect(world.object('one')).toBeUndefined()
    expect(world.reasons('one')).toContain('CleanupJobCompleted')
    expect(creates()).toHaveLength(1)
  })

  it('that somebody removes before it has ended is made again', async () => {
    await world.start()
    world.create('one', withJob({ 'job-wait': 'true' }))
    await world.clock.advance(62_000)
    world.server.unseed(Job, { name: onlyJob().metadata.name, namespace: 'shop' })
    await world.clock.advance(1_000)
    expect(world.notes('one')['lease-status']).toMatch(/it is gone, and its result is unknown\. Object is kept/)
    await world.clock.advance(12_000)
    expect(world.jobs).toHaveLength(1)
    expect(creates()).toHaveLength(2)
  })

  it('is made once by a process whose clock is behind that of the one before it', async () => {
    world.create('one', withJob({ 'job-wait': 'true' }))
    const before = await world.start()
    await world.clock.advance(62_000)
    before.kill()
    world.ahead = -30_000
    world.server.clearRequests()
    await world.start()
    await world.clock.advance(40_000)
    expect(world.notes('one')).toHaveProperty('cleanup-job-record')
    world.finishJob(onlyJob(), 'Complete')
    await world.clock.advance(2_000)
    expect(world.object('one')).toBeUndefined()
    expect(creates()).toEqual([])
  })

  it('that fails keeps the object, says so, and is tried again later', async () => {
    await world.start()
    world.create('one', withJob({ 'job-wait': 'true' }))
    await world.clock.advance(62_000)
    world.finishJob(onlyJob(), 'Failed', 'BackoffLimitExceeded')
    await world.clock.advance(1_000)
    expect(world.notes('one')['lease-status']).toMatch(
      /^Lease expired\. The cleanup job lease-cleanup-one-\w+ failed: BackoffLimitExceeded\. Object is kept; next try at .*Z UTC\.$/,
    )
    expect(world.jobs).toHaveLength(1)
    await world.clock.advance(12_000)
    expect(world.jobs).toHaveLength(2)
    const second = world.jobs.find(({ status }) => !status)
    if (second) world.finishJob(second, 'Complete')
    await world.clock.advance(1_000)
    expect(world.object('one')).toBeUndefined()
    expect(world.reasons('one')).toEqual([
      'LeaseStarted',
      'CleanupJobCreated',
      'CleanupJobFailed',
      'CleanupJobCreated',
      'CleanupJobCompleted',
      'LeaseExpired',
    ])
  })

  it('that takes too long keeps the object', async () => {
    await world.start()
    world.create('one', withJob({ 'job-wait': 'true', 'job-timeout': '30s' }))
    await world.clock.advance(62_000)
    expect(onlyJob().spec?.activeDeadlineSeconds).toBe(30)
    world.finishJob(onlyJob(), 'Failed', 'DeadlineExceeded')
    await world.clock.advance(1_000)
    expect(world.notes('one')['lease-status']).toMatch(/did not finish within 30 s\. Object is kept/)
    expect(world.reasons('one')).toContain('CleanupJobTimeout')
  })

  it('that nobody ends is given up by our own clock', async () => {
    await world.start()
    world.create('one', withJob({ 'job-wait': 'true', 'job-timeout': '30s' }))
    await world.clock.advance(62_000)
    await world.clock.advance(95_000)
    expect(world.reasons('one')).toContain('CleanupJobTimeout')
    expect(world.object('one')).toBeDefined()
  })

  it.each(['keep', 'delete'])('is not given up by a clock that runs ahead, and then %s', async (onFailure) => {
    world.ahead = 3_600_000
    await world.start()
    world.create('one', withJob({ 'job-wait': 'true', 'job-on-failure': onFailure }))
    await world.clock.advance(62_000)
    const job = onlyJob()
    await world.clock.advance(120_000)
    expect(world.reasons('one')).toEqual(['LeaseStarted', 'CleanupJobCreated'])
    expect(world.everyJob).toHaveLength(1)
    world.finishJob(job, 'Complete')
    await world.clock.advance(2_000)
    expect(world.object('one')).toBeUndefined()
  })

  it('is tried again after as long as it says by a clock that runs ahead', async () => {
    world.ahead = 3_600_000
    await world.start()
    world.create('one', withJob({ 'job-wait': 'true' }))
    await world.clock.advance(62_000)
    world.finishJob(onlyJob(), 'Failed', 'BackoffLimitExceeded')
    await world.clock.advance(1_000)
    const failedAt = world.clock.now()
    const [, retryAt = ''] = /next try at (\S+) UTC/.exec(world.notes('one')['lease-status'] ?? '') ?? []
    expect(Date.parse(retryAt) - failedAt).toBeLessThanOrEqual(10_000)
    await world.clock.advance(12_000)
    expect(world.everyJob).toHaveLength(2)
  })

  it('that was given up and goes on is waited for: another beside it would do the same work twice', async () => {
    await world.start()
    world.create('one', withJob({ 'job-wait': 'true', 'job-timeout': '30s' }))
    await world.clock.advance(62_000)
    const job = onlyJob()
    await world.clock.advance(3_600_000)
    expect(world.reasons('one')).toEqual(['LeaseStarted', 'CleanupJobCreated', 'CleanupJobTimeout'])
    expect(world.everyJob).toHaveLength(1)
    world.finishJob(job, 'Complete')
    await world.clock.advance(2_000)
    expect(world.object('one')).toBeUndefined()
    expect(world.everyJob).toHaveLength(1)
    expect(world.reasons('one')).toContain('CleanupJobCompleted')
  })

  it('that was given up and succeeds while nobody is there is not made again', async () => {
    const before = await world.start()
    world.create('one', withJob({ 'job-wait': 'true', 'job-timeout': '30s', 'job-ttl': '0' }))
    await world.clock.advance(62_000)
    const job = onlyJob()
    await world.clock.advance(120_000)
    expect(world.reasons('one')).toContain('CleanupJobTimeout')
    before.kill()
    world.finishJob(job, 'Complete')
    await world.clock.advance(60_000)
    await world.start()
    await world.clock.advance(30_000)
    expect(world.object('one')).toBeUndefined()
    expect(world.everyJob).toHaveLength(1)
    // And then it may go.
    expect(world.jobs).toEqual([])
  })

  it('that was given up and fails in the end is made again', async () => {
    await world.start()
    world.create('one', withJob({ 'job-wait': 'true', 'job-timeout': '30s' }))
    await world.clock.advance(62_000)
    const job = onlyJob()
    await world.clock.advance(600_000)
    world.finishJob(job, 'Failed', 'DeadlineExceeded')
    await world.clock.advance(2_000)
    expect(world.everyJob).toHaveLength(2)
    expect(world.reasons('one').filter((reason) => reason === 'CleanupJobTimeout')).toHaveLength(1)
  })

  it('that fails lets the object go if it says so', async () => {
    await world.start()
    world.create('one', withJob({ 'job-wait': 'true', 'job-on-failure': 'delete' }))
    await world.clock.advance(62_000)
    world.finishJob(onlyJob(), 'Failed', 'BackoffLimitExceeded')
    await world.clock.advance(1_000)
    expect(world.object('one')).toBeUndefined()
    expect(world.reasons('one')).toEqual(['LeaseStarted', 'CleanupJobCreated', 'CleanupJobFailed', 'LeaseExpired'])
  })

  it('whose object was extended meanwhile has run, and the object is kept; the next end has its own', async () => {
    await world.start()
    world.create('one', withJob({ 'job-wait': 'true' }))
    await world.clock.advance(62_000)
    const first = onlyJob()
    world.annotate('one', { [`${SEED}extended-at`]: new Date(world.clock.now()).toISOString() })
    await world.clock.advance(1_000)
    expect(world.notes('one')['lease-status']).toMatch(/^Lease active/)
    expect(world.notes('one')).not.toHaveProperty('cleanup-job-record')
    world.finishJob(first, 'Complete')
    await world.clock.advance(50_000)
    expect(world.object('one')).toBeDefined()
    await world.clock.advance(12_000)
    expect(world.jobs).toHaveLength(2)
  })

  it.each([1, 2, 3, 4, 5, 6, 7, 8])('is made once, whatever write number %i a crash comes after', async (count) => {
    world.create('one', withJob({ 'job-wait': 'true' }))
    let process = await world.start()
    let left = count
    const end = world.server.onChange(() => {
      if (--left === 0) process.kill()
    })
    await world.clock.advance(62_000)
    process.kill()
    end()
    process = await world.start()
    await world.clock.advance(62_000)
    world.finishJob(onlyJob(), 'Complete')
    await world.clock.advance(2_000)
    expect(world.object('one')).toBeUndefined()
    expect(world.jobs).toHaveLength(1)
    expect(creates().filter(({ name }) => name !== onlyJob().metadata.name && name !== '')).toEqual([])
  })

  it('that was made and whose answer was lost is not made again, even if it is long gone', async () => {
    await world.start()
    world.server.intercept(({ plural, verb }) =>
      plural === 'configmaps' && verb === 'delete' ? refuse(500, 'InternalError', 'no') : undefined,
    )
    world.create('one', withJob())
    await world.clock.advance(62_000)
    const job = onlyJob()
    world.server.unseed(Job, { name: job.metadata.name, namespace: 'shop' })
    await world.clock.advance(120_000)
    expect(world.jobs).toEqual([])
    expect(creates()).toHaveLength(1)
  })
})

describe('a job that cannot be run', () => {
  it('is told when the lease starts, keeps the object, and is run once it is mended', async () => {
    await world.start()
    world.create('one', withJob({ 'on-delete-job': 'scripts' }))
    await world.clock.advance(1_000)
    expect(world.reasons('one')).toContain('CleanupJobConfigInvalid')
    await world.clock.advance(70_000)
    expect(world.notes('one')['lease-status']).toMatch(
      /^Lease expired\. The cleanup job cannot be run: on-delete-job must be .*Object is kept\.$/,
    )
    world.annotate('one', { [`${SEED}on-delete-job`]: 'scripts/run.sh' })
    await world.clock.advance(2_000)
    expect(world.object('one')).toBeUndefined()
    expect(world.jobs).toHaveLength(1)
  })

  it.each([
    ['missing/run.sh', /there is no ConfigMap missing/],
    ['scripts/other.sh', /the ConfigMap scripts has no key other\.sh/],
  ])('because of %s keeps the object, and is tried again', async (target, problem) => {
    await world.start()
    world.create('one', withJob({ 'on-delete-job': target }))
    await world.clock.advance(63_000)
    expect(world.notes('one')['lease-status']).toMatch(problem)
    expect(world.reasons('one')).toContain('CleanupJobConfigInvalid')
    expect(world.jobs).toEqual([])
    const [name = '', key = ''] = target.split('/')
    world.server.seed(ConfigMap, { metadata: { name, namespace: 'shop' }, data: { [key]: '' } })
    await world.clock.advance(70_000)
    expect(world.object('one')).toBeUndefined()
    expect(world.jobs).toHaveLength(1)
  })

  it.each([
    [403, 'jobs.batch "x" is forbidden: exceeded quota: small, requested: count/jobs.batch=1'],
    [400, 'admission webhook "guard.example.dev" denied the request: no jobs on a Monday'],
    [422, 'Job.batch "x" is invalid: spec: no'],
  ])(
    'because the server will not have it, with %i, keeps the object, says so, and is tried again',
    async (code, why) => {
      const { keeper } = await world.start()
      const restore = world.server.intercept(({ plural, verb }) =>
        plural === 'jobs' && verb === 'create' ? refuse(code, 'Refused', why) : undefined,
      )
      world.create('one', withJob())
      await world.clock.advance(63_000)
      expect(world.notes('one')['lease-status']).toContain(`Lease expired. The cleanup job cannot be run: ${why}.`)
      expect(keeper.problem).toBeUndefined()
      restore()
      await world.clock.advance(60_000)
      expect(world.object('one')).toBeUndefined()
      expect(world.jobs).toHaveLength(1)
    },
  )

  it.each([
    ['the script is gone', () => world.server.unseed(ConfigMap, { name: 'scripts', namespace: 'shop' })],
    [
      'the server would not have another',
      () =>
        world.server.intercept(({ plural, verb }) =>
          plural === 'jobs' && verb === 'create'
            ? refuse(403, 'Forbidden', 'jobs.batch "x" is forbidden: exceeded quota: small')
            : undefined,
        ),
    ],
  ])('has been run if it is there, although %s', async (_, change) => {
    world.create('one', withJob({ 'job-wait': 'true' }))
    const before = await world.start()
    world.server.onChange(() => {
      if (world.jobs.length > 0) before.kill()
    })
    await world.clock.advance(62_000)
    world.finishJob(onlyJob(), 'Complete')
    change()
    await world.start()
    await world.clock.advance(2_000)
    expect(world.object('one')).toBeUndefined()
    expect(world.reasons('one')).toContain('CleanupJobCompleted')
    expect(world.everyJob).toHaveLength(1)
  })

  it('because we may not make jobs is a problem until we may', async () => {
    const { keeper } = await world.start()
    const restore = world.server.intercept(({ plural, verb }) =>
      plural === 'jobs' && verb === 'create' ? refuse(403, 'Forbidden', 'no') : undefined,
    )
    world.create('one', withJob())
    world.create('two', { [`${SEED}ttl`]: '60s' })
    await world.clock.advance(70_000)
    expect(keeper.problem).toMatch(/Not allowed to create jobs\.batch\/v1/)
    expect(world.object('one')).toBeDefined()
    expect(world.object('two')).toBeUndefined()
    await world.clock.advance(300_000)
    expect(world.notes('one')['lease-status']).toBe(
      'Lease expired. The cleanup job cannot be run: the lease controller may not create Jobs. Object is kept.',
    )
    expect(world.reasons('one')).toEqual(['LeaseStarted', 'CleanupJobConfigInvalid'])
    expect(world.requests('patch').filter(({ name }) => name === 'one')).toHaveLength(2)
    restore()
    await world.clock.advance(60_000)
    expect(world.object('one')).toBeUndefined()
    expect(keeper.problem).toBeUndefined()
  })

  it('because the object is in no namespace is told', async () => {
    await world.start({ kind: Node })
    world.create('one', withJob(), Node)
    await world.clock.advance(63_000)
    expect(world.notes('one', Node)['lease-status']).toMatch(/this kind has none/)
    expect(world.object('one', Node)).toBeDefined()
  })

  it('in a dry run is not run', async () => {
    await world.start({ settings: { dryRun: true } })
    world.create('one', withJob())
    await world.clock.advance(70_000)
    expect(world.jobs).toEqual([])
    expect(world.object('one')).toBeDefined()
  })
})

it('counts jobs once', async () => {
  const metrics = await createMetrics()
  await world.start({ metrics })
  world.create('one', withJob({ 'job-wait': 'true' }))
  await world.clock.advance(62_000)
  world.finishJob(onlyJob(), 'Failed', 'x')
  await world.clock.advance(15_000)
  const second = world.jobs.find(({ status }) => !status)
  if (second) world.finishJob(second, 'Complete')
  await world.clock.advance(5_000)
  const { text } = await metrics.expose()
  const value = (name: string): string | undefined =>
    new RegExp(`^object_lease_controller_cleanup_${name}\\{[^}]*\\} (.*)$`, 'm').exec(text)?.[1]
  expect([
    value('jobs_created_total'),
    value('jobs_failed_total'),
    value('jobs_completed_total'),
    value('job_duration_seconds_count'),
  ]).toEqual(['2', '1', '1', '2'])
})
