import { ConfigMap } from '@tenure/kube/kinds'
import { refuse } from '@tenure/runtime/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SEED, withJob } from '../../../testing/lease-harness.ts'
import { isHeld, JobWorld } from '../../../testing/cleanup-harness.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

let world: JobWorld
beforeEach(() => {
  world = new JobWorld()
})
afterEach(() => world.stop())

const onceMade = (change: () => void): void => {
  const end = world.server.onChange(() => {
    if (world.jobs.length === 0) return
    end()
    change()
  })
}

describe('a cleanup job stays until its outcome stands on the object, however long nobody looks:', () => {
  it.each([
    ['true', HOUR],
    ['false', HOUR],
    ['true', 30 * DAY],
    ['false', 30 * DAY],
  ])('made and not written down, job-wait %s, %i ms', async (wait, away) => {
    world.create('one', withJob({ 'job-wait': wait }))
    const before = await world.start()
    world.server.onChange(() => {
      if (world.jobs.length > 0) before.kill()
    })
    await world.clock.advance(62_000)
    world.finishJob(world.firstJob, 'Complete')
    expect(world.notes('one')).not.toHaveProperty('cleanup-job-record')
    await world.clock.advance(away)
    await world.start()
    await world.clock.advance(2_000)
    expect(world.object('one')).toBeUndefined()
    expect(world.everyJob).toHaveLength(1)
    expect(world.reasons('one').filter((reason) => reason === 'CleanupJobCreated').length).toBeLessThan(2)
    // Then it goes, as it would have long ago.
    expect(world.heldJobs).toEqual([])
    await world.clock.advance(301_000)
    expect(world.jobs).toEqual([])
  })

  it.each(['Complete', 'Failed'] as const)('waited for and ended meanwhile, %s', async (type) => {
    const before = await world.waiting()
    before.kill()
    world.finishJob(world.firstJob, type, 'x')
    await world.clock.advance(30 * DAY)
    await world.start()
    await world.clock.advance(2_000)
    expect(world.everyJob).toHaveLength(1)
    expect(world.object('one') === undefined).toBe(type === 'Complete')
    expect(world.reasons('one')).toContain(type === 'Complete' ? 'CleanupJobCompleted' : 'CleanupJobFailed')
  })

  it('tried again, and not written down', async () => {
    const before = await world.waiting()
    world.finishJob(world.firstJob, 'Failed', 'x')
    world.server.onChange(() => {
      if (world.everyJob.length > 1) before.kill()
    })
    await world.clock.advance(20_000)
    for (const job of world.jobs.filter(({ status }) => !status)) world.finishJob(job, 'Complete')
    await world.clock.advance(30 * DAY)
    await world.start()
    await world.clock.advance(2_000)
    expect(world.object('one')).toBeUndefined()
    expect(world.everyJob).toHaveLength(2)
    expect(world.heldJobs).toEqual([])
  })
})

const CHANGES: readonly (readonly [string, () => void])[] = [
  ['extended', () => world.annotate('one', { [`${SEED}extended-at`]: world.time })],
  ['given another TTL', () => world.annotate('one', { [`${SEED}ttl`]: '1h' })],
  ['without a TTL', () => world.annotate('one', { [`${SEED}ttl`]: undefined })],
  ['given a bad TTL', () => world.annotate('one', { [`${SEED}ttl`]: '1h30' })],
  ['kept forever', () => world.annotate('one', { [`${SEED}ttl`]: 'forever' })],
  ['without a job', () => world.annotate('one', { [`${SEED}on-delete-job`]: undefined })],
  ['deleted', () => world.server.unseed(ConfigMap, { name: 'one', namespace: 'shop' })],
  [
    'made anew under its name',
    () => {
      world.server.unseed(ConfigMap, { name: 'one', namespace: 'shop' })
      world.create('one', withJob({ 'job-wait': 'true', ttl: '1h' }))
    },
  ],
  [
    'being deleted',
    () => {
      const object = world.object('one')
      if (object)
        world.server.seed(ConfigMap, { ...object, metadata: { ...object.metadata, deletionTimestamp: world.time } })
    },
  ],
]

