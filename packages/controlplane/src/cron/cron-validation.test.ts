import { expect, test } from 'vitest'
import { cronError, isTimeZone } from './cron-validation.ts'

test.each(['* * * * *', '*/5 1-2 ? JAN mon', '5/15 * * * *', '@hourly', '@every 1h30m', '1,, * * * *', '*-5 * * * *'])(
  '%s is a schedule',
  (schedule) => {
    expect(cronError(schedule)).toBeUndefined()
  },
)

test.each([
  ['60 * * * *', 'end of range (60) above maximum (59): 60'],
  ['*/-1 * * * *', 'negative number (-1) not allowed: -1'],
  ['@every x', 'failed to parse duration @every x: time: invalid duration "x"'],
  ['CRON_TZ=Foo/Bar * * * * *', 'provided bad location Foo/Bar: unknown time zone Foo/Bar'],
])('%s is none', (schedule, why) => {
  expect(cronError(schedule)).toBe(why)
})

test('a time zone is known by its letters', () => {
  expect(['UTC', 'Europe/Berlin', 'US/Eastern', 'Etc/GMT+5'].filter((name) => !isTimeZone(name))).toEqual([])
  expect(['europe/berlin', '+01:00', 'Foo/Bar', ''].filter(isTimeZone)).toEqual([])
})
