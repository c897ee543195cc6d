import type { Stored } from '@tenure/kube'
import { ConfigMap, Job, Node } from '@tenure/kube/kinds'
import { createMetrics } from '@tenure/runtime'
import { refuse } from '@tenure/controlplane/testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { defaultLeaseSettings } from '../../../api/types.ts'
import { denied, NEWER, SEED, withJob, LeaseHarness } from '../../../testing/lease-harness.ts'

let harness: LeaseHarness
beforeEach(async () => {
  harness = await LeaseHarness.create()
  harness.server.seed(ConfigMap, { metadata: { name: 'scripts', namespace: 'shop' }, data: { 'run.sh': '#!/bin/sh' } })
})
afterEach(() => harness.stop())

const creates = () => harness.server.requests.filter(({ plural, verb }) => plural === 'jobs' && verb === 'create')

function onlyJob(): Stored<Job> {
  expect(harness.jobs).toHaveLength(1)
  return harness.firstJob
}

describe('a cleanup job', () => {
  test('a job is created at the expiry as the object asks, without waiting', async () => {
    await harness.start({ settings: { cleanup: { ...defaultLeaseSettings.cleanup, policy: 'any' } } })
    harness.create(
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
    await harness.clock.advance(59_000)
    expect(harness.jobs).toEqual([])
    await harness.clock.advance(2_000)
    expect(harness.object('one')).toBeUndefined()
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
    const environment = Object.fromEntries((container?.env ?? []).map(({ name, value = '' }) => [name, value]))
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
    // A text that looks like a variable reference stays literal.
    expect(environment['OBJECT_ANNOTATIONS']).toContain('$$(HOME) costs $$5')
    expect(harness.reasons('one')).toEqual(['LeaseStarted', 'CleanupJobCreated', 'LeaseExpired'])
  })

  test('a job has defaults and does not contain the last applied configuration', async () => {
    await harness.start()
    const annotations = { ...withJob({}, NEWER), 'kubectl.kubernetes.io/last-applied-configuration': '{"secret":1}' }
    harness.create(`${'long.name-'.repeat(12)}x`, annotations)
    await harness.clock.advance(63_000)
    const { metadata, spec } = onlyJob()
    expect(metadata.name.length).toBeLessThanOrEqual(63)
    expect(metadata.labels).toMatchObject({ [`${NEWER}cleanup-job`]: 'true' })
    expect(spec).toMatchObject({ backoffLimit: 3, ttlSecondsAfterFinished: 300 })
    expect(spec?.template.spec).toMatchObject({
      serviceAccountName: 'default',
      containers: [{ image: 'tenure-cleanup:latest', imagePullPolicy: 'IfNotPresent' }],
    })
    expect(spec?.template.spec?.containers[0]).not.toHaveProperty('envFrom')
    expect(JSON.stringify(spec)).not.toContain('secret\\"')
  })

  test('waiting for a job blocks no worker', async () => {
    await harness.start({ concurrency: 1 })
    harness.create('slow', withJob({ 'job-wait': 'true', 'job-timeout': '1h' }))
    await harness.clock.advance(62_000)
    expect(harness.annotations('slow')['lease-status']).toMatch(
      /^Lease expired\. Waiting for cleanup job lease-cleanup-slow-/,
    )
    harness.create('quick', { [`${SEED}ttl`]: '5s' })
    await harness.clock.advance(7_000)
    expect(harness.object('quick')).toBeUndefined()
    harness.server.clearRequests()
    await harness.clock.advance(30_000)
    expect(harness.server.requests.filter(({ verb }) => verb !== 'watch')).toEqual([])
    harness.finishJob(onlyJob(), 'Complete')
    await harness.clock.advance(100)
    expect(harness.object('slow')).toBeUndefined()
    expect(harness.reasons('slow')).toEqual([
      'LeaseStarted',
      'CleanupJobCreated',
      'CleanupJobCompleted',
      'LeaseExpired',
    ])
  })

  test('a job that is removed right after its end counts as finished', async () => {
    await harness.start()
    harness.create('one', withJob({ 'job-wait': 'true', 'job-ttl': '0' }))
    await harness.clock.advance(62_000)
    const job = onlyJob()
    harness.finishJob(job, 'Complete')
    harness.server.unseed(Job, { name: job.metadata.name, namespace: 'shop' })
    await harness.clock.advance(1_000)
    expect(harness.object('one')).toBeUndefined()
    expect(harness.reasons('one')).toContain('CleanupJobCompleted')
    expect(creates()).toHaveLength(1)
  })

  test('a job that is deleted before its end is created again', async () => {
    await harness.start()
    harness.create('one', withJob({ 'job-wait': 'true' }))
    await harness.clock.advance(62_000)
    harness.server.unseed(Job, { name: onlyJob().metadata.name, namespace: 'shop' })
    await harness.clock.advance(1_000)
    expect(harness.annotations('one')['lease-status']).toMatch(/it is gone, and its result is unknown\. Object is kept/)
    await harness.clock.advance(12_000)
    expect(harness.jobs).toHaveLength(1)
    expect(creates()).toHaveLength(2)
  })

  test('a process with a slow clock does not create the job again', async () => {
    harness.create('one', withJob({ 'job-wait': 'true' }))
    const before = await harness.start()
    await harness.clock.advance(62_000)
    before.kill()
    harness.clockOffset = -30_000
    harness.server.clearRequests()
    await harness.start()
    await harness.clock.advance(40_000)
    expect(harness.annotations('one')).toHaveProperty('cleanup-job-record')
    harness.finishJob(onlyJob(), 'Complete')
    await harness.clock.advance(2_000)
    expect(harness.object('one')).toBeUndefined()
    expect(creates()).toEqual([])
  })

  test('a failed job keeps the object, is reported and retried', async () => {
    await harness.start()
    harness.create('one', withJob({ 'job-wait': 'true' }))
    await harness.clock.advance(62_000)
    harness.finishJob(onlyJob(), 'Failed', 'BackoffLimitExceeded')
    await harness.clock.advance(1_000)
    expect(harness.annotations('one')['lease-status']).toMatch(
      /^Lease expired\. The cleanup job lease-cleanup-one-\w+ failed: BackoffLimitExceeded\. Object is kept; next try at .*Z UTC\.$/,
    )
    expect(harness.jobs).toHaveLength(1)
    await harness.clock.advance(12_000)
    expect(harness.jobs).toHaveLength(2)
    const second = harness.jobs.find(({ status }) => !status?.conditions)
    if (second) harness.finishJob(second, 'Complete')
    await harness.clock.advance(1_000)
    expect(harness.object('one')).toBeUndefined()
    expect(harness.reasons('one')).toEqual([
      'LeaseStarted',
      'CleanupJobCreated',
      'CleanupJobFailed',
      'CleanupJobCreated',
      'CleanupJobCompleted',
      'LeaseExpired',
    ])
  })

  test('a job that times out keeps the object', async () => {
    await harness.start()
    harness.create('one', withJob({ 'job-wait': 'true', 'job-timeout': '30s' }))
    await harness.clock.advance(62_000)
    expect(onlyJob().spec?.activeDeadlineSeconds).toBe(30)
    harness.finishJob(onlyJob(), 'Failed', 'DeadlineExceeded')
    await harness.clock.advance(1_000)
    expect(harness.annotations('one')['lease-status']).toMatch(/did not finish within 30 s\. Object is kept/)
    expect(harness.reasons('one')).toContain('CleanupJobTimeout')
  })

  test('a job without an end times out by the clock of the controller', async () => {
    await harness.start()
    harness.create('one', withJob({ 'job-wait': 'true', 'job-timeout': '30s' }))
    await harness.clock.advance(62_000)
    await harness.clock.advance(95_000)
    expect(harness.reasons('one')).toContain('CleanupJobTimeout')
    expect(harness.object('one')).toBeDefined()
  })

  test.each(['keep', 'delete'])(
    'a clock that runs ahead does not time a job out; on failure: %s',
    async (onFailure) => {
      harness.clockOffset = 3_600_000
      await harness.start()
      harness.create('one', withJob({ 'job-wait': 'true', 'job-on-failure': onFailure }))
      await harness.clock.advance(62_000)
      const job = onlyJob()
      await harness.clock.advance(120_000)
      expect(harness.reasons('one')).toEqual(['LeaseStarted', 'CleanupJobCreated'])
      expect(harness.everyJob).toHaveLength(1)
      harness.finishJob(job, 'Complete')
      await harness.clock.advance(2_000)
      expect(harness.object('one')).toBeUndefined()
    },
  )

  test('a clock that runs ahead does not shorten the retry delay', async () => {
    harness.clockOffset = 3_600_000
    await harness.start()
    harness.create('one', withJob({ 'job-wait': 'true' }))
    await harness.clock.advance(62_000)
    harness.finishJob(onlyJob(), 'Failed', 'BackoffLimitExceeded')
    await harness.clock.advance(1_000)
    const failedAt = harness.clock.now()
    const [, retryAt = ''] = /next try at (\S+) UTC/.exec(harness.annotations('one')['lease-status'] ?? '') ?? []
    expect(Date.parse(retryAt) - failedAt).toBeLessThanOrEqual(10_000)
    await harness.clock.advance(12_000)
    expect(harness.everyJob).toHaveLength(2)
  })

  test('a job that timed out but still runs blocks the retry', async () => {
    await harness.start()
    harness.create('one', withJob({ 'job-wait': 'true', 'job-timeout': '30s' }))
    await harness.clock.advance(62_000)
    const job = onlyJob()
    await harness.clock.advance(3_600_000)
    expect(harness.reasons('one')).toEqual(['LeaseStarted', 'CleanupJobCreated', 'CleanupJobTimeout'])
    expect(harness.everyJob).toHaveLength(1)
    harness.finishJob(job, 'Complete')
    await harness.clock.advance(2_000)
    expect(harness.object('one')).toBeUndefined()
    expect(harness.everyJob).toHaveLength(1)
    expect(harness.reasons('one')).toContain('CleanupJobCompleted')
  })

  test('a job that timed out and then succeeded is not created again', async () => {
    const before = await harness.start()
    harness.create('one', withJob({ 'job-wait': 'true', 'job-timeout': '30s', 'job-ttl': '0' }))
    await harness.clock.advance(62_000)
    const job = onlyJob()
    await harness.clock.advance(120_000)
    expect(harness.reasons('one')).toContain('CleanupJobTimeout')
    before.kill()
    harness.finishJob(job, 'Complete')
    await harness.clock.advance(60_000)
    await harness.start()
    await harness.clock.advance(30_000)
    expect(harness.object('one')).toBeUndefined()
    expect(harness.everyJob).toHaveLength(1)
    // And then it may go.
    expect(harness.jobs).toEqual([])
  })

  test('a job that timed out and then failed is created again', async () => {
    await harness.start()
    harness.create('one', withJob({ 'job-wait': 'true', 'job-timeout': '30s' }))
    await harness.clock.advance(62_000)
    const job = onlyJob()
    await harness.clock.advance(600_000)
    harness.finishJob(job, 'Failed', 'DeadlineExceeded')
    await harness.clock.advance(2_000)
    expect(harness.everyJob).toHaveLength(2)
    expect(harness.reasons('one').filter((reason) => reason === 'CleanupJobTimeout')).toHaveLength(1)
  })

  test('a failed job with job-on-failure delete lets the object be deleted', async () => {
    await harness.start()
    harness.create('one', withJob({ 'job-wait': 'true', 'job-on-failure': 'delete' }))
    await harness.clock.advance(62_000)
    harness.finishJob(onlyJob(), 'Failed', 'BackoffLimitExceeded')
    await harness.clock.advance(1_000)
    expect(harness.object('one')).toBeUndefined()
    expect(harness.reasons('one')).toEqual(['LeaseStarted', 'CleanupJobCreated', 'CleanupJobFailed', 'LeaseExpired'])
  })

  test('an object that is extended while its job runs is kept, and the next expiry has its own job', async () => {
    await harness.start()
    harness.create('one', withJob({ 'job-wait': 'true' }))
    await harness.clock.advance(62_000)
    const first = onlyJob()
    harness.annotate('one', { [`${SEED}extended-at`]: new Date(harness.clock.now()).toISOString() })
    await harness.clock.advance(1_000)
    expect(harness.annotations('one')['lease-status']).toMatch(/^Lease active/)
    expect(harness.annotations('one')).not.toHaveProperty('cleanup-job-record')
    harness.finishJob(first, 'Complete')
    await harness.clock.advance(50_000)
    expect(harness.object('one')).toBeDefined()
    await harness.clock.advance(12_000)
    expect(harness.jobs).toHaveLength(2)
  })

  test.each([1, 2, 3, 4, 5, 6, 7, 8])('a crash after write number %i does not create a second job', async (count) => {
    harness.create('one', withJob({ 'job-wait': 'true' }))
    let process = await harness.start()
    let left = count
    const end = harness.onChange(() => {
      if (--left === 0) process.kill()
    })
    await harness.clock.advance(62_000)
    process.kill()
    end()
    process = await harness.start()
    await harness.clock.advance(62_000)
    harness.finishJob(onlyJob(), 'Complete')
    await harness.clock.advance(2_000)
    expect(harness.object('one')).toBeUndefined()
    expect(harness.jobs).toHaveLength(1)
    expect(creates().filter(({ name }) => name !== onlyJob().metadata.name && name !== '')).toEqual([])
  })

  test('a job whose create response was lost is not created again', async () => {
    await harness.start()
    harness.server.intercept(({ plural, verb }) =>
      plural === 'configmaps' && verb === 'delete' ? refuse(500, 'InternalError', 'no') : undefined,
    )
    harness.create('one', withJob())
    await harness.clock.advance(62_000)
    const job = onlyJob()
    harness.server.unseed(Job, { name: job.metadata.name, namespace: 'shop' })
    await harness.clock.advance(120_000)
    expect(harness.jobs).toEqual([])
    expect(creates()).toHaveLength(1)
  })
})

describe('a job that cannot be run', () => {
  test('an invalid job is reported at the start, keeps the object, and runs once it is corrected', async () => {
    await harness.start()
    harness.create('one', withJob({ 'on-delete-job': 'scripts' }))
    await harness.clock.advance(1_000)
    expect(harness.reasons('one')).toContain('CleanupJobConfigInvalid')
    await harness.clock.advance(70_000)
    expect(harness.annotations('one')['lease-status']).toMatch(
      /^Lease expired\. The cleanup job cannot be run: on-delete-job must be .*Object is kept\.$/,
    )
    harness.annotate('one', { [`${SEED}on-delete-job`]: 'scripts/run.sh' })
    await harness.clock.advance(2_000)
    expect(harness.object('one')).toBeUndefined()
    expect(harness.jobs).toHaveLength(1)
  })

  test.each([
    ['missing/run.sh', /there is no ConfigMap missing/],
    ['scripts/other.sh', /the ConfigMap scripts has no key other\.sh/],
  ])('a job with %s keeps the object and is retried', async (target, problem) => {
    await harness.start()
    harness.create('one', withJob({ 'on-delete-job': target }))
    await harness.clock.advance(63_000)
    expect(harness.annotations('one')['lease-status']).toMatch(problem)
    expect(harness.reasons('one')).toContain('CleanupJobConfigInvalid')
    expect(harness.jobs).toEqual([])
    const [name = '', key = ''] = target.split('/')
    harness.server.seed(ConfigMap, { metadata: { name, namespace: 'shop' }, data: { [key]: '' } })
    await harness.clock.advance(70_000)
    expect(harness.object('one')).toBeUndefined()
    expect(harness.jobs).toHaveLength(1)
  })

  test.each([
    [403, 'jobs.batch "x" is forbidden: exceeded quota: small, requested: count/jobs.batch=1'],
    [400, 'admission webhook "guard.example.dev" denied the request: no jobs on a Monday'],
    [422, 'Job.batch "x" is invalid: spec: no'],
  ])('a job that the server refuses with %i keeps the object, is reported and retried', async (code, why) => {
    const { controller } = await harness.start()
    const restore = harness.server.intercept(({ plural, verb }) =>
      plural === 'jobs' && verb === 'create' ? refuse(code, 'Refused', why) : undefined,
    )
    harness.create('one', withJob())
    await harness.clock.advance(63_000)
    expect(harness.annotations('one')['lease-status']).toContain(
      `Lease expired. The cleanup job cannot be run: ${why}.`,
    )
    expect(controller.problem).toBeUndefined()
    restore()
    await harness.clock.advance(60_000)
    expect(harness.object('one')).toBeUndefined()
    expect(harness.jobs).toHaveLength(1)
  })

  test.each([
    ['the script is gone', () => harness.server.unseed(ConfigMap, { name: 'scripts', namespace: 'shop' })],
    [
      'the server would not have another',
      () =>
        harness.server.intercept(({ plural, verb }) =>
          plural === 'jobs' && verb === 'create'
            ? refuse(403, 'Forbidden', 'jobs.batch "x" is forbidden: exceeded quota: small')
            : undefined,
        ),
    ],
  ])('an existing job counts as run although %s', async (_, change) => {
    harness.create('one', withJob({ 'job-wait': 'true' }))
    const before = await harness.start()
    harness.onChange(() => {
      if (harness.jobs.length > 0) before.kill()
    })
    await harness.clock.advance(62_000)
    harness.finishJob(onlyJob(), 'Complete')
    change()
    await harness.start()
    await harness.clock.advance(2_000)
    expect(harness.object('one')).toBeUndefined()
    expect(harness.reasons('one')).toContain('CleanupJobCompleted')
    expect(harness.everyJob).toHaveLength(1)
  })

  test('a missing permission to create jobs is reported on its object alone, until it is granted', async () => {
    const { controller } = await harness.start()
    const restore = harness.server.intercept(({ plural, verb }) =>
      plural === 'jobs' && verb === 'create' ? denied(verb, 'jobs', 'batch') : undefined,
    )
    harness.create('one', withJob())
    harness.create('two', { [`${SEED}ttl`]: '60s' })
    await harness.clock.advance(70_000)
    expect(controller.problem).toBeUndefined()
    expect(harness.object('one')).toBeDefined()
    expect(harness.object('two')).toBeUndefined()
    await harness.clock.advance(300_000)
    expect(controller.problem).toBeUndefined()
    expect(harness.annotations('one')['lease-status']).toBe(
      'Lease expired. The cleanup job cannot be run: the lease controller may not create Jobs; set cleanup in the LeaseController. Object is kept.',
    )
    expect(harness.reasons('one')).toEqual(['LeaseStarted', 'CleanupJobConfigInvalid'])
    expect(harness.requests('patch').filter(({ name }) => name === 'one')).toHaveLength(2)
    restore()
    await harness.clock.advance(60_000)
    expect(harness.object('one')).toBeUndefined()
  })

  test('a missing permission to read an awaited job is reported on its object alone', async () => {
    const { controller } = await harness.start()
    harness.create('one', withJob({ 'job-wait': 'true' }))
    const restore = harness.server.intercept(({ plural, verb }) =>
      plural === 'jobs' && verb === 'get' ? denied(verb, 'jobs', 'batch') : undefined,
    )
    await harness.clock.advance(70_000)
    expect(harness.annotations('one')['lease-status']).toMatch(/the lease controller may not get Jobs; .* is kept\.$/)
    expect(controller.problem).toBeUndefined()
    harness.finishJob(onlyJob(), 'Complete')
    restore()
    await harness.clock.advance(60_000)
    expect(harness.object('one')).toBeUndefined()
    expect(harness.everyJob).toHaveLength(1)
  })

  test('a job on a cluster-scoped object is reported as invalid', async () => {
    await harness.start({ kind: Node })
    harness.create('one', withJob(), Node)
    await harness.clock.advance(63_000)
    expect(harness.annotations('one', Node)['lease-status']).toMatch(/this kind has none/)
    expect(harness.object('one', Node)).toBeDefined()
  })

  test('a dry run creates no job', async () => {
    await harness.start({ settings: { dryRun: true } })
    harness.create('one', withJob())
    await harness.clock.advance(70_000)
    expect(harness.jobs).toEqual([])
    expect(harness.object('one')).toBeDefined()
  })
})

test('metrics count each job once', async () => {
  const metrics = await createMetrics()
  await harness.start({ metrics })
  harness.create('one', withJob({ 'job-wait': 'true' }))
  await harness.clock.advance(62_000)
  harness.finishJob(onlyJob(), 'Failed', 'x')
  await harness.clock.advance(15_000)
  const second = harness.jobs.find(({ status }) => !status?.conditions)
  if (second) harness.finishJob(second, 'Complete')
  await harness.clock.advance(5_000)
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
