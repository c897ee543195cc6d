import { mergePatch } from '@tenure/kube'
import { Deployment, Pod } from '@tenure/kube/kinds'
import { expect, test } from 'vitest'
import { template, ControlPlaneFixture } from './fixture.testing.ts'

test('a rollout completes despite broken watches and an unreachable API server', async () => {
  const fixture = await ControlPlaneFixture.start()
  await fixture.deployment('web', { replicas: 5 })
  await fixture.clock.advance(300)
  fixture.plane.transport.dropWatches()
  await fixture.until(() => fixture.isRolledOut('web'), 'rolled out')
  await fixture.api.patch(Deployment, { name: 'web' }, mergePatch({ spec: { template: template('web', 'app:2') } }))
  await fixture.clock.advance(200)
  fixture.plane.transport.crash()
  await fixture.clock.advance(30_000)
  fixture.plane.transport.revive()
  await fixture.until(() => fixture.isRolledOut('web'), 'rolled out again', 120_000)
  await fixture.settle()
  const images = (await fixture.pods()).map(({ spec }) => spec?.containers[0]?.image)
  expect(images).toEqual(Array.from({ length: 5 }, () => 'app:2'))
  // Warnings about the unreachable API server are expected.
  expect(fixture.warnings.filter((line) => line.includes('bug'))).toEqual([])
  fixture.warnings.length = 0
  await fixture.end()
})

test('fifty Deployments with five hundred ready pods cause no writes', async () => {
  const fixture = await ControlPlaneFixture.start({ events: false })
  for (let index = 0; index < 50; index++) await fixture.deployment(`web${index}`, { replicas: 10 })
  const up = async (): Promise<number> =>
    (await fixture.list(Deployment)).filter(({ status }) => status?.availableReplicas === 10).length
  await fixture.until(async () => (await up()) === 50, 'all available', 60_000, 500)
  await fixture.settle()
  const { revision } = fixture.plane.storage
  await fixture.clock.advance(240_000)
  expect(fixture.plane.storage.revision).toBe(revision)
  const addresses = (await fixture.list(Pod)).map(({ status }) => status?.podIP)
  expect(new Set(addresses).size).toBe(500)
  await fixture.end()
}, 60_000)
