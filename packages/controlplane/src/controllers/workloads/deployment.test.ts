import { mergePatch } from '@tenure/kube'
import { Deployment, ReplicaSet } from '@tenure/kube/kinds'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { SIMULATE } from '../nodes/simulation.ts'
import { template, ControlPlaneFixture } from '../fixture.testing.ts'

let fixture: ControlPlaneFixture
beforeEach(async () => {
  fixture = await ControlPlaneFixture.start()
})
afterEach(() => fixture.end())

const setImage = (name: string, image: string, annotations?: Record<string, string>): Promise<unknown> =>
  fixture.api.patch(
    Deployment,
    { name, namespace: 'default' },
    mergePatch({ spec: { template: template(name, image, annotations) } }),
  )

const conditionOf = async (name: string, type: string): Promise<string | undefined> => {
  const found = (await fixture.get(Deployment, name))?.status?.conditions?.find((each) => each.type === type)
  return found && `${found.status} ${found.reason}: ${found.message}`
}

test('a Deployment becomes available and then causes no writes', async () => {
  await fixture.deployment('web')
  await fixture.until(() => fixture.isRolledOut('web'), 'rolled out')
  const [set] = await fixture.sets()
  expect(set?.metadata.annotations).toEqual({
    'deployment.kubernetes.io/desired-replicas': '3',
    'deployment.kubernetes.io/max-replicas': '4',
    'deployment.kubernetes.io/revision': '1',
  })
  const hash = set?.metadata.labels?.['pod-template-hash']
  expect(set?.metadata.name).toBe(`web-${hash}`)
  expect(set?.spec?.selector.matchLabels).toEqual({ app: 'web', 'pod-template-hash': hash })
  const deployment = await fixture.get(Deployment, 'web')
  expect(deployment?.metadata).toMatchObject({
    generation: 1,
    annotations: { 'deployment.kubernetes.io/revision': '1' },
  })
  await fixture.settle()
  expect(await conditionOf('web', 'Available')).toBe(
    'True MinimumReplicasAvailable: Deployment has minimum availability.',
  )
  expect(await conditionOf('web', 'Progressing')).toBe(
    `True NewReplicaSetAvailable: ReplicaSet "web-${hash}" has successfully progressed.`,
  )
  expect(await fixture.events('web')).toEqual([`ScalingReplicaSet: Scaled up replica set web-${hash} from 0 to 3`])
  const { revision } = fixture.plane.storage
  await fixture.clock.advance(200_000)
  expect(fixture.plane.storage.revision).toBe(revision)
})

test('a rolling update respects maxSurge and maxUnavailable and keeps its history', async () => {
  await fixture.deployment('web', {
    replicas: 4,
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } },
  })
  await fixture.until(() => fixture.isRolledOut('web'), 'rolled out')
  await setImage('web', 'app:2')
  let most = 0
  let fewest = Infinity
  await fixture.until(async () => {
    const pods = await fixture.pods('app=web')
    const staying = pods.filter(({ metadata }) => !metadata.deletionTimestamp)
    most = Math.max(most, staying.length)
    fewest = Math.min(
      fewest,
      staying.filter(({ status }) =>
        status?.conditions?.some(({ status: is, type }) => type === 'Ready' && is === 'True'),
      ).length,
    )
    return fixture.isRolledOut('web')
  }, 'updated')
  expect(most).toBe(5)
  expect(fewest).toBe(3)
  await fixture.settle()
  const images = (await fixture.pods('app=web')).map(({ spec }) => spec?.containers[0]?.image)
  expect(images).toEqual(['app:2', 'app:2', 'app:2', 'app:2'])
  // A rollback reuses the old set with a new revision and a revision history.
  await setImage('web', 'app:1')
  await fixture.until(() => fixture.isRolledOut('web'), 'back')
  const revisions = (await fixture.sets()).map(({ metadata }) => [
    metadata.annotations?.['deployment.kubernetes.io/revision'],
    metadata.annotations?.['deployment.kubernetes.io/revision-history'],
  ])
  expect(revisions.toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1))).toEqual([
    ['2', undefined],
    ['3', '1'],
  ])
})

