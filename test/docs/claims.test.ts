import path from 'node:path'
import { claims } from '@tenure/claims'
import { type Listening, ownServers } from '@tenure/http'
import { Deployment } from '@tenure/kube/kinds'
import { configure } from '@tenure/runtime'
import { defineConfiguration, readConfiguration } from '@tenure/runtime/configuration'
import { expect, test } from 'vitest'
import { InProcessFloor } from '../floors/index.ts'

const root = path.resolve(import.meta.dirname, '../..')

interface Answer {
  readonly status: number
  readonly text: string
  readonly json: Readonly<Record<string, unknown>>
}

test('the pools of the guide hand out what it says', { timeout: 120_000 }, async () => {
  const configuration = defineConfiguration({ program: 'tenure claims', summary: '', options: claims.config })
  const loaded = await readConfiguration(configuration, {
    argv: ['--config', path.join(root, 'docs/examples/claims/pools.yaml'), '--api-addr', '127.0.0.1:0'],
    environment: {},
  })
  if (loaded.kind === 'help') throw new Error('The settings were not read')
  const floor = await InProcessFloor.enter()
  let listening: Listening | undefined
  try {
    await floor.runOperators({
      operators: [configure(claims, loaded.values)],
      leaderElection: false,
      servers: [ownServers({ onListening: (_server, where) => (listening = where) })],
    })
    const url = await floor.until('the API listens', () => listening?.url)
    const send = async (target: string, body?: object, headers: Record<string, string> = {}): Promise<Answer> => {
      let answer: Answer | undefined
      const request = fetch(`${url}${target}`, {
        method: target === '/claims' ? 'GET' : 'POST',
        headers,
        ...(body && { body: JSON.stringify(body) }),
      }).then(async (response) => {
        const text = await response.text()
        const json = text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {}
        return { status: response.status, text, json }
      })
      request.then(
        (given) => (answer = given),
        () => undefined,
      )
      return await floor.until(`${target} is answered`, () => answer)
    }
    await floor.until('three browsers are ready', async () => {
      const { json } = await send('/claims')
      const pools = json['pools'] as readonly { readonly name: string; readonly ready: number }[]
      return pools.some(({ name, ready }) => name === 'chrome' && ready === 3)
    })
    const { json: browser } = await send('/claim', { pool: 'chrome' })
    expect(browser).toMatchObject({
      preProvisioned: true,
      data: { endpoint: `ws://claim-${String(browser['id'])}.default:3000/` },
    })

    const preview = { pool: 'preview', values: { commit: '4be1f0c' } }
    const key = { 'idempotency-key': 'pull-42' }
    const first = await send('/claim', preview, key)
    expect(first).toMatchObject({ status: 201, json: { preProvisioned: false } })
    const name = `claim-${String(first.json['id'])}`
    const { spec } = await floor.api.get(Deployment, { name, namespace: 'default' })
    expect(spec?.template.spec?.containers[0]?.image).toBe('registry.example.com/shop:4be1f0c')
    expect((await send('/claim', preview, key)).text).toBe(first.text)
    await floor.pass(60_000)
    const renewed = await send(`/renew/${String(first.json['id'])}`, { ttl: '24h' })
    expect(Date.parse(String(renewed.json['expiresAt']))).toBeGreaterThan(Date.parse(String(first.json['expiresAt'])))
    expect(await send('/claim', { pool: 'preview', values: { commit: 'latest' } })).toMatchObject({
      status: 400,
      text: 'invalid request body: values.commit must match pattern "^[0-9a-f]{7,40}$"\n',
    })
  } finally {
    await floor.leave()
  }
})
