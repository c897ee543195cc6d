import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ClaimsServer } from '../testing/claims-server.ts'
import { claim, ClaimsClient } from './claims-client.ts'

let server: ClaimsServer

beforeEach(async () => {
  server = await ClaimsServer.start()
})

afterEach(async () => {
  await server.close()
})

test('a claim is taken, shown, listed and released over HTTP', async () => {
  const client = new ClaimsClient({ url: server.url })
  {
    await using browser = await claim({ url: server.url, pool: 'chrome', ttl: '5m', values: { tag: 'v1' } })
    expect(browser.data).toEqual({ fqdn: 'web.example' })
    expect(browser.expiresAt.getTime() - Date.now()).toBeGreaterThan(290_000)
    expect(server.claims.get(browser.id)).toMatchObject({ pool: 'chrome', values: { tag: 'v1' } })
    expect(await client.get(browser.id)).toMatchObject({ id: browser.id, status: 'ready' })
    expect(await client.list()).toMatchObject({ claims: [{ id: browser.id }], pools: [{ name: 'default' }, {}] })
  }
  expect(server.claims.size).toBe(0)
})

test('a retry after a lost answer gets the claim of the first attempt', async () => {
  server.fault('claim', 'lost')
  await using browser = await claim({ url: server.url })
  expect(server.to('claim')).toHaveLength(2)
  expect([...server.claims.keys()]).toEqual([browser.id])
})

test('a claim with a short TTL is renewed before it expires', async () => {
  await using browser = await claim({ url: server.url, ttl: '4s' })
  const first = browser.expiresAt
  await vi.waitFor(() => expect(browser.expiresAt.getTime()).toBeGreaterThan(first.getTime()), { timeout: 10_000 })
  expect(browser.signal.aborted).toBe(false)
})

test('a claim that another client releases is lost at the next renewal', async () => {
  await using browser = await claim({ url: server.url, ttl: '4s' })
  server.claims.delete(browser.id)
  await vi.waitFor(() => expect(browser.signal.aborted).toBe(true), { timeout: 10_000 })
  expect(browser.signal.reason).toMatchObject({ code: 'TENURE_CLAIM_NOT_FOUND', message: 'claim not found' })
})

test('an address where nothing listens is an error with the reason', async () => {
  const { url } = server
  await server.close()
  await expect(claim({ url, timeout: 300 })).rejects.toMatchObject({
    code: 'TENURE_CLAIM_UNREACHABLE',
    message: expect.stringContaining('ECONNREFUSED'),
  })
  server = await ClaimsServer.start()
})

test('a server that stops to answer does not keep the call beyond its time-out', async () => {
  server.fault('claim', 'none')
  await expect(claim({ url: server.url, timeout: 200 })).rejects.toMatchObject({ code: 'TENURE_CLAIM_TIMEOUT' })
})
