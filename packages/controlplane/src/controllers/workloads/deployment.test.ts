import { mergePatch } from '@tenure/kube'
import { Deployment, ReplicaSet } from '@tenure/kube/kinds'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { SIMULATE } from '../nodes/simulation.ts'
import { template, World } from '../fixture.testing.ts'

let world: World
beforeEach(async () => {
  world = await World.start()
})
afterEach(() => world.end())

const setImage = (name: string, image: string, annotations?: Record<string, string>): Promise<unknown> =>
  world.api.patch(
    Deployment,
    { name, namespace: 'default' },
    mergePatch({ spec: { template: template(name, image, annotations) } }),
  )

const conditionOf = async (name: string, type: string): Promise<string | undefined> => {
  const found = (await world.get(Deployment, name))?.status?.conditions?.find((each) => each.type === type)
  return found && `${found.status} ${found.reason}: ${found.message}`
}

test('a Deployment becomes available, says so, and then costs nothing', async () => {
  await world.deployment('web')
  await world.until(() => world.isRolledOut('web'), 'rolled out')
  const [set] = await world.sets()
  expect(set?.metadata.annotations).toEqual({
    'deployment.kubernetes.io/desired-replicas': '3',
    'deployment.kubernetes.io/max-replicas': '4',
    'deployment.kubernetes.io/revision': '1',
  })
  const hash = set?.metadata.labels?.['pod-template-hash']
  expect(set?.metadata.name).toBe(`web-${hash}`)
  expect(set?.spec?.selector.matchLabels).toEqual({ app: 'web', 'pod-template-hash': hash })
  const deployment = await world.get(Deployment, 'web')
  expect(deployment?.metadata).toMatchObject({
    generation: 1,
    annotations: { 'deployment.kubernetes.io/revision': '1' },
  })
  await world.settle()
  expect(await conditionOf('web', 'Available')).toBe(
    'True MinimumReplicasAvailable: Deployment has minimum availability.',
  )
  expect(await conditionOf('web', 'Progressing')).toBe(
    `True NewReplicaSetAvailable: ReplicaSet "web-${hash}" has successfully progressed.`,
  )
  expect(await world.events('web')).toEqual([`ScalingReplicaSet: Scaled up replica set web-${hash} from 0 to 3`])
  const { revision } = world.plane.storage
  await world.clock.advance(200_000)
  expect(world.plane.storage.revision).toBe(revision)
})

test('a rolling update never has too many or too few pods, and keeps its history', async () => {
  await world.deployment('web', {
    replicas: 4,
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } },
  })
  await world.until(() => world.isRolledOut('web'), 'rolled out')
  await setImage('web', 'app:2')
  let most = 0
  let fewest = Infinity
  await world.until(async () => {
    const pods = await world.pods('app=web')
    const staying = pods.filter(({ metadata }) => !metadata.deletionTimestamp)
    most = Math.max(most, staying.length)
    fewest = Math.min(
      fewest,
      staying.filter(({ status }) =>
        status?.conditions?.some(({ status: is, type }) => type === 'Ready' && is === 'True'),
      ).length,
    )
    return world.isRolledOut('web')
  }, 'updated')
  expect(most).toBe(5)
  expect(fewest).toBe(3)
  await world.settle()
  const images = (await world.pods('app=web')).map(({ spec }) => spec?.containers[0]?.image)
  expect(images).toEqual(['app:2', 'app:2', 'app:2', 'app:2'])
  // Back again: the old set is used anew, with a new revision and a memory of the old one.
  await setImage('web', 'app:1')
  await world.until(() => world.isRolledOut('web'), 'back')
  const revisions = (await world.sets()).map(({ metadata }) => [
    metadata.annotations?.['deployment.kubernetes.io/revision'],
    metadata.annotations?.['deployment.kubernetes.io/revision-history'],
  ])
  expect(revisions.toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1))).toEqual([
    ['2', undefined],
    ['3', '1'],
  ])
})

