import { describe, expect, test } from 'vitest'
import { ClaimsClient } from './claims-client.ts'
import { CONNECTION_REFUSED, FakeApi, type FakeOutcome, NO_ANSWER } from './fake-api.testing.ts'

const plain = { 'content-type': 'text/plain; charset=utf-8' }

/** The reason of a rejection that comes later. */
const failureOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  )

describe('taking a claim', () => {
  test('the request carries the pool, the TTL, the values, the token and a random key', async () => {
    const api = new FakeApi()
    const client = api.client({ token: () => Promise.resolve('secret') })
    const grant = await client.take({ pool: 'chrome', ttl: '5m', values: { tag: 'v1' } })
    expect(grant).toMatchObject({ id: 'abc', data: { fqdn: 'web.example' }, preProvisioned: true })
    const [request] = api.requests
    expect(request).toMatchObject({ method: 'POST', path: '/claim' })
    expect(request?.body).toEqual({ pool: 'chrome', ttl: '5m', values: { tag: 'v1' } })
    expect(request?.headers).toMatchObject({ authorization: 'Bearer secret', 'idempotency-key': 'random-key' })
  })

  test('a lost connection is retried with the same key, so that no second claim is taken', async () => {
    const api = new FakeApi()
    api.next['claim'] = [CONNECTION_REFUSED, CONNECTION_REFUSED]
    const retries: number[] = []
    const taking = api.client().take({ onRetry: (_, delay) => void retries.push(delay) })
    await api.clock.advance(2_000)
    expect((await taking).id).toBe('abc')
    expect(new Set(api.requests.map(({ headers }) => headers['idempotency-key'])).size).toBe(1)
    expect(retries).toEqual([250, 500])
  })

  test('a 429 and a 503 wait for as long as Retry-After says', async () => {
    const api = new FakeApi()
    api.next['claim'] = [
      { status: 429, body: 'too many claims', headers: { ...plain, 'retry-after': '7' } },
      { status: 503, body: 'starting', headers: { ...plain, 'retry-after': 'Thu, 01 Jan 2026 00:00:20 GMT' } },
    ]
    const taking = api.client().take()
    await api.clock.advance(60_000)
    await taking
    expect(api.times('claim')).toEqual([0, 7_000, 20_000])
  })

  test('a Retry-After of zero does not make a busy loop', async () => {
    const api = new FakeApi()
    api.next['claim'] = [{ status: 503, headers: { 'retry-after': '0' } }]
    const taking = api.client().take()
    await api.clock.advance(1_000)
    await taking
    expect(api.times('claim')).toEqual([0, 250])
  })

  test('a Retry-After beyond the time-out fails at once, with the message of the server', async () => {
    const api = new FakeApi()
    const headers = { ...plain, 'retry-after': '600' }
    api.next['claim'] = [{ status: 429, body: 'too many claims: at most 2 per caller\n', headers }]
    await expect(api.client().take()).rejects.toMatchObject({
      name: 'ClaimError',
      code: 'TENURE_CLAIM_TOO_MANY',
      status: 429,
      fate: 'retry',
      message: 'too many claims: at most 2 per caller',
    })
  })

  test('an API that stays unreachable fails with the reason after the time-out', async () => {
    const api = new FakeApi()
    api.next['claim'] = Array.from({ length: 100 }, () => CONNECTION_REFUSED)
    const failure = failureOf(api.client().take({ timeout: 20_000 }))
    await api.clock.advance(20_000)
    expect(await failure).toMatchObject({
      code: 'TENURE_CLAIM_UNREACHABLE',
      message: 'Cannot reach http://claims.test/claim: ECONNREFUSED',
    })
    expect(api.clock.pending).toBe(0)
    expect(api.times('claim').length).toBeLessThan(20)
  })

  test('an API that cannot be reached for 30 s is given up, and one that answers in between is not', async () => {
    const api = new FakeApi()
    api.next['claim'] = Array.from({ length: 100 }, () => CONNECTION_REFUSED)
    const failure = failureOf(api.client().take())
    await api.clock.advance(30_000)
    expect(await failure).toMatchObject({ code: 'TENURE_CLAIM_UNREACHABLE' })
    const outages: readonly FakeOutcome[] = Array.from({ length: 5 }, () => CONNECTION_REFUSED)
    api.next['claim'] = [...outages, { status: 503, headers: { 'retry-after': '25' } }, ...outages]
    const taking = api.client().take()
    await api.clock.advance(90_000)
    expect((await taking).id).toBe('abc')
  })

  test('an API that never answers fails after the time-out', async () => {
    const api = new FakeApi()
    api.next['claim'] = [NO_ANSWER]
    const failure = failureOf(api.client().take({ timeout: 5_000 }))
    await api.clock.advance(5_000)
    expect(await failure).toMatchObject({
      code: 'TENURE_CLAIM_TIMEOUT',
      message: 'http://claims.test/claim did not answer within 5 s.',
    })
  })

  test.each([
    [400, 'TENURE_CLAIM_INVALID_REQUEST', 'invalid ttl duration: "x"'],
    [401, 'TENURE_CLAIM_DENIED', 'unauthorized'],
    [404, 'TENURE_CLAIM_UNKNOWN_POOL', 'unknown pool "nope"'],
    [409, 'TENURE_CLAIM_KEY_REUSED', 'Idempotency-Key was used with another request'],
    [500, 'TENURE_CLAIM_REQUEST_FAILED', 'failed to create claim'],
    [504, 'TENURE_CLAIM_TIMEOUT', 'timed out waiting for claim resources to become ready'],
  ])('a %i is %s, and is not retried', async (status, code, message) => {
    const api = new FakeApi()
    api.next['claim'] = [{ status, body: `${message}\n`, headers: plain }]
    await expect(api.client().take({ pool: 'nope' })).rejects.toMatchObject({ code, status, message })
    expect(api.requests).toHaveLength(1)
  })

  test('a message in JSON is read, and the page of a proxy is not shown', async () => {
    const api = new FakeApi()
    api.next['claim'] = [
      { status: 401, body: { error: 'No token' }, headers: { 'content-type': 'application/json' } },
      { status: 500, body: '<html>oh no</html>', headers: { 'content-type': 'text/html' } },
      { status: 302, headers: { location: 'https://login.test/' } },
    ]
    const client = api.client()
    await expect(client.take()).rejects.toThrow(/^No token$/)
    await expect(client.take()).rejects.toThrow(/^HTTP status 500$/)
    await expect(client.take()).rejects.toThrow(/^HTTP status 302, a redirect to https:\/\/login.test\/$/)
  })

  test.each([['not JSON'], [{ id: 'abc' }], [{ id: 'abc', expiresAt: 'soon' }], [[]]])(
    'an answer that is not a claim is an error: %j',
    async (body) => {
      const api = new FakeApi()
      api.next['claim'] = [{ status: 201, body }]
      await expect(api.client().take()).rejects.toMatchObject({ code: 'TENURE_CLAIM_ANSWER_INVALID' })
    },
  )

  test('a signal ends the wait for the answer, and the pause between retries', async () => {
    const api = new FakeApi()
    api.next['claim'] = [NO_ANSWER, CONNECTION_REFUSED]
    for (const _ of [1, 2]) {
      const stop = new AbortController()
      const failure = failureOf(api.client().take({ signal: stop.signal }))
      await api.clock.advance(100)
      const reason = new Error('stopped')
      stop.abort(reason)
      expect(await failure).toBe(reason)
    }
    expect(api.clock.pending).toBe(0)
  })

  test('a claim that arrives while its caller leaves is released', async () => {
    const api = new FakeApi()
    const stop = new AbortController()
    const client = api.client({
      fetch: async (url, init) => {
        const response = await api.fetch(url, init)
        if (url.endsWith('/claim')) stop.abort(new Error('stopped'))
        return response
      },
    })
    await expect(client.take({ signal: stop.signal })).rejects.toThrow(/^stopped$/)
    expect(api.requests.map(({ path }) => path)).toEqual(['/claim', '/release/abc'])
  })
})

