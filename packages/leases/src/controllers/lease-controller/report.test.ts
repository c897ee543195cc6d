import { assert, integer, nat, option, property, string } from 'fast-check'
import { expect, test } from 'vitest'
import { reportLease } from '../../config.ts'
import { readReport, reportAnnotations } from './report.ts'

test('a report is read as it was written', () => {
  const some = { nil: undefined }
  assert(
    property(nat(), option(integer({ min: 0, max: 4e9 }), some), option(string(), some), (count, second, problem) => {
      const report = { activeLeases: count, nextExpiry: second === undefined ? undefined : second * 1_000, problem }
      const written = Object.entries(reportAnnotations(report)).filter(([, value]) => value !== null)
      const annotations = Object.fromEntries(written) as Readonly<Record<string, string>>
      expect(readReport({ annotations })).toEqual(report)
    }),
  )
})

test.each([undefined, {}, { 'object-lease-controller.ullberg.us/active-leases': 'many' }])(
  'annotations %j contain no report',
  (annotations) => {
    expect(readReport(annotations && { annotations })).toBeUndefined()
  },
)

test('LEASE_REPORT names a Lease with its namespace', () => {
  expect(reportLease('operators/object-lease-web-report')).toEqual({
    namespace: 'operators',
    name: 'object-lease-web-report',
  })
  for (const text of ['', 'web', '/web', 'a/', 'a/b/c']) expect(() => reportLease(text)).toThrow('namespace/name')
})
