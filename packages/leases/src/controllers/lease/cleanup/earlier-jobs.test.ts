import { ConfigMap, Job, Namespace, Node } from '@tenure/kube/kinds'
import { refuse } from '@tenure/runtime/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { JOB_ANNOTATIONS } from '../../../api/annotations.ts'
import { JOB_LABELS } from '../../../api/labels.ts'
import { SEED, withJob } from '../../../testing/lease-harness.ts'
import { HELD, isHeld, JobWorld } from '../../../testing/cleanup-harness.ts'
import type { JobSource } from './job-source.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

let world: JobWorld
beforeEach(() => {
  world = new JobWorld()
})
afterEach(() => world.stop())

/** A job that somebody before us made and held. */
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
  world.server.seed(Job, { metadata: { name, namespace, labels, annotations } })
}

/** Makes the job there is one of the version before. */
function makeAsBefore(): void {
  const { metadata, spec } = world.firstJob
  const { name, namespace = '', labels: { [HELD]: _, ...labels } = {} } = metadata
  world.server.unseed(Job, { name, namespace })
  if (spec) {
    const day = { ...spec, ttlSecondsAfterFinished: 86_400 }
    world.server.seed(Job, { metadata: { name, namespace, labels }, spec: day })
  }
}

describe('at the start', () => {
  it('a job that is still waited for is left alone', async () => {
    const before = await world.waiting()
    before.kill()
    await world.start()
    await world.clock.advance(10_000)
    expect(isHeld(world.firstJob)).toBe(true)
    world.finishJob(world.firstJob, 'Complete')
    await world.clock.advance(1_000)
    expect(world.object('one')).toBeUndefined()
    expect(isHeld(world.firstJob)).toBe(false)
    expect(world.everyJob).toHaveLength(1)
  })

  it.each([
    ['that the cache has not yet', undefined],
    ['whose lease the cache has as it was', '1h'],
  ])('a job is judged by the object as it is, also one %s', async (_, ttl) => {
    if (ttl !== undefined) world.create('one', withJob({ ttl }))
    const gate = Promise.withResolvers<undefined>()
    world.server.intercept(({ plural, verb }) => (plural === 'jobs' && verb === 'list' ? gate.promise : undefined))
    await world.start()
    await world.clock.advance(1_000)
    // From here on another is ahead of it.
    world.server.holdWatches()
    const other = await world.waiting()
    other.kill()
    world.server.clearRequests()
    gate.resolve(undefined)
    await world.clock.advance(10_000)
    expect(world.asked('get', 'configmaps').filter(({ name }) => name === 'one').length).toBeGreaterThan(0)
    expect(isHeld(world.firstJob)).toBe(true)
    world.server.releaseWatches()
    await world.clock.advance(10_000)
    expect(isHeld(world.firstJob)).toBe(true)
    world.finishJob(world.firstJob, 'Complete')
    await world.clock.advance(2_000)
    expect(isHeld(world.firstJob)).toBe(false)
    expect(world.object('one')).toBeUndefined()
  })

  it('jobs are listed once for each family of annotations, and never again', async () => {
    await world.start()
    await world.clock.advance(HOUR)
    expect(world.asked('list').map(({ query }) => query['labelSelector'])).toEqual(
      [SEED, 'object-lease-controller.ullberg.io/'].map(
        (prefix) => `${prefix}cleanup-job=true,${prefix}held=true,${prefix}source-kind=ConfigMap`,
      ),
    )
    expect(world.server.requests.filter(({ plural, verb }) => plural === 'jobs' && verb !== 'list')).toEqual([])
  })

  it('many jobs are found in pages, and let go a few at once', async () => {
    const many = 1_201
    for (let index = 0; index < many; index++) seedJob(`job-${index}`)
    let atOnce = 0
    let most = 0
    world.server.intercept(({ plural, verb }) => {
      if (plural === 'jobs' && verb === 'patch') most = Math.max(most, ++atOnce)
      return undefined
    })
    world.server.onChange(({ resource }) => void (resource.endsWith('jobs') && atOnce--))
    world.server.delayAnswers(({ plural }) => (plural === 'jobs' ? 5 : 0))
    await world.start()
    await world.clock.advance(10_000)
    expect(world.asked('list')).toHaveLength(4)
    expect(world.heldJobs).toEqual([])
    expect(most).toBeLessThanOrEqual(4)
  })

  it.each([403, 404])('a %i says that there is nothing to find', async (status) => {
    world.server.intercept(({ plural, verb }) =>
      plural === 'jobs' && verb === 'list' ? refuse(status, 'Refused', 'no') : undefined,
    )
    world.create('one', { [`${SEED}ttl`]: '60s' })
    const { keeper } = await world.start({ log: world.log })
    await world.clock.advance(HOUR)
    expect(world.object('one')).toBeUndefined()
    expect(world.asked('list')).toHaveLength(1)
    expect(world.warnings).toEqual([])
    expect(keeper.problem).toBeUndefined()
  })

  it.each([500, 410, 'drop'] as const)('%s is told once and tried again, less and less often', async (fault) => {
    const restore = world.server.intercept(({ plural, verb }) => {
      if (plural !== 'jobs' || verb !== 'list') return undefined
      return fault === 'drop' ? fault : refuse(fault, 'Refused', 'no')
    })
    seedJob('old')
    world.create('one', { [`${SEED}ttl`]: '60s' })
    const { keeper } = await world.start({ log: world.log })
    await world.clock.advance(61_000)
    expect(world.object('one')).toBeUndefined()
    expect(keeper.problem).toBeUndefined()
    await world.clock.advance(HOUR)
    expect(world.asked('list').length).toBeLessThan(25)
    expect(world.warnings).toHaveLength(1)
    restore()
    await world.clock.advance(400_000)
    expect(isHeld(world.firstJob)).toBe(false)
  })

  it('an object that cannot be read is asked for again', async () => {
    seedJob('old')
    const restore = world.server.intercept(({ plural, verb }) =>
      plural === 'configmaps' && verb === 'get' ? refuse(500, 'InternalError', 'no') : undefined,
    )
    await world.start({ log: world.log })
    await world.clock.advance(30_000)
    expect(isHeld(world.firstJob)).toBe(true)
    expect(world.warnings).toHaveLength(1)
    restore()
    await world.clock.advance(60_000)
    expect(isHeld(world.firstJob)).toBe(false)
  })

  it('a kind of the same name in another group has its own; another version has not', async () => {
    seedJob('other-group', { group: 'example.dev' })
    seedJob('other-version', { version: 'v1beta1' })
    await world.start()
    await world.clock.advance(2_000)
    const held = world.heldJobs.map(({ metadata }) => metadata.name)
    expect(held).toEqual(['other-group'])
  })

  it('what is not ours is left alone', async () => {
    seedJob('no-number', { ttl: -1 })
    seedJob('rubbish')
    const rubbish = world.jobs.find(({ metadata }) => metadata.name === 'rubbish')
    if (rubbish) {
      const annotations = { [SEED + JOB_ANNOTATIONS.source]: '{' }
      world.server.seed(Job, { ...rubbish, metadata: { ...rubbish.metadata, annotations } })
    }
    await world.start()
    await world.clock.advance(2_000)
    expect(world.heldJobs).toHaveLength(2)
  })

  it('kinds that are in no namespace have no jobs, and a dry run touches none', async () => {
    seedJob('old')
    seedJob('node', { kind: 'Node' })
    await world.start({ kind: Node })
    await world.start({ settings: { dryRun: true } })
    await world.clock.advance(2_000)
    expect(world.server.requests.filter(({ plural }) => plural === 'jobs')).toEqual([])
  })

  it('namespaces that are managed no more keep what their objects need, and nothing else', async () => {
    const optIn = { key: 'leased', value: undefined }
    world.server.seed(Namespace, { metadata: { name: 'shop', labels: { leased: '' } } })
    world.create('one', withJob({ 'job-wait': 'true' }))
    const before = await world.start({ settings: { optIn } })
    await world.clock.advance(62_000)
    before.kill()
    world.server.seed(Namespace, { metadata: { name: 'shop', labels: {} } })
    seedJob('old', { name: 'gone' })
    await world.start({ settings: { optIn } })
    await world.clock.advance(2_000)
    const stateOf = (name: RegExp): readonly boolean[] =>
      world.jobs.filter(({ metadata }) => name.test(metadata.name)).map(isHeld)
    expect(stateOf(/^old$/)).toEqual([false])
    expect(stateOf(/^lease-cleanup-one-/)).toEqual([true])
    world.server.unseed(ConfigMap, { name: 'one', namespace: 'shop' })
    await world.clock.advance(2_000)
    expect(stateOf(/^lease-cleanup-one-/)).toEqual([false])
  })
})

