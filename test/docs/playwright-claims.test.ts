import { ClaimsServer } from '@tenure/claims/testing'
import { expect, test } from 'vitest'
import { claimedBrowser } from '../../docs/examples/playwright-claims.ts'

const UNREACHABLE = { playwright: { chromium: { connect: () => Promise.reject(new Error('no browser')) } } }

test('the Playwright fixture connects to a claimed browser and releases it after use', async () => {
  await using server = await ClaimsServer.start({ data: { endpoint: 'ws://chrome.example:3000/' } })
  process.env['CLAIMS_URL'] = server.url
  const steps: string[] = []
  const connect = (endpoint: string) => {
    steps.push(`connected to ${endpoint}`)
    return Promise.resolve({ close: () => Promise.resolve(void steps.push('closed')) })
  }
  try {
    await claimedBrowser({ playwright: { chromium: { connect } } }, async () => {
      steps.push(`used with ${server.claims.size} claim`)
    })
  } finally {
    delete process.env['CLAIMS_URL']
  }
  expect(steps).toEqual(['connected to ws://chrome.example:3000/', 'used with 1 claim', 'closed'])
  expect(server.claims.size).toBe(0)
})

test('the Playwright fixture releases its claim if the browser cannot be reached', async () => {
  await using server = await ClaimsServer.start()
  process.env['CLAIMS_URL'] = server.url
  try {
    await expect(claimedBrowser(UNREACHABLE, async () => undefined)).rejects.toThrow('no browser')
  } finally {
    delete process.env['CLAIMS_URL']
  }
  expect(server.to('release')).toHaveLength(1)
  expect(server.claims.size).toBe(0)
})
