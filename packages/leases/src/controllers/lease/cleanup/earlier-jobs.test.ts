import { ConfigMap, Job, Namespace, Node } from '@tenure/kube/kinds'
import { refuse } from '@tenure/controlplane/testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { JOB_ANNOTATIONS } from '../../../api/annotations.ts'
import { JOB_LABELS } from '../../../api/labels.ts'
import { SEED, withJob } from '../../../testing/lease-harness.ts'
import { HELD, isHeld, CleanupHarness } from '../../../testing/cleanup-harness.ts'
import { jobSpec } from '../../../testing/objects.ts'
import type { JobSource } from './job-source.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

let harness: CleanupHarness
beforeEach(async () => {
  harness = await CleanupHarness.create()
})
afterEach(() => harness.stop())

/** A held job of an earlier process. */
function seedJob(name: string, more: Partial<JobSource> = {}, namespace = 'shop'): void {
  const source: JobSource = {
    group: '',
    version: 'v1',
    kind: 'ConfigMap',
    name: 'one',
    uid: 'of-one-that-is-gone',
    expireAt: '2026-01-01T00:01:00Z',
    attempt: 1,
    ttl: 300,
    ...more,
  }
  const labels = {
    [SEED + JOB_LABELS.isCleanup]: 'true',
    [SEED + JOB_LABELS.sourceKind]: source.kind,
    [HELD]: 'true',
  }
  const annotations = { [SEED + JOB_ANNOTATIONS.source]: JSON.stringify(source) }
  harness.server.seed(Job, { metadata: { name, namespace, labels, annotations }, spec: jobSpec })
}

/** Makes the job there is one of the version before. */
function makeAsBefore(): void {
  const { metadata, spec } = harness.firstJob
  const { name, namespace = '', labels: { [HELD]: _, ...labels } = {} } = metadata
  harness.server.unseed(Job, { name, namespace })
  if (spec) {
    // The seeded job has another uid, which a generated selector would have to match.
    const day = { ...spec, manualSelector: true, ttlSecondsAfterFinished: 86_400 }
    harness.server.seed(Job, { metadata: { name, namespace, labels }, spec: day })
  }
}

