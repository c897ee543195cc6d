import { ConfigMap } from '@tenure/kube/kinds'
import { refuse } from '@tenure/controlplane/testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { SEED, withJob } from '../../../testing/lease-harness.ts'
import { isHeld, CleanupHarness } from '../../../testing/cleanup-harness.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

let harness: CleanupHarness
beforeEach(async () => {
  harness = await CleanupHarness.create()
})
afterEach(() => harness.stop())

const onceMade = (change: () => void): void => {
  const end = harness.onChange(() => {
    if (harness.jobs.length === 0) return
    end()
    change()
  })
}

describe('a cleanup job is held until its result is recorded', () => {
  test.each([
    ['true', HOUR],
    ['false', HOUR],
    ['true', 30 * DAY],
    ['false', 30 * DAY],
  ])('a job that was created but not recorded is not repeated: job-wait %s, after %i ms', async (wait, away) => {
    harness.create('one', withJob({ 'job-wait': wait }))
    const before = await harness.start()
    harness.onChange(() => {
      if (harness.jobs.length > 0) before.kill()
    })
    await harness.clock.advance(62_000)
    harness.finishJob(harness.firstJob, 'Complete')
    expect(harness.annotations('one')).not.toHaveProperty('cleanup-job-record')
    await harness.clock.advance(away)
    await harness.start()
    await harness.clock.advance(2_000)
    expect(harness.object('one')).toBeUndefined()
    expect(harness.everyJob).toHaveLength(1)
    expect(harness.reasons('one').filter((reason) => reason === 'CleanupJobCreated').length).toBeLessThan(2)
    // Then it goes, as it would have long ago.
    expect(harness.heldJobs).toEqual([])
    await harness.clock.advance(301_000)
    expect(harness.jobs).toEqual([])
  })

  test.each(['Complete', 'Failed'] as const)(
    'an awaited job that ended while no controller ran is not repeated: %s',
    async (type) => {
      const before = await harness.waiting()
      before.kill()
      harness.finishJob(harness.firstJob, type, 'x')
      await harness.clock.advance(30 * DAY)
      await harness.start()
      await harness.clock.advance(2_000)
      expect(harness.everyJob).toHaveLength(1)
      expect(harness.object('one') === undefined).toBe(type === 'Complete')
      expect(harness.reasons('one')).toContain(type === 'Complete' ? 'CleanupJobCompleted' : 'CleanupJobFailed')
    },
  )

  test('a retry that was not recorded is not repeated', async () => {
    const before = await harness.waiting()
    harness.finishJob(harness.firstJob, 'Failed', 'x')
    harness.onChange(() => {
      if (harness.everyJob.length > 1) before.kill()
    })
    await harness.clock.advance(20_000)
    for (const job of harness.jobs.filter(({ status }) => !status?.conditions)) harness.finishJob(job, 'Complete')
    await harness.clock.advance(30 * DAY)
    await harness.start()
    await harness.clock.advance(2_000)
    expect(harness.object('one')).toBeUndefined()
    expect(harness.everyJob).toHaveLength(2)
    expect(harness.heldJobs).toEqual([])
  })
})

const CHANGES: readonly (readonly [string, () => void])[] = [
  ['extended', () => harness.annotate('one', { [`${SEED}extended-at`]: harness.time })],
  ['given another TTL', () => harness.annotate('one', { [`${SEED}ttl`]: '1h' })],
  ['without a TTL', () => harness.annotate('one', { [`${SEED}ttl`]: undefined })],
  ['given a bad TTL', () => harness.annotate('one', { [`${SEED}ttl`]: '1h30' })],
  ['kept forever', () => harness.annotate('one', { [`${SEED}ttl`]: 'forever' })],
  ['without a job', () => harness.annotate('one', { [`${SEED}on-delete-job`]: undefined })],
  ['deleted', () => harness.server.unseed(ConfigMap, { name: 'one', namespace: 'shop' })],
  [
    'recreated under its name',
    () => {
      harness.server.unseed(ConfigMap, { name: 'one', namespace: 'shop' })
      harness.create('one', withJob({ 'job-wait': 'true', ttl: '1h' }))
    },
  ],
  [
    'being deleted',
    () => {
      const object = harness.object('one')
      if (object)
        harness.server.seed(ConfigMap, { ...object, metadata: { ...object.metadata, deletionTimestamp: harness.time } })
    },
  ],
]

