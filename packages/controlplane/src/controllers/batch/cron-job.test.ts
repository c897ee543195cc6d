import { CronJob, Job } from '@tenure/kube/kinds'
import { expect, test } from 'vitest'
import { template, ControlPlaneFixture } from '../fixture.testing.ts'
import { CronSchedule } from '../../cron/cron-schedule.ts'

const after = (schedule: string, from: string, zone?: string): string | undefined => {
  const next = new CronSchedule(schedule, zone).next(Date.parse(from))
  return next === undefined ? undefined : new Date(next).toISOString().slice(0, 16)
}

test.each([
  ['*/15 * * * *', '2026-01-01T00:00:00Z', '2026-01-01T00:15'],
  ['@daily', '2026-01-01T00:00:00Z', '2026-01-02T00:00'],
  ['30 4 1,15 * *', '2026-01-01T05:00:00Z', '2026-01-15T04:30'],
  ['0 0 29 feb *', '2026-01-01T00:00:00Z', '2028-02-29T00:00'],
  ['0 12 * * mon-fri', '2026-01-02T12:00:00Z', '2026-01-05T12:00'],
  // Either the day of the month or the weekday will do if both are given.
  ['0 0 13 * 5', '2026-01-01T00:00:00Z', '2026-01-02T00:00'],
  ['0 0 30 2 *', '2026-01-01T00:00:00Z', undefined],
])('%s after %s is %s', (schedule, from, expected) => {
  expect(after(schedule, from)).toBe(expected)
})

test('a schedule counts in its time zone, also over the change to summer time', () => {
  expect(after('0 9 * * *', '2026-03-28T12:00:00Z', 'Europe/Berlin')).toBe('2026-03-29T07:00')
  expect(after('0 9 * * *', '2026-03-27T12:00:00Z', 'Europe/Berlin')).toBe('2026-03-28T08:00')
})

test.each(['* * * *', '61 * * * *', '*/0 * * * *', 'x * * * *'])('%s is refused', (schedule) => {
  expect(() => new CronSchedule(schedule)).toThrow(RangeError)
})

test('a CronJob creates a Job per scheduled time, tracks it and bounds the history', async () => {
  const fixture = await ControlPlaneFixture.start()
  await fixture.api.create<CronJob>(CronJob, {
    metadata: { name: 'tick' },
    spec: {
      schedule: '* * * * *',
      successfulJobsHistoryLimit: 2,
      jobTemplate: { spec: { template: template('tick', 'app', undefined, { restartPolicy: 'Never' }) } },
    },
  })
  await fixture.until(async () => (await fixture.list(Job)).length > 0, 'first', 70_000, 500)
  await fixture.until(
    async () => (await fixture.list(Job)).filter(({ status }) => status?.completionTime).length === 2,
    'two',
    130_000,
    500,
  )
  await fixture.clock.advance(130_000)
  const jobs = await fixture.list(Job)
  expect(jobs.length).toBeLessThanOrEqual(3)
  const minute = Math.floor(
    Date.parse(jobs[0]?.metadata.annotations?.['batch.kubernetes.io/cronjob-scheduled-timestamp'] ?? '') / 60_000,
  )
  expect(jobs[0]?.metadata.name).toBe(`tick-${minute}`)
  const cron = await fixture.get(CronJob, 'tick')
  expect(cron?.status?.lastSuccessfulTime).toBeDefined()
  expect(cron?.status?.active ?? []).toHaveLength(jobs.filter(({ status }) => !status?.completionTime).length)
  expect(await fixture.events('tick')).toEqual(
    expect.arrayContaining([expect.stringMatching(/^SuccessfulCreate: Created job tick-\d+$/)]),
  )
  await fixture.end()
})