describe('cleanup jobs of an earlier process', () => {
  test('an awaited job stays held', async () => {
    const before = await harness.waiting()
    before.kill()
    await harness.start()
    await harness.clock.advance(10_000)
    expect(isHeld(harness.firstJob)).toBe(true)
    harness.finishJob(harness.firstJob, 'Complete')
    await harness.clock.advance(1_000)
    expect(harness.object('one')).toBeUndefined()
    expect(isHeld(harness.firstJob)).toBe(false)
    expect(harness.everyJob).toHaveLength(1)
  })

  test.each([
    ['that the cache has not yet', undefined],
    ['whose lease the cache has as it was', '1h'],
  ])('the current object decides about a job, also one %s', async (_, ttl) => {
    if (ttl !== undefined) harness.create('one', withJob({ ttl }))
    const gate = Promise.withResolvers<undefined>()
    harness.server.intercept(({ plural, verb }) => (plural === 'jobs' && verb === 'list' ? gate.promise : undefined))
    await harness.start()
    await harness.clock.advance(1_000)
    // From here on another is ahead of it.
    harness.server.holdWatches()
    const other = await harness.waiting()
    other.kill()
    harness.server.clearRequests()
    gate.resolve(undefined)
    await harness.clock.advance(10_000)
    expect(harness.requestsOf('get', 'configmaps').filter(({ name }) => name === 'one').length).toBeGreaterThan(0)
    expect(isHeld(harness.firstJob)).toBe(true)
    harness.server.releaseWatches()
    await harness.clock.advance(10_000)
    expect(isHeld(harness.firstJob)).toBe(true)
    harness.finishJob(harness.firstJob, 'Complete')
    await harness.clock.advance(2_000)
    expect(isHeld(harness.firstJob)).toBe(false)
    expect(harness.object('one')).toBeUndefined()
  })

  test('jobs are listed once for each annotation family', async () => {
    await harness.start()
    await harness.clock.advance(HOUR)
    expect(harness.requestsOf('list').map(({ query }) => query['labelSelector'])).toEqual(
      [SEED, 'object-lease-controller.ullberg.io/'].map(
        (prefix) => `${prefix}cleanup-job=true,${prefix}held=true,${prefix}source-kind=ConfigMap`,
      ),
    )
    expect(harness.server.requests.filter(({ plural, verb }) => plural === 'jobs' && verb !== 'list')).toEqual([])
  })

  test('many jobs are listed in pages and released a few at a time', async () => {
    const many = 1_201
    for (let index = 0; index < many; index++) seedJob(`job-${index}`)
    let atOnce = 0
    let most = 0
    harness.server.intercept(({ plural, verb }) => {
      if (plural === 'jobs' && verb === 'patch') most = Math.max(most, ++atOnce)
      return undefined
    })
    harness.server.onChange(Job, () => void atOnce--)
    harness.server.delayResponses(({ plural }) => (plural === 'jobs' ? 5 : 0))
    await harness.start()
    await harness.clock.advance(10_000)
    expect(harness.requestsOf('list')).toHaveLength(4)
    expect(harness.heldJobs).toEqual([])
    expect(most).toBeLessThanOrEqual(4)
  })

  test.each([403, 404])('a %i ends the search for jobs', async (status) => {
    harness.server.intercept(({ plural, verb }) =>
      plural === 'jobs' && verb === 'list' ? refuse(status, 'Refused', 'no') : undefined,
    )
    harness.create('one', { [`${SEED}ttl`]: '60s' })
    const { controller } = await harness.start({ log: harness.log })
    await harness.clock.advance(HOUR)
    expect(harness.object('one')).toBeUndefined()
    expect(harness.requestsOf('list')).toHaveLength(1)
    expect(harness.warnings).toEqual([])
    expect(controller.problem).toBeUndefined()
  })

  test.each([500, 410, 'drop'] as const)(
    'a list that fails with %s is logged once and retried with backoff',
    async (fault) => {
      const restore = harness.server.intercept(({ plural, verb }) => {
        if (plural !== 'jobs' || verb !== 'list') return undefined
        return fault === 'drop' ? fault : refuse(fault, 'Refused', 'no')
      })
      seedJob('old')
      harness.create('one', { [`${SEED}ttl`]: '60s' })
      const { controller } = await harness.start({ log: harness.log })
      await harness.clock.advance(61_000)
      expect(harness.object('one')).toBeUndefined()
      expect(controller.problem).toBeUndefined()
      await harness.clock.advance(HOUR)
      expect(harness.requestsOf('list').length).toBeLessThan(25)
      expect(harness.warnings).toHaveLength(1)
      restore()
      await harness.clock.advance(400_000)
      expect(isHeld(harness.firstJob)).toBe(false)
    },
  )

  test('a failed read of the object is retried', async () => {
    seedJob('old')
    const restore = harness.server.intercept(({ plural, verb }) =>
      plural === 'configmaps' && verb === 'get' ? refuse(500, 'InternalError', 'no') : undefined,
    )
    await harness.start({ log: harness.log })
    await harness.clock.advance(30_000)
    expect(isHeld(harness.firstJob)).toBe(true)
    expect(harness.warnings).toHaveLength(1)
    restore()
    await harness.clock.advance(60_000)
    expect(isHeld(harness.firstJob)).toBe(false)
  })

  test('jobs of a kind with the same name in another group are left alone', async () => {
    seedJob('other-group', { group: 'example.dev' })
    seedJob('other-version', { version: 'v1beta1' })
    await harness.start()
    await harness.clock.advance(2_000)
    const held = harness.heldJobs.map(({ metadata }) => metadata.name)
    expect(held).toEqual(['other-group'])
  })

  test('jobs of other owners are left alone', async () => {
    seedJob('no-number', { ttl: -1 })
    seedJob('rubbish')
    const rubbish = harness.jobs.find(({ metadata }) => metadata.name === 'rubbish')
    if (rubbish) {
      const annotations = { [SEED + JOB_ANNOTATIONS.source]: '{' }
      harness.server.seed(Job, { ...rubbish, metadata: { ...rubbish.metadata, annotations } })
    }
    await harness.start()
    await harness.clock.advance(2_000)
    expect(harness.heldJobs).toHaveLength(2)
  })

  test('a cluster-scoped kind and a dry run search for no jobs', async () => {
    seedJob('old')
    seedJob('node', { kind: 'Node' })
    await harness.start({ kind: Node })
    await harness.start({ settings: { dryRun: true } })
    await harness.clock.advance(2_000)
    expect(harness.server.requests.filter(({ plural }) => plural === 'jobs')).toEqual([])
  })

  test('namespaces that are no longer managed keep only the jobs that their objects need', async () => {
    const optIn = { key: 'leased', value: undefined }
    harness.server.seed(Namespace, { metadata: { name: 'shop', labels: { leased: '' } } })
    harness.create('one', withJob({ 'job-wait': 'true' }))
    const before = await harness.start({ settings: { optIn } })
    await harness.clock.advance(62_000)
    before.kill()
    harness.server.seed(Namespace, { metadata: { name: 'shop', labels: {} } })
    seedJob('old', { name: 'gone' })
    await harness.start({ settings: { optIn } })
    await harness.clock.advance(2_000)
    const stateOf = (name: RegExp): readonly boolean[] =>
      harness.jobs.filter(({ metadata }) => name.test(metadata.name)).map(isHeld)
    expect(stateOf(/^old$/)).toEqual([false])
    expect(stateOf(/^lease-cleanup-one-/)).toEqual([true])
    harness.server.unseed(ConfigMap, { name: 'one', namespace: 'shop' })
    await harness.clock.advance(2_000)
    expect(stateOf(/^lease-cleanup-one-/)).toEqual([false])
  })
})