describe('the release of a job whose object changes', () => {
  test.each(CHANGES)('the job is released when its object is %s while waiting', async (_, change) => {
    await harness.waiting({ 'job-ttl': '7' })
    const { name } = harness.firstJob.metadata
    change()
    await harness.clock.advance(2_000)
    expect(harness.ttlOf(name)).toBe(7)
  })

  test.each(CHANGES)('the job is released when its object is %s while no controller runs', async (_, change) => {
    const before = await harness.waiting({ 'job-ttl': '7' })
    const { name } = harness.firstJob.metadata
    before.kill()
    change()
    await harness.clock.advance(DAY)
    await harness.start()
    await harness.clock.advance(2_000)
    expect(harness.ttlOf(name)).toBe(7)
    expect(harness.warnings).toEqual([])
  })

  test.each(CHANGES)('the job is released when its object is %s as the job is created', async (_, change) => {
    harness.create('one', withJob({ 'job-wait': 'true' }))
    await harness.start()
    onceMade(change)
    await harness.clock.advance(64_000)
    expect(harness.heldJobs).toEqual([])
    expect(harness.everyJob).toHaveLength(1)
  })

  test.each(CHANGES)('the job is released when its object is %s and the create response is lost', async (_, change) => {
    harness.create('one', withJob({ 'job-wait': 'true' }))
    await harness.start()
    harness.server.intercept(({ plural, verb }) =>
      plural === 'jobs' && verb === 'create' ? 'drop-response' : undefined,
    )
    onceMade(change)
    await harness.clock.advance(64_000)
    expect(harness.heldJobs).toEqual([])
    expect(harness.everyJob).toHaveLength(1)
  })

  test.each(CHANGES)('the job is released when its object is %s just before the create', async (_, change) => {
    harness.create('one', withJob({ 'job-wait': 'true' }))
    await harness.start()
    await harness.clock.advance(58_000)
    // The read that confirms the end is answered after the cache knows better.
    harness.server.delayResponses(({ plural, verb, name }) =>
      plural === 'configmaps' && verb === 'get' && name === 'one' ? 1_000 : 0,
    )
    await harness.clock.advance(2_100)
    change()
    await harness.clock.advance(5_000)
    expect(harness.heldJobs).toEqual([])
  })

  test('the job is released when its object is extended and the watch lags', async () => {
    await harness.waiting({ 'job-ttl': '3600' })
    const { name } = harness.firstJob.metadata
    harness.server.holdWatches()
    harness.annotate('one', { [`${SEED}extended-at`]: harness.time })
    harness.finishJob(harness.firstJob, 'Complete')
    await harness.clock.advance(70_000)
    harness.server.releaseWatches()
    await harness.clock.advance(1_000)
    expect(harness.ttlOf(name)).toBe(3_600)
  })
})

describe('a cleanup job that failed', () => {
  test('a failed job is released once its failure is recorded, and the next job is held', async () => {
    await harness.waiting()
    harness.finishJob(harness.firstJob, 'Failed', 'x')
    await harness.clock.advance(1_000)
    expect(harness.jobs.map(isHeld)).toEqual([false])
    await harness.clock.advance(12_000)
    expect(harness.jobs).toHaveLength(2)
    expect(harness.heldJobs).toHaveLength(1)
  })

  test('a failed job is released by the next process', async () => {
    const before = await harness.waiting()
    const isCut = harness.server.intercept(({ plural, verb }) =>
      plural === 'jobs' && verb === 'patch' ? 'drop' : undefined,
    )
    harness.finishJob(harness.firstJob, 'Failed', 'x')
    await harness.clock.advance(1_000)
    expect(harness.annotations('one')['cleanup-job-record']).toContain('failed')
    before.kill()
    isCut()
    expect(harness.jobs.map(isHeld)).toEqual([true])
    await harness.start()
    await harness.clock.advance(1_000)
    expect(harness.jobs.map(isHeld)).toEqual([false])
  })
})

describe('releasing a cleanup job', () => {
  test.each([500, 429, 'drop'] as const)(
    'a release that fails with %s is retried, and the object does not wait',
    async (fault) => {
      harness.create('one', withJob())
      await harness.start({ log: harness.log })
      const restore = harness.server.intercept(({ plural, verb }) => {
        if (plural !== 'jobs' || verb !== 'patch') return undefined
        return fault === 'drop' ? fault : refuse(fault, 'Refused', 'not now')
      })
      await harness.clock.advance(62_000)
      expect(harness.object('one')).toBeUndefined()
      expect(isHeld(harness.firstJob)).toBe(true)
      await harness.clock.advance(60_000)
      expect(harness.warnings.map(({ message }) => message)).toEqual(['work failed, retrying'])
      expect(harness.requestsOf('patch').length).toBeLessThan(10)
      restore()
      await harness.clock.advance(120_000)
      expect(isHeld(harness.firstJob)).toBe(false)
    },
  )

  test('a release without permission is logged once, and the object is deleted', async () => {
    harness.create('one', withJob())
    const { controller } = await harness.start({ log: harness.log })
    harness.server.intercept(({ plural, verb }) =>
      plural === 'jobs' && verb === 'patch' ? refuse(403, 'Forbidden', 'no') : undefined,
    )
    await harness.clock.advance(62_000)
    expect(harness.object('one')).toBeUndefined()
    harness.finishJob(harness.firstJob, 'Complete')
    await harness.clock.advance(HOUR)
    expect(isHeld(harness.firstJob)).toBe(true)
    expect(harness.requestsOf('patch')).toHaveLength(1)
    expect(controller.problem).toBeUndefined()
    expect(harness.warnings).toMatchObject([
      {
        message: 'cleanup job not released, remove it by hand',
        facts: { namespace: 'shop', name: harness.firstJob.metadata.name },
      },
    ])
  })

  test('a release that the process did not reach is done by the next one', async () => {
    harness.create('one', withJob())
    const before = await harness.start()
    harness.server.intercept(({ plural, verb }) => {
      if (plural === 'jobs' && verb === 'patch') before.kill()
      return undefined
    })
    harness.server.intercept(({ plural, verb }) =>
      plural === 'configmaps' && verb === 'delete' ? refuse(500, 'InternalError', 'no') : undefined,
    )
    harness.onChange(() => {
      if (harness.annotations('one')['cleanup-job-record'] !== undefined) before.kill()
    })
    await harness.clock.advance(62_000)
    expect(harness.annotations('one')['cleanup-job-record']).toContain('done')
    expect(isHeld(harness.firstJob)).toBe(true)
    await harness.clock.advance(30 * DAY)
    await harness.start()
    await harness.clock.advance(1_000)
    expect(isHeld(harness.firstJob)).toBe(false)
    expect(harness.everyJob).toHaveLength(1)
  })
})