test('Recreate runs old and new pods at no time together', async () => {
  await world.deployment('web', { strategy: { type: 'Recreate' } })
  await world.until(() => world.isRolledOut('web'), 'rolled out')
  await setImage('web', 'app:2')
  let mixed = false
  await world.until(async () => {
    const images = new Set((await world.pods('app=web')).map(({ spec }) => spec?.containers[0]?.image))
    mixed ||= images.size > 1
    return (await world.isRolledOut('web')) && images.has('app:2')
  }, 'recreated')
  expect(mixed).toBe(false)
})

test('a rollout that can not succeed keeps the old pods and is reported after its deadline', async () => {
  await world.deployment('web', { progressDeadlineSeconds: 30 })
  await world.until(() => world.isRolledOut('web'), 'rolled out')
  await setImage('web', 'missing:1', { [SIMULATE.pullFailure]: 'true' })
  await world.until(
    async () => (await conditionOf('web', 'Progressing'))?.startsWith('False ProgressDeadlineExceeded') ?? false,
    'reported',
  )
  expect(await conditionOf('web', 'Progressing')).toMatch(
    /^False ProgressDeadlineExceeded: ReplicaSet "web-\w+" has timed out progressing\.$/,
  )
  expect((await world.get(Deployment, 'web'))?.status).toMatchObject({
    availableReplicas: 3,
    updatedReplicas: 1,
    unavailableReplicas: 1,
  })
  // Nothing more is written for it, though it waits for ever.
  await world.settle()
  const { revision } = world.plane.storage
  await world.clock.advance(120_000)
  expect(world.plane.storage.revision).toBe(revision)
})

test('a paused Deployment is scaled but not rolled out; resumed, it is', async () => {
  await world.deployment('web', { replicas: 2 })
  await world.until(() => world.isRolledOut('web'), 'rolled out')
  const patch = (spec: object): Promise<unknown> => world.api.patch(Deployment, { name: 'web' }, mergePatch({ spec }))
  await patch({ paused: true, replicas: 4, template: template('web', 'app:2') })
  await world.until(async () => (await world.get(Deployment, 'web'))?.status?.availableReplicas === 4, 'scaled')
  expect(await conditionOf('web', 'Progressing')).toBe('Unknown DeploymentPaused: Deployment is paused')
  expect((await world.sets()).length).toBe(1)
  await patch({ paused: false })
  await world.until(() => world.isRolledOut('web'), 'updated')
  expect((await world.sets()).length).toBe(2)
})

test('only as many old ReplicaSets as wanted are kept', async () => {
  await world.deployment('web', { replicas: 1, revisionHistoryLimit: 1 })
  for (const image of ['app:2', 'app:3', 'app:4']) {
    await world.until(() => world.isRolledOut('web'), 'rolled out')
    await setImage('web', image)
    await world.settle()
  }
  const sets = await world.sets()
  expect(sets.map(({ spec }) => spec?.template?.spec?.containers[0]?.image ?? '').toSorted()).toEqual([
    'app:3',
    'app:4',
  ])
})

test('a Deployment adopts a ReplicaSet that fits instead of making another', async () => {
  await world.deployment('web', { replicas: 2 })
  await world.until(() => world.isRolledOut('web'), 'rolled out')
  await world.api.delete(Deployment, { name: 'web' }, { propagation: 'Orphan' })
  await world.until(async () => (await world.get(Deployment, 'web')) === undefined, 'gone')
  expect((await world.sets())[0]?.metadata.ownerReferences).toBeUndefined()
  await world.deployment('web', { replicas: 2 })
  await world.until(() => world.isRolledOut('web'), 'taken over')
  const sets = await world.list(ReplicaSet)
  expect(sets.length).toBe(1)
  expect(sets[0]?.metadata.ownerReferences).toMatchObject([{ kind: 'Deployment', name: 'web', controller: true }])
})