describe('the client', () => {
  test('the address comes from the option, then from CLAIMS_URL, then from the default', () => {
    expect(new ClaimsClient({ url: 'https://claims.test/base/' }).url).toBe('https://claims.test/base')
    process.env['CLAIMS_URL'] = 'http://elsewhere:1234'
    try {
      expect(new ClaimsClient().url).toBe('http://elsewhere:1234')
      process.env['CLAIMS_URL'] = ''
      expect(new ClaimsClient().url).toBe('http://localhost:8080')
    } finally {
      delete process.env['CLAIMS_URL']
    }
  })

  test.each(['localhost:8080', 'ftp://claims', '', '/claims'])(
    'an address that is not a URL is an error: %j',
    (url) => {
      expect(() => new ClaimsClient({ url })).toThrow(/is not the URL of a claims API/)
    },
  )

  test('an id cannot lead to another route', async () => {
    const api = new FakeApi()
    await api.client().release('a/../../claims?x')
    expect(api.requests[0]?.path).toBe('/release/a%2F..%2F..%2Fclaims%3Fx')
    for (const id of ['', '.', '..']) {
      await expect(api.client().release(id)).rejects.toMatchObject({ code: 'TENURE_CLAIM_ARGUMENT' })
    }
  })

  test.each(['', 'a b', 'ä', 'x'.repeat(129)])(
    'an idempotency key that no header holds is refused: %j',
    async (key) => {
      const api = new FakeApi()
      const taking = api.client().take({ idempotencyKey: key })
      await expect(taking).rejects.toMatchObject({ code: 'TENURE_CLAIM_ARGUMENT' })
      expect(api.requests).toEqual([])
    },
  )

  test('a release is retried after any server error, and a 404 is reported', async () => {
    const api = new FakeApi()
    api.next['release'] = [{ status: 500, body: 'failed to delete claim' }]
    const releasing = api.client().release('abc')
    await api.clock.advance(1_000)
    await releasing
    expect(api.times('release')).toEqual([0, 250])
    api.next['release'] = [{ status: 404, body: 'claim not found' }]
    await expect(api.client().release('abc')).rejects.toMatchObject({ code: 'TENURE_CLAIM_NOT_FOUND', status: 404 })
  })
})
