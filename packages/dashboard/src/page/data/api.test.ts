import { describe, expect, test } from 'vitest'
import { DashboardApi, queryOf, RequestFailure } from './api.ts'

function answering(response: () => Response | Promise<Response>) {
  const requests: { path: string; init: RequestInit }[] = []
  const api = new DashboardApi(async (path, init) => {
    requests.push({ path, init })
    return response()
  })
  return { api, requests }
}

async function failureOf(promise: Promise<unknown>): Promise<RequestFailure> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error instanceof RequestFailure) return error
  throw new Error('The request succeeded.')
}

test('a request carries its body and the token', async () => {
  const { api, requests } = answering(() => Response.json({ id: 'a' }))
  api.token = 'secret'
  expect(await api.json('./claim', { method: 'POST', body: { ttl: '5m' } })).toEqual({ id: 'a' })
  expect(requests[0]).toMatchObject({
    path: './claim',
    init: {
      method: 'POST',
      body: '{"ttl":"5m"}',
      headers: { authorization: 'Bearer secret', 'content-type': 'application/json' },
    },
  })
})

test('an empty answer is undefined', async () => {
  const { api } = answering(() => new Response(null, { status: 204 }))
  expect(await api.json('./release/a', { method: 'POST' })).toBeUndefined()
})

describe('a failure', () => {
  test('the message and the problems of the fields are those of the server', async () => {
    const details = [{ field: 'spec.replicas', message: 'must be at most 100', value: 200 }, 'junk']
    const { api } = answering(() => Response.json({ error: 'Validation failed', details }, { status: 400 }))
    expect(await failureOf(api.json('./apis'))).toMatchObject({
      status: 400,
      message: 'Validation failed',
      problems: [{ field: 'spec.replicas', message: 'must be at most 100' }],
    })
  })

  test('plain text is the message', async () => {
    const { api } = answering(() => new Response('invalid ttl duration: "x"\n', { status: 400 }))
    expect((await failureOf(api.json('./claim'))).message).toBe('invalid ttl duration: "x"')
  })

  test('a page of a proxy is not shown as a message', async () => {
    const headers = { 'content-type': 'text/html' }
    const { api } = answering(() => new Response('<html>Bad gateway</html>', { status: 502, headers }))
    expect((await failureOf(api.json('./claim'))).message).toBe('The server answered 502.')
  })

  test('a server that cannot be reached has status 0', async () => {
    const { api } = answering(() => Promise.reject(new TypeError('fetch failed')))
    expect(await failureOf(api.json('./claim'))).toMatchObject({ status: 0, message: 'The server cannot be reached.' })
  })

  test('a 401 for a token that was replaced meanwhile does not sign the user out', async () => {
    const { api } = answering(() => {
      api.token = 'new'
      return Response.json({ error: 'unauthorized' }, { status: 401 })
    })
    let calls = 0
    api.onUnauthorized = () => calls++
    api.token = 'old'
    await failureOf(api.json('./api/v1/views/claims'))
    expect(calls).toBe(0)
    await failureOf(api.json('./api/v1/views/claims'))
    expect(calls).toBe(1)
  })
})

test('empty values are left out of a query', () => {
  expect(queryOf({ kind: 'Pod', namespace: undefined, name: 'a&b', limit: 5, q: '' })).toBe(
    '?kind=Pod&name=a%26b&limit=5',
  )
  expect(queryOf({})).toBe('')
})
