import { VirtualClock } from '@tenure/kube/testing'
import { Probes } from '@tenure/runtime'
import { expect, test } from 'vitest'
import { probeRoutes } from './probe-routes.ts'

test('probes answer in the words of the operator, and with one line per problem', async () => {
  const probes = new Probes({ clock: new VirtualClock() })
  const [live, ready] = probeRoutes({ probes }, { readiness: 'all is well', readyText: 'ready' })
  const answer = (route: typeof live) => route?.handle({} as never)
  expect([live?.path, ready?.path, ready?.summary]).toEqual(['/healthz', '/readyz', 'Readiness probe: all is well'])
  expect(await answer(live)).toMatchObject({ status: 200, body: { text: 'ok' } })
  expect(await answer(ready)).toMatchObject({ status: 200, body: { text: 'ready' } })
  probes.add('ready', 'database', () => {
    throw new Error('cold')
  })
  expect(await answer(live)).toMatchObject({ status: 200 })
  expect(await answer(ready)).toMatchObject({ status: 503, body: { text: 'database: cold\n' } })
})

test('a ready server says ok unless the operator has another word', async () => {
  const probes = new Probes({ clock: new VirtualClock() })
  const [, ready] = probeRoutes({ probes }, { readiness: 'all is well' })
  expect(await ready?.handle({} as never)).toMatchObject({ status: 200, body: { text: 'ok' } })
})
