import { ApiError } from '@tenure/kube'
import { expect, test } from 'vitest'
import { isNamespaceTerminating } from './namespace-terminating.ts'

const causes = [{ reason: 'NamespaceTerminating', message: 'it is being terminated', field: 'metadata.namespace' }]

const refusal = (status: number, details: ApiError['details'] = {}): ApiError =>
  new ApiError('no', { status, reason: 'Forbidden', details })

test.each([
  [refusal(403, { causes }), true],
  [refusal(403, { causes: [{ reason: 'Other' }, ...causes] }), true],
  [refusal(403, { causes: [{ reason: 'Other' }] }), false],
  [refusal(403), false],
  [refusal(404, { causes }), false],
  [new Error('namespace is being terminated'), false],
  [undefined, false],
])('the error %s gives %s', (error, expected) => {
  expect(isNamespaceTerminating(error)).toBe(expected)
})
