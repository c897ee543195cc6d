import { expect, test } from 'vitest'
import { EMPTY_STATE, TEST_NAMES, testRow } from './controller.testing.ts'
import type { DatabaseRollout } from './rollout.ts'
import { errorReport, reportOf } from './status.ts'

function statusFor(row: Parameters<typeof testRow>[0], rollout: DatabaseRollout) {
  const parts = { engine: 'redis', state: EMPTY_STATE, serviceName: 'orders', secretName: undefined } as const
  return reportOf({ row: testRow(row), names: TEST_NAMES, rollout, ...parts })
}

test('a database is active only when its pods are ready', () => {
  expect(statusFor({ status: 'pending' }, { state: 'progressing' }).status).toBe('provisioning')
  expect(statusFor({ observedGeneration: '1' }, { state: 'progressing' }).status).toBe('updating')
  expect(statusFor({ status: 'pending' }, { state: 'ready' }).status).toBe('active')
  expect(statusFor({ observedGeneration: '1' }, { state: 'failing', reason: 'x' }).status).toBe('error')
})

test('a pause stays until the platform resumes, also if something fails', () => {
  for (const rollout of [{ state: 'ready' }, { state: 'progressing' }, { state: 'failing', reason: 'x' }] as const)
    expect(statusFor({ status: 'paused' }, rollout).status).toBe('paused')
  expect(errorReport(testRow({ status: 'paused' }), 'x')).toEqual({ connectionInfo: { error: 'x' } })
  expect(errorReport(testRow(), 'x')).toEqual({ status: 'error', connectionInfo: { error: 'x' } })
})

test('a reason is in the connection info, and null once it is over', () => {
  expect(statusFor({}, { state: 'failing', reason: 'why' }).connectionInfo).toMatchObject({ error: 'why' })
  expect(statusFor({ connectionInfo: { error: 'why' } }, { state: 'ready' }).connectionInfo).toMatchObject({
    error: null,
  })
  expect(statusFor({}, { state: 'ready' }).connectionInfo).not.toHaveProperty('error')
})
