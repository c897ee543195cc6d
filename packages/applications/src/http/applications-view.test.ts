import { mergePatch } from '@tenure/kube'
import { Deployment } from '@tenure/kube/kinds'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Application } from '../api/index.ts'
import { plainSpec } from '../testing/objects.ts'
import { at, OperatorFixture } from '../testing/operator-fixture.ts'

let fixture: OperatorFixture
beforeEach(async () => {
  fixture = await OperatorFixture.create()
  await fixture.start()
})
afterEach(async () => await fixture.close())

const row = () => fixture.view.row('default/shop')

test('an Application is a row from its creation to its end, and each change is announced while somebody listens', async () => {
  const told: string[] = []
  const end = fixture.view.subscribe((id) => told.push(id))
  expect([...fixture.view.rows()]).toEqual([])
  await fixture.create('shop', plainSpec)
  await fixture.settle()
  expect(row()).toMatchObject({
    id: 'default/shop',
    namespace: 'default',
    name: 'shop',
    phase: 'Pending',
    image: 'nginx:latest',
    replicas: 3,
    readyReplicas: 0,
    updatedReplicas: 0,
    strategy: 'RollingUpdate',
    createdAt: Date.parse(fixture.read('shop')?.metadata.creationTimestamp ?? ''),
  })
  expect(new Set(told)).toEqual(new Set(['default/shop']))
  told.length = 0
  fixture.rollOut('shop')
  await fixture.phase('shop', 'Running')
  const object = fixture.read('shop')
  expect([...fixture.view.rows()]).toEqual([row()])
  expect(row()).toMatchObject({
    phase: 'Running',
    readyReplicas: 3,
    updatedReplicas: 3,
    message: '3 of 3 replicas are ready.',
    resourceVersion: object?.metadata.resourceVersion,
  })
  expect(row()?.conditions.map(({ status, type }) => `${type} ${status}`)).toEqual(['Ready True', 'Progressing True'])
  expect(told.length).toBeGreaterThan(0)
  told.length = 0
  await fixture.api.delete(Application, at('shop'))
  await fixture.settle()
  expect(row()).toBeUndefined()
  expect(told).toContain('default/shop')
  end()
  told.length = 0
  await fixture.create('quiet', plainSpec)
  await fixture.settle()
  expect(told).toEqual([])
  expect(fixture.view.row('default/quiet')).toBeDefined()
})

test('rollout progress is that of the current revision, and is announced with the Deployment', async () => {
  await fixture.create('shop', plainSpec)
  await fixture.settle()
  fixture.rollOut('shop')
  await fixture.phase('shop', 'Running')
  const told: string[] = []
  const end = fixture.view.subscribe((id) => told.push(id))
  await fixture.write('shop', { ...plainSpec, image: 'nginx:2' })
  await fixture.settle()
  expect(row()).toMatchObject({ image: 'nginx:2', updatedReplicas: 0 })
  const live = fixture.server.peek(Deployment, at('shop'))
  if (!live) throw new Error('no Deployment')
  told.length = 0
  const status = {
    replicas: 3,
    readyReplicas: 3,
    updatedReplicas: 1,
    observedGeneration: live.metadata.generation ?? 0,
  }
  fixture.server.seed(Deployment, { ...live, status })
  await fixture.settle()
  expect(row()?.updatedReplicas).toBe(1)
  expect(told).toContain('default/shop')
  end()
})

test('a subscriber is not told of the Applications that exist already', async () => {
  await fixture.create('shop', plainSpec)
  await fixture.settle()
  const told: string[] = []
  const end = fixture.view.subscribe((id) => told.push(id))
  expect(told).toEqual([])
  const patch = mergePatch({ metadata: { labels: { tier: 'web' } } })
  await fixture.api.patch(Application, at('shop'), patch)
  await fixture.settle()
  expect(told).toEqual(['default/shop'])
  end()
})

test('an autoscaled Application shows the replicas that the autoscaler has chosen', async () => {
  await fixture.create('shop', { ...plainSpec, autoscaling: { minReplicas: 2, maxReplicas: 9 } })
  await fixture.settle()
  const live = fixture.server.peek(Deployment, at('shop'))
  if (!live?.spec) throw new Error('no Deployment')
  fixture.server.seed(Deployment, { ...live, spec: { ...live.spec, replicas: 7 } })
  await fixture.settle()
  expect(row()?.replicas).toBe(7)
})