describe('a job made by a version that gave them a day', () => {
  it('and not written down is found, and let go', async () => {
    world.create('one', withJob({ 'job-wait': 'true' }))
    const before = await world.start()
    const end = world.server.onChange(() => {
      if (world.jobs.length > 0) before.kill()
    })
    await world.clock.advance(62_000)
    end()
    makeAsBefore()
    world.finishJob(world.firstJob, 'Complete')
    await world.start()
    await world.clock.advance(2_000)
    expect(world.object('one')).toBeUndefined()
    expect(world.firstJob.spec?.ttlSecondsAfterFinished).toBe(300)
    expect(world.reasons('one')).not.toContain('CleanupJobCreated')
  })

  it('and waited for is let go when its end is written down', async () => {
    const before = await world.waiting()
    before.kill()
    makeAsBefore()
    await world.start()
    await world.clock.advance(2_000)
    expect(world.firstJob.spec?.ttlSecondsAfterFinished).toBe(86_400)
    world.finishJob(world.firstJob, 'Complete')
    await world.clock.advance(2_000)
    expect(world.object('one')).toBeUndefined()
    expect(world.firstJob.spec?.ttlSecondsAfterFinished).toBe(300)
  })

  it('and needed no more is left to go by itself', async () => {
    const before = await world.waiting()
    before.kill()
    makeAsBefore()
    world.server.unseed(ConfigMap, { name: 'one', namespace: 'shop' })
    await world.start()
    await world.clock.advance(2_000)
    expect(world.firstJob.spec?.ttlSecondsAfterFinished).toBe(86_400)
    world.finishJob(world.firstJob, 'Complete')
    await world.clock.advance(DAY + 1_000)
    expect(world.jobs).toEqual([])
  })
})