describe('a job of an older version, with a TTL of a day', () => {
  test('an unrecorded job of an older version is found and released', async () => {
    harness.create('one', withJob({ 'job-wait': 'true' }))
    const before = await harness.start()
    const end = harness.onChange(() => {
      if (harness.jobs.length > 0) before.kill()
    })
    await harness.clock.advance(62_000)
    end()
    makeAsBefore()
    harness.finishJob(harness.firstJob, 'Complete')
    await harness.start()
    await harness.clock.advance(2_000)
    expect(harness.object('one')).toBeUndefined()
    expect(harness.firstJob.spec?.ttlSecondsAfterFinished).toBe(300)
    expect(harness.reasons('one')).not.toContain('CleanupJobCreated')
  })

  test('an awaited job of an older version is released when its end is recorded', async () => {
    const before = await harness.waiting()
    before.kill()
    makeAsBefore()
    await harness.start()
    await harness.clock.advance(2_000)
    expect(harness.firstJob.spec?.ttlSecondsAfterFinished).toBe(86_400)
    harness.finishJob(harness.firstJob, 'Complete')
    await harness.clock.advance(2_000)
    expect(harness.object('one')).toBeUndefined()
    expect(harness.firstJob.spec?.ttlSecondsAfterFinished).toBe(300)
  })

  test('an unneeded job of an older version keeps its TTL', async () => {
    const before = await harness.waiting()
    before.kill()
    makeAsBefore()
    harness.server.unseed(ConfigMap, { name: 'one', namespace: 'shop' })
    await harness.start()
    await harness.clock.advance(2_000)
    expect(harness.firstJob.spec?.ttlSecondsAfterFinished).toBe(86_400)
    harness.finishJob(harness.firstJob, 'Complete')
    await harness.clock.advance(DAY + 1_000)
    expect(harness.jobs).toEqual([])
  })
})
