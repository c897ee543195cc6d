import { ApiError, ConnectionError, TenureError } from '@tenure/kube'
import { expect, test } from 'vitest'
import { isTransient } from './transient-error.ts'

const apiError = (status: number): ApiError => new ApiError('Failed.', { status, reason: 'Test' })

test('lost connections, overload, server errors and leaving predecessors are transient', () => {
  expect(isTransient(new ConnectionError('TENURE_CONNECTION_LOST', 'Lost.'))).toBe(true)
  expect([408, 429, 500, 503].map((status) => isTransient(apiError(status)))).toEqual([true, true, true, true])
  expect(isTransient(new TenureError('TENURE_APPLICATION_NAME_LEAVING', 'Leaving.'))).toBe(true)
})

test('refusals and foreign objects are not transient', () => {
  expect([400, 403, 422].map((status) => isTransient(apiError(status)))).toEqual([false, false, false])
  expect(isTransient(new TenureError('TENURE_APPLICATION_NAME_TAKEN', 'Taken.'))).toBe(false)
  expect(isTransient(new Error('a bug'))).toBe(false)
})