describe('a cleanup job is let go, as it is needed no more, when its object is', () => {
  it.each(CHANGES)('%s while it is waited for', async (_, change) => {
    await world.waiting({ 'job-ttl': '7' })
    const { name } = world.firstJob.metadata
    change()
    await world.clock.advance(2_000)
    expect(world.ttlOf(name)).toBe(7)
  })

  it.each(CHANGES)('%s while nobody runs', async (_, change) => {
    const before = await world.waiting({ 'job-ttl': '7' })
    const { name } = world.firstJob.metadata
    before.kill()
    change()
    await world.clock.advance(DAY)
    await world.start()
    await world.clock.advance(2_000)
    expect(world.ttlOf(name)).toBe(7)
    expect(world.warnings).toEqual([])
  })

  it.each(CHANGES)('%s just when the job is made', async (_, change) => {
    world.create('one', withJob({ 'job-wait': 'true' }))
    await world.start()
    onceMade(change)
    await world.clock.advance(64_000)
    expect(world.heldJobs).toEqual([])
    expect(world.everyJob).toHaveLength(1)
  })

  it.each(CHANGES)('%s just when the job is made, and the answer is lost', async (_, change) => {
    world.create('one', withJob({ 'job-wait': 'true' }))
    await world.start()
    world.server.intercept(({ plural, verb }) => (plural === 'jobs' && verb === 'create' ? 'drop-answer' : undefined))
    onceMade(change)
    await world.clock.advance(64_000)
    expect(world.heldJobs).toEqual([])
    expect(world.everyJob).toHaveLength(1)
  })

  it.each(CHANGES)('%s just before the job is made', async (_, change) => {
    world.create('one', withJob({ 'job-wait': 'true' }))
    await world.start()
    await world.clock.advance(58_000)
    // The read that confirms the end is answered after the cache knows better.
    world.server.delayAnswers(({ plural, verb, name }) =>
      plural === 'configmaps' && verb === 'get' && name === 'one' ? 1_000 : 0,
    )
    await world.clock.advance(2_100)
    change()
    await world.clock.advance(5_000)
    expect(world.heldJobs).toEqual([])
  })

  it('extended, with the watch behind', async () => {
    await world.waiting({ 'job-ttl': '3600' })
    const { name } = world.firstJob.metadata
    world.server.holdWatches()
    world.annotate('one', { [`${SEED}extended-at`]: world.time })
    world.finishJob(world.firstJob, 'Complete')
    await world.clock.advance(70_000)
    world.server.releaseWatches()
    await world.clock.advance(1_000)
    expect(world.ttlOf(name)).toBe(3_600)
  })
})

describe('a cleanup job that failed', () => {
  it('is let go as soon as that is written down, and the next one is not', async () => {
    await world.waiting()
    world.finishJob(world.firstJob, 'Failed', 'x')
    await world.clock.advance(1_000)
    expect(world.jobs.map(isHeld)).toEqual([false])
    await world.clock.advance(12_000)
    expect(world.jobs).toHaveLength(2)
    expect(world.heldJobs).toHaveLength(1)
  })

  it('is let go by the next process, if this one does not get to it', async () => {
    const before = await world.waiting()
    const isCut = world.server.intercept(({ plural, verb }) =>
      plural === 'jobs' && verb === 'patch' ? 'drop' : undefined,
    )
    world.finishJob(world.firstJob, 'Failed', 'x')
    await world.clock.advance(1_000)
    expect(world.notes('one')['cleanup-job-record']).toContain('failed')
    before.kill()
    isCut()
    expect(world.jobs.map(isHeld)).toEqual([true])
    await world.start()
    await world.clock.advance(1_000)
    expect(world.jobs.map(isHeld)).toEqual([false])
  })
})

describe('letting a cleanup job go', () => {
  it.each([500, 429, 'drop'] as const)('is tried again after %s, and the object does not wait', async (fault) => {
    world.create('one', withJob())
    await world.start({ log: world.log })
    const restore = world.server.intercept(({ plural, verb }) => {
      if (plural !== 'jobs' || verb !== 'patch') return undefined
      return fault === 'drop' ? fault : refuse(fault, 'Refused', 'not now')
    })
    await world.clock.advance(62_000)
    expect(world.object('one')).toBeUndefined()
    expect(isHeld(world.firstJob)).toBe(true)
    await world.clock.advance(60_000)
    expect(world.warnings.map(({ message }) => message)).toEqual(['release of cleanup job failed, retrying'])
    expect(world.asked('patch').length).toBeLessThan(10)
    restore()
    await world.clock.advance(120_000)
    expect(isHeld(world.firstJob)).toBe(false)
  })

  it('is not allowed: the job stays, that is told once, and the object goes all the same', async () => {
    world.create('one', withJob())
    const { keeper } = await world.start({ log: world.log })
    world.server.intercept(({ plural, verb }) =>
      plural === 'jobs' && verb === 'patch' ? refuse(403, 'Forbidden', 'no') : undefined,
    )
    await world.clock.advance(62_000)
    expect(world.object('one')).toBeUndefined()
    world.finishJob(world.firstJob, 'Complete')
    await world.clock.advance(HOUR)
    expect(isHeld(world.firstJob)).toBe(true)
    expect(world.asked('patch')).toHaveLength(1)
    expect(keeper.problem).toBeUndefined()
    expect(world.warnings).toMatchObject([
      {
        message: 'cleanup job not released, remove it by hand',
        facts: { namespace: 'shop', name: world.firstJob.metadata.name },
      },
    ])
  })

  it('is left to the next process, if this one stops after the outcome was written down', async () => {
    world.create('one', withJob())
    const before = await world.start()
    world.server.intercept(({ plural, verb }) => {
      if (plural === 'jobs' && verb === 'patch') before.kill()
      return undefined
    })
    world.server.intercept(({ plural, verb }) =>
      plural === 'configmaps' && verb === 'delete' ? refuse(500, 'InternalError', 'no') : undefined,
    )
    world.server.onChange(() => {
      if (world.notes('one')['cleanup-job-record'] !== undefined) before.kill()
    })
    await world.clock.advance(62_000)
    expect(world.notes('one')['cleanup-job-record']).toContain('done')
    expect(isHeld(world.firstJob)).toBe(true)
    await world.clock.advance(30 * DAY)
    await world.start()
    await world.clock.advance(1_000)
    expect(isHeld(world.firstJob)).toBe(false)
    expect(world.everyJob).toHaveLength(1)
  })
})
