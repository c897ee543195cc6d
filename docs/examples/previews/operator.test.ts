import { startControlPlane } from '@tenure/controlplane'
import { httpServer } from '@tenure/http'
import { Client, mergePatch } from '@tenure/kube'
import { createMetrics, runOperators } from '@tenure/runtime'
import { expect, test } from 'vitest'
import { Preview, previews } from './operator.ts'

test('a Preview runs until its time is over, and a long one is denied', async () => {
  const { transport, stop } = await startControlPlane({ port: false })
  const metrics = await createMetrics()
  const end = new AbortController()
  const listening = Promise.withResolvers<string>()
  const server = httpServer({ address: '127.0.0.1:0', onListening: ({ url }) => listening.resolve(url) })
  const options = { operators: [previews], transport, metrics, servers: [server], webhooks: 'loopback' } as const
  const running = runOperators(options, end.signal)
  const client = new Client({ transport })
  const ref = { namespace: 'default', name: 'shop' }
  const create = (minutes: number, dryRun: boolean) =>
    client.create(Preview, { metadata: ref, spec: { image: 'nginx', minutes } }, { dryRun })

  await expect.poll(() => create(90, true).catch(String), { timeout: 10_000 }).toContain('at most 60')
  await create(60, false)
  await expect.poll(async () => (await client.get(Preview, ref)).status?.isReady, { timeout: 10_000 }).toBe(true)
  expect(await (await fetch(`${await listening.promise}/previews`)).json()).toEqual(['shop'])
  await client.patch(Preview, ref, mergePatch({ spec: { minutes: 0 } }))
  await expect.poll(() => client.get(Preview, ref).catch(String), { timeout: 10_000 }).toContain('not found')
  expect((await metrics.expose()).text).toMatch(/previews_denied_total [1-9]/)

  end.abort()
  await running
  await stop()
})
