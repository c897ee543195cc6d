import { describe, expect, test } from 'vitest'
import { isObjectRejected } from './errors.ts'
import { apiErrorFrom, errorFromStatus, retryAfterOf } from './status-error.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'

const clock = new VirtualClock(Date.UTC(2026, 0, 1))
const request = { method: 'GET', path: '/api/v1/pods?limit=1' } as const
const read = (status: number, text: string, headers = {}) => apiErrorFrom(request, { status, headers }, text, clock)

describe('apiErrorFrom', () => {
  test('message, reason and details come from a Status', () => {
    const details = { name: 'x', kind: 'pods', causes: [{ reason: 'FieldValueInvalid', field: 'spec' }] }
    const error = read(
      422,
      JSON.stringify({ kind: 'Status', message: 'Pod "x" is invalid', reason: 'Invalid', details, code: 422 }),
    )
    expect(error).toMatchObject({
      code: 'TENURE_API_INVALID',
      status: 422,
      reason: 'Invalid',
      fate: 'terminal',
      details,
    })
    expect(error.message).toBe('Pod "x" is invalid')
  })

  test('a Status without a reason gets the reason of its code', () => {
    expect(read(409, JSON.stringify({ kind: 'Status', message: 'm' }))).toMatchObject({
      reason: 'Conflict',
      status: 409,
    })
  })

  test.each([
    ['plain text', 'upstream connect error'],
    ['a page', '<html><head><style>p{}</style></head><body><h1>upstream</h1>\n connect <b>error</b></body></html>'],
    ['half a page', '<html><body>upstream connect error'],
  ])('the message contains %s of a proxy', (_, text) => {
    const error = read(502, text)
    expect(error).toMatchObject({ code: 'TENURE_API_BAD_GATEWAY', status: 502, fate: 'retry' })
    expect(error.message).toBe('GET /api/v1/pods was answered 502 BadGateway: upstream connect error')
  })

  test.each([
    ['nothing', ''],
    ['JSON that is not a Status', '{"kind":"Pod"}'],
    ['broken JSON', '{"kind":"Sta'],
  ])('the message names the request if the body is %s', (_, text) => {
    expect(read(500, text).message).toMatch(/^GET \/api\/v1\/pods was answered 500 InternalError/)
  })

  test('the message quotes only the start of a long body', () => {
    expect(read(500, 'x '.repeat(1e6)).message.length).toBeLessThan(400)
  })

  test('an unknown path and a missing object have different messages', () => {
    expect(read(404, '404 page not found\n').message).toMatch(/does not know this path.*CRD/)
    expect(read(404, JSON.stringify({ kind: 'Status', message: 'pods "x" not found', code: 404 })).message).toBe(
      'pods "x" not found',
    )
  })

  test('the message says how to get credentials and permissions', () => {
    expect(read(401, JSON.stringify({ kind: 'Status', message: 'Unauthorized', code: 401 })).message).toMatch(/renew/)
    expect(read(403, JSON.stringify({ kind: 'Status', message: 'no', code: 403 })).message).toMatch(/^no\. .*Role/)
  })

  test.each([
    'jobs.batch "x" is forbidden: exceeded quota: few, requested: count/jobs.batch=1, used: 1, limited: 1',
    'admission webhook "guard.example.dev" denied the request: not on a Monday',
  ])('an admission denial does not suggest a Role: %s', (message) => {
    const error = read(403, JSON.stringify({ kind: 'Status', reason: 'Forbidden', message, code: 403 }))
    expect(error.message).toBe(message)
    expect(isObjectRejected(error)).toBe(true)
    const user = 'pods is forbidden: User "eve" cannot list resource "pods" in API group ""'
    expect(isObjectRejected(read(403, JSON.stringify({ kind: 'Status', message: user, code: 403 })))).toBe(false)
  })
})

describe('retry-after', () => {
  test.each([
    ['3', 3000],
    ['0', 0],
    ['Thu, 01 Jan 2026 00:00:05 GMT', 5000],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
    ['soon', undefined],
    ['', undefined],
  ])('Retry-After %j is parsed', (value, expected) => {
    expect(retryAfterOf({ 'retry-after': value }, clock)).toBe(expected)
  })

  test("a date is compared with the server's clock", () => {
    const headers = { 'retry-after': 'Thu, 01 Jan 2030 00:00:05 GMT', date: 'Thu, 01 Jan 2030 00:00:00 GMT' }
    expect(retryAfterOf(headers, clock)).toBe(5000)
  })

  test('the header has precedence over the Status', () => {
    const text = JSON.stringify({ kind: 'Status', code: 429, details: { retryAfterSeconds: 7 } })
    expect(read(429, text).retryAfter).toBe(7000)
    expect(read(429, text, { 'retry-after': ['2'] }).retryAfter).toBe(2000)
  })
})

test('an in-stream Status without a code gets the default code', () => {
  expect(errorFromStatus({ kind: 'Status', reason: 'Expired', code: 410 }, 500)).toMatchObject({
    status: 410,
    code: 'TENURE_API_EXPIRED',
    fate: 'retry',
  })
  expect(errorFromStatus({}, 500)).toMatchObject({ status: 500, reason: 'InternalError' })
})
