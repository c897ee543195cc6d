import { expect, test } from 'vitest'
import { cronError } from './cron-expression.ts'
import { CronSchedule } from './cron-schedule.ts'
import { isTimeZone } from './time-zone.ts'

test.each([
  '* * * * *',
  '*/5 0-3 1,15 JAN-mar sun',
  '@daily',
  '@every 1h',
  '0 0 ? * 1',
  '*/5 1-2 ? JAN mon',
  '5/15 * * * *',
  '@hourly',
  '@every 1h30m',
  '1,, * * * *',
  '*-5 * * * *',
])('%s is a valid schedule', (schedule) => {
  expect(cronError(schedule)).toBeUndefined()
})

test.each([
  ['60 * * * *', 'end of range (60) above maximum (59): 60'],
  ['* * * *', 'expected exactly 5 fields, found 4: [* * * *]'],
  ['*/0 * * * *', 'step of range should be a positive number: */0'],
  ['5-1 * * * *', 'beginning of range (5) beyond end of range (1): 5-1'],
  ['@sometimes', 'unrecognized descriptor: @sometimes'],
  ['*/-1 * * * *', 'negative number (-1) not allowed: -1'],
  ['@every x', 'failed to parse duration @every x: time: invalid duration "x"'],
  ['CRON_TZ=Foo/Bar * * * * *', 'provided bad location Foo/Bar: unknown time zone Foo/Bar'],
])('%s is rejected with the message of robfig/cron', (schedule, why) => {
  expect(cronError(schedule)).toBe(why)
})

test('the name of a time zone is case-sensitive', () => {
  expect(
    ['UTC', 'Europe/Berlin', 'Europe/Zurich', 'US/Eastern', 'Etc/GMT+5'].filter((name) => !isTimeZone(name)),
  ).toEqual([])
  expect(['europe/berlin', '+01:00', 'Foo/Bar', 'Nowhere/At_All', ''].filter(isTimeZone)).toEqual([])
})

test('a schedule that validation accepts is one that the controller can read', () => {
  expect(() => new CronSchedule('1,, *-5 ? JAN mon')).not.toThrow()
})

test('a schedule that never matches any minute is rejected', () => {
  expect(() => new CronSchedule(', * * * *')).toThrow(RangeError)
})