test('Recreate never runs old and new pods together', async () => {
  await fixture.deployment('web', { strategy: { type: 'Recreate' } })
  await fixture.until(() => fixture.isRolledOut('web'), 'rolled out')
  await setImage('web', 'app:2')
  let mixed = false
  await fixture.until(async () => {
    const images = new Set((await fixture.pods('app=web')).map(({ spec }) => spec?.containers[0]?.image))
    mixed ||= images.size > 1
    return (await fixture.isRolledOut('web')) && images.has('app:2')
  }, 'recreated')
  expect(mixed).toBe(false)
})

test('a failing rollout keeps the old pods and is reported after its deadline', async () => {
  await fixture.deployment('web', { progressDeadlineSeconds: 30 })
  await fixture.until(() => fixture.isRolledOut('web'), 'rolled out')
  await setImage('web', 'missing:1', { [SIMULATE.pullFailure]: 'true' })
  await fixture.until(
    async () => (await conditionOf('web', 'Progressing'))?.startsWith('False ProgressDeadlineExceeded') ?? false,
    'reported',
  )
  expect(await conditionOf('web', 'Progressing')).toMatch(
    /^False ProgressDeadlineExceeded: ReplicaSet "web-\w+" has timed out progressing\.$/,
  )
  expect((await fixture.get(Deployment, 'web'))?.status).toMatchObject({
    availableReplicas: 3,
    updatedReplicas: 1,
    unavailableReplicas: 1,
  })
  // A timed-out rollout causes no more writes.
  await fixture.settle()
  const { revision } = fixture.plane.storage
  await fixture.clock.advance(120_000)
  expect(fixture.plane.storage.revision).toBe(revision)
})

test('a paused Deployment is scaled and rolls out after it is resumed', async () => {
  await fixture.deployment('web', { replicas: 2 })
  await fixture.until(() => fixture.isRolledOut('web'), 'rolled out')
  const patch = (spec: object): Promise<unknown> => fixture.api.patch(Deployment, { name: 'web' }, mergePatch({ spec }))
  await patch({ paused: true, replicas: 4, template: template('web', 'app:2') })
  await fixture.until(async () => (await fixture.get(Deployment, 'web'))?.status?.availableReplicas === 4, 'scaled')
  expect(await conditionOf('web', 'Progressing')).toBe('Unknown DeploymentPaused: Deployment is paused')
  expect((await fixture.sets()).length).toBe(1)
  await patch({ paused: false })
  await fixture.until(() => fixture.isRolledOut('web'), 'updated')
  expect((await fixture.sets()).length).toBe(2)
})

test('revisionHistoryLimit bounds the number of old ReplicaSets', async () => {
  await fixture.deployment('web', { replicas: 1, revisionHistoryLimit: 1 })
  for (const image of ['app:2', 'app:3', 'app:4']) {
    await fixture.until(() => fixture.isRolledOut('web'), 'rolled out')
    await setImage('web', image)
    await fixture.settle()
  }
  const sets = await fixture.sets()
  expect(sets.map(({ spec }) => spec?.template?.spec?.containers[0]?.image ?? '').toSorted()).toEqual([
    'app:3',
    'app:4',
  ])
})

test('a Deployment adopts a matching ReplicaSet instead of creating one', async () => {
  await fixture.deployment('web', { replicas: 2 })
  await fixture.until(() => fixture.isRolledOut('web'), 'rolled out')
  await fixture.api.delete(Deployment, { name: 'web' }, { propagation: 'Orphan' })
  await fixture.until(async () => (await fixture.get(Deployment, 'web')) === undefined, 'gone')
  expect((await fixture.sets())[0]?.metadata.ownerReferences).toBeUndefined()
  await fixture.deployment('web', { replicas: 2 })
  await fixture.until(() => fixture.isRolledOut('web'), 'taken over')
  const sets = await fixture.list(ReplicaSet)
  expect(sets.length).toBe(1)
  expect(sets[0]?.metadata.ownerReferences).toMatchObject([{ kind: 'Deployment', name: 'web', controller: true }])
})
