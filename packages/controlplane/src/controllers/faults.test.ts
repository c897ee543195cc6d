import { mergePatch } from '@tenure/kube'
import { Deployment, Pod } from '@tenure/kube/kinds'
import { expect, test } from 'vitest'
import { template, World } from './fixture.testing.ts'

test('a rollout goes on over broken watches and a server that is away', async () => {
  const world = await World.start()
  await world.deployment('web', { replicas: 5 })
  await world.clock.advance(300)
  world.plane.transport.dropWatches()
  await world.until(() => world.isRolledOut('web'), 'rolled out')
  await world.api.patch(Deployment, { name: 'web' }, mergePatch({ spec: { template: template('web', 'app:2') } }))
  await world.clock.advance(200)
  world.plane.transport.crash()
  await world.clock.advance(30_000)
  world.plane.transport.revive()
  await world.until(() => world.isRolledOut('web'), 'rolled out again', 120_000)
  await world.settle()
  const images = (await world.pods()).map(({ spec }) => spec?.containers[0]?.image)
  expect(images).toEqual(Array.from({ length: 5 }, () => 'app:2'))
  // That the server was away is worth a word, and no more.
  expect(world.complaints.filter((line) => line.includes('bug'))).toEqual([])
  world.complaints.length = 0
  await world.end()
})

test('five hundred pods of fifty Deployments, and not one write when they stand', async () => {
  const world = await World.start({ events: false })
  for (let index = 0; index < 50; index++) await world.deployment(`web${index}`, { replicas: 10 })
  const up = async (): Promise<number> =>
    (await world.list(Deployment)).filter(({ status }) => status?.availableReplicas === 10).length
  await world.until(async () => (await up()) === 50, 'all available', 60_000, 500)
  await world.settle()
  const { revision } = world.plane.storage
  await world.clock.advance(240_000)
  expect(world.plane.storage.revision).toBe(revision)
  const addresses = (await world.list(Pod)).map(({ status }) => status?.podIP)
  expect(new Set(addresses).size).toBe(500)
  await world.end()
}, 60_000)
