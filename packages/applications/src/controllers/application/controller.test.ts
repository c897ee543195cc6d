import { mergePatch } from '@tenure/kube'
import { ConfigMap, Deployment, Job, PersistentVolumeClaim, Pod, Service } from '@tenure/kube/kinds'
import { refuse } from '@tenure/controlplane/testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Application, FINALIZER } from '../../api/index.ts'
import { plainSpec, refusingAsNamespaceEnds } from '../../testing/objects.ts'
import { at, OperatorFixture, UNREPORTED } from '../../testing/operator-fixture.ts'

let fixture: OperatorFixture
beforeEach(async () => {
  fixture = await OperatorFixture.create()
  await fixture.start()
})
afterEach(async () => await fixture.close())

/** A running shop, with the request log cleared. */
async function running(more: object = {}): Promise<void> {
  await fixture.write('shop', { ...plainSpec, ...more })
  await fixture.settle()
  fixture.rollOut('shop')
  await fixture.phase('shop', 'Running')
  fixture.forget()
}

const condition = (name = 'shop') => fixture.read(name)?.status?.conditions?.[0]

describe('from creation to running', () => {
  test('a new Application takes three writes and three events', async () => {
    await fixture.write('shop', plainSpec)
    await fixture.settle()
    fixture.rollOut('shop')
    await fixture.phase('shop', 'Running')
    expect(fixture.writes).toEqual([
      'patch applications/shop',
      'apply deployments/shop',
      'apply applications/shop/status',
    ])
    expect(fixture.events).toEqual({ Created: 1, Reconciling: 1, Reconciled: 1 })
    expect(fixture.notes('Reconciling')).toEqual([`Rolling out 3 replicas of ${plainSpec.image}.`])
    expect(fixture.read('shop')?.metadata.finalizers).toEqual([FINALIZER])
    const [owner] = fixture.server.peek(Deployment, at('shop'))?.metadata.ownerReferences ?? []
    expect(owner).toMatchObject({ kind: 'Application', name: 'shop', controller: true })
  })

  test('a new Application with the finalizer takes two writes', async () => {
    await fixture.api.create(Application, { metadata: { ...at('shop'), finalizers: [FINALIZER] }, spec: plainSpec })
    fixture.forget()
    await fixture.settle()
    fixture.rollOut('shop')
    await fixture.phase('shop', 'Running')
    expect(fixture.writes).toEqual(['apply deployments/shop', 'apply applications/shop/status'])
    await fixture.api.delete(Application, at('shop'))
    await fixture.settle()
    expect(fixture.read('shop')).toBeUndefined()
    expect(fixture.children(Deployment)).toEqual([])
  })

  test('a slow rollout takes one more write, and progress is reported at intervals', async () => {
    await fixture.write('shop', plainSpec)
    await fixture.clock.advance(5_500)
    expect(fixture.read('shop')?.status).toMatchObject({ phase: 'Pending', readyReplicas: 0, observedGeneration: 1 })
    expect(fixture.writes).toHaveLength(3)
    fixture.rollOut('shop', 1)
    fixture.rollOut('shop', 2)
    await fixture.clock.advance(6_000)
    expect(fixture.read('shop')?.status).toMatchObject({ phase: 'Pending', readyReplicas: 2 })
    expect(fixture.writes).toHaveLength(4)
    fixture.rollOut('shop')
    await fixture.phase('shop', 'Running')
    expect(fixture.writes).toHaveLength(5)
    expect(fixture.events).toEqual({ Created: 1, Reconciling: 1, Reconciled: 1 })
  })

  test('a running Application costs no writes, even after a restart', async () => {
    await running({ config: { A: '1' }, ports: [{ port: 80 }] })
    await fixture.clock.advance(300_000)
    await fixture.stop()
    await fixture.start()
    await fixture.clock.advance(300_000)
    expect(fixture.writes).toEqual([])
  })
})

describe('a change of the spec', () => {
  test('the change is rolled out, and the phase is Running only afterwards', async () => {
    await running()
    await fixture.write('shop', { ...plainSpec, replicas: 5, image: 'nginx:2' })
    await fixture.settle()
    expect(fixture.read('shop')?.status).toMatchObject({ phase: 'Pending', observedGeneration: 2 })
    fixture.rollOut('shop')
    await fixture.phase('shop', 'Running')
    expect(fixture.read('shop')?.status).toMatchObject({ observedGeneration: 2, replicas: 5, readyReplicas: 5 })
    expect(fixture.events).toEqual({ Created: 1, Updated: 1, Reconciling: 2, Reconciled: 2 })
    // A Kubernetes event says what happened last.
    expect(fixture.notes('Reconciled')).toEqual(['3 of 3 replicas are ready.', '5 of 5 replicas are ready.'])
    expect(fixture.notes('Reconciling').at(-1)).toBe('Rolling out 5 replicas of nginx:2.')
  })

  test.each(['a running Application', 'the first rollout'])('five quick changes of %s count as five', async (which) => {
    if (which === 'a running Application') await running()
    else await fixture.write('shop', plainSpec)
    await fixture.settle()
    for (let replicas = 4; replicas < 9; replicas++) {
      await fixture.api.patch(Application, at('shop'), mergePatch({ spec: { replicas } }))
    }
    await fixture.settle()
    expect(fixture.events['Updated']).toBe(5)
    expect(fixture.notes('Reconciling')).toContain(`Rolling out 8 replicas of ${plainSpec.image}.`)
    fixture.rollOut('shop')
    await fixture.phase('shop', 'Running')
    await fixture.clock.advance(60_000)
    expect(fixture.events['Updated']).toBe(5)
  })

  test('the change creates and removes children, but keeps volume claims', async () => {
    const more = { config: { A: '1' }, ports: [{ port: 80 }], persistence: { size: '1Gi', mountPath: '/data' } }
    await running(more)
    expect(fixture.server.peek(ConfigMap, at('shop-config'))?.data).toEqual({ A: '1' })
    await fixture.write('shop', plainSpec)
    await fixture.settle()
    expect(fixture.children(Service)).toEqual([])
    // Old pods may restart while the new ones are not ready.
    expect(fixture.children(ConfigMap)).toHaveLength(1)
    fixture.rollOut('shop')
    await fixture.settle()
    expect(fixture.children(ConfigMap)).toEqual([])
    expect(fixture.children(PersistentVolumeClaim)).toHaveLength(1)
  })

  test('a change to run Once replaces the Deployment, and a changed run replaces the Job', async () => {
    await running()
    await fixture.write('shop', { ...plainSpec, run: 'Once' })
    await fixture.settle()
    expect(fixture.children(Deployment)).toEqual([])
    const first = fixture.server.peek(Job, at('shop'))
    await fixture.write('shop', { ...plainSpec, run: 'Once', image: 'other' })
    await fixture.settle()
    const second = fixture.server.peek(Job, at('shop'))
    expect(second?.spec?.template.spec?.containers[0]?.image).toBe('other')
    expect(second?.metadata.uid).not.toBe(first?.metadata.uid)
  })

  test('a finished run starts again after a change of the spec, not after the deletion of its Job', async () => {
    await fixture.write('shop', { ...plainSpec, run: 'Once' })
    await fixture.settle()
    const job = fixture.server.peek(Job, at('shop'))
    if (!job) throw new Error('no Job')
    const conditions = [{ type: 'Complete', status: 'True' }]
    fixture.server.seed(Job, { ...job, status: { succeeded: plainSpec.replicas, conditions } })
    await fixture.phase('shop', 'Succeeded')
    fixture.forget()
    fixture.server.unseed(Job, at('shop'))
    await fixture.settle()
    await fixture.stop()
    await fixture.start()
    await fixture.clock.advance(60_000)
    expect(fixture.writes).toEqual([])
    expect(fixture.read('shop')?.status?.phase).toBe('Succeeded')
    await fixture.write('shop', { ...plainSpec, run: 'Once', image: 'other' })
    await fixture.settle()
    expect(fixture.server.peek(Job, at('shop'))?.spec?.template.spec?.containers[0]?.image).toBe('other')
  })

  test('a refused change leaves the old workload running', async () => {
    await running()
    fixture.server.intercept(({ plural, verb }) =>
      plural === 'jobs' && verb === 'apply' ? refuse(422, 'Invalid', 'no such Job') : undefined,
    )
    await fixture.write('shop', { ...plainSpec, run: 'Once' })
    await fixture.phase('shop', 'Failed')
    expect(condition()?.message).toBe('no such Job')
    expect(fixture.children(Deployment)).toHaveLength(1)
  })
})

describe('changes by others', () => {
  test('a change of an owned field is reverted, and a foreign field is kept', async () => {
    await running()
    const live = fixture.server.peek(Deployment, at('shop'))
    if (!live?.spec) throw new Error('no Deployment')
    fixture.server.seed(Deployment, {
      ...live,
      metadata: { ...live.metadata, annotations: { theirs: 'stays' } },
      spec: { ...live.spec, replicas: 1, minReadySeconds: 7 },
    })
    await fixture.settle()
    expect(fixture.server.peek(Deployment, at('shop'))).toMatchObject({
      metadata: { annotations: { theirs: 'stays' } },
      spec: { replicas: 3, minReadySeconds: 7 },
    })
  })

  test('a deleted Deployment is recreated, with an event', async () => {
    await running()
    fixture.server.unseed(Deployment, at('shop'))
    await fixture.settle()
    expect(fixture.server.peek(Deployment, at('shop'))).toBeDefined()
    expect(fixture.read('shop')?.status?.phase).toBe('Pending')
    // One for the creation.
    expect(fixture.events['Reconciling']).toBe(2)
  })

  test('a change of the status is reverted', async () => {
    await running()
    const live = fixture.read('shop')
    if (!live?.status) throw new Error('no status')
    fixture.server.seed(Application, { ...live, status: { ...live.status, phase: 'Succeeded' } })
    await fixture.settle()
    expect(fixture.read('shop')?.status?.phase).toBe('Running')
  })

  test('a change of labels and annotations causes no writes', async () => {
    await running()
    const live = fixture.read('shop')
    if (!live) throw new Error('no Application')
    fixture.server.seed(Application, { ...live, metadata: { ...live.metadata, labels: { theirs: 'yes' } } })
    await fixture.settle()
    expect(fixture.writes).toEqual([])
  })

  test('a child that lost its label is still owned', async () => {
    await running()
    const live = fixture.server.peek(Deployment, at('shop'))
    if (!live) throw new Error('no Deployment')
    fixture.server.seed(Deployment, { ...live, metadata: { ...live.metadata, labels: {} } })
    await fixture.settle()
    expect(fixture.server.peek(Deployment, at('shop'))?.metadata).toMatchObject({
      uid: live.metadata.uid,
      labels: { 'app.kubernetes.io/managed-by': 'elide-operator' },
    })
    expect(fixture.read('shop')?.status?.phase).toBe('Running')
  })
})

describe('a pod that fails', () => {
  test('the failure is reported at once, and so is its end', async () => {
    await fixture.write('shop', plainSpec)
    await fixture.settle()
    fixture.rollOut('shop', 0)
    fixture.addPod('shop-1', 'shop', 'ErrImagePull')
    await fixture.settle()
    expect(fixture.read('shop')?.status?.phase).toBe('Failed')
    expect(condition()).toMatchObject({ reason: 'ErrImagePull', message: 'Pod shop-1: ErrImagePull!' })
    expect(fixture.events).toEqual({ Created: 1, Reconciling: 1, ReconciliationFailed: 1 })
    fixture.forget()
    fixture.addPod('shop-1', 'shop', 'ImagePullBackOff')
    await fixture.clock.advance(60_000)
    expect(fixture.writes).toEqual([])
    fixture.addPod('shop-1', 'shop', 'ContainerCreating')
    await fixture.phase('shop', 'Pending')
    fixture.rollOut('shop')
    await fixture.phase('shop', 'Running')
    expect(fixture.events).toEqual({ Created: 1, ReconciliationFailed: 1, Reconciling: 2, Reconciled: 1 })
  })

  test('a pod of an earlier revision does not fail the current one', async () => {
    await fixture.write('shop', plainSpec)
    await fixture.settle()
    fixture.rollOut('shop', 0)
    fixture.addPod('shop-1', 'shop', 'ErrImagePull')
    await fixture.phase('shop', 'Failed')
    await fixture.write('shop', { ...plainSpec, image: 'nginx:fixed' })
    await fixture.settle()
    expect(fixture.read('shop')?.status?.phase).toBe('Pending')
    fixture.server.unseed(Pod, at('shop-1'))
    fixture.rollOut('shop')
    await fixture.phase('shop', 'Running')
  })
})

/** Times of the applies of Deployments, in seconds since the first. */
const tries = (): readonly number[] => {
  const times = fixture.server.requests
    .filter(({ plural, verb }) => plural === 'deployments' && verb === 'apply')
    .map(({ at: time }) => time)
  return times.map((time) => Math.round((time - (times[0] ?? 0)) / 1_000))
}

describe('a failing reconcile', () => {
  test('a failure is reported once and retried after 1, 2, 4, 8, 16 seconds and then slowly', async () => {
    const stop = fixture.server.intercept(({ plural, verb }) =>
      plural === 'deployments' && verb === 'apply' ? refuse(422, 'Invalid', 'spec.x: it is invalid') : undefined,
    )
    await fixture.write('shop', plainSpec)
    await fixture.clock.advance(300_000)
    expect(tries()).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183, 243])
    expect(fixture.read('shop')?.status?.phase).toBe('Failed')
    expect(condition()).toMatchObject({ reason: 'ReconciliationFailed', message: 'spec.x: it is invalid' })
    expect(fixture.writes.filter((write) => write.includes('status'))).toHaveLength(1)
    expect(fixture.events).toEqual({ Created: 1, ReconciliationFailed: 1 })
    stop()
    fixture.forget()
    // A change of the spec is tried at once.
    await fixture.write('shop', { ...plainSpec, replicas: 1 })
    await fixture.settle()
    fixture.rollOut('shop')
    await fixture.phase('shop', 'Running')
    expect(tries()).toEqual([0])
  })

  test('a single transient error is not reported', async () => {
    let failures = 1
    fixture.server.intercept(({ plural, verb }) =>
      plural === 'deployments' && verb === 'apply' && failures-- > 0 ? refuse(500, 'InternalError') : undefined,
    )
    await fixture.write('shop', plainSpec)
    await fixture.clock.advance(1_500)
    fixture.rollOut('shop')
    await fixture.phase('shop', 'Running')
    expect(fixture.events).toEqual({ Created: 1, Reconciling: 1, Reconciled: 1 })
  })

  test('a repeated transient error is reported', async () => {
    fixture.server.intercept(({ plural, verb }) =>
      plural === 'deployments' && verb === 'apply' ? refuse(500, 'InternalError', 'webhook is down') : undefined,
    )
    await fixture.write('shop', plainSpec)
    await fixture.phase('shop', 'Failed')
    expect(condition()?.message).toContain('webhook is down')
  })

  test('an error of a terminating namespace is retried without a report', async () => {
    const stop = fixture.server.intercept(({ plural, verb }) =>
      plural === 'deployments' && verb === 'apply' ? refusingAsNamespaceEnds() : undefined,
    )
    await fixture.write('shop', plainSpec)
    await fixture.clock.advance(30_000)
    expect(tries()).toEqual([0, 1, 3, 7, 15])
    expect(fixture.writes.filter((write) => !write.includes('deployments'))).toEqual(['patch applications/shop'])
    expect(fixture.read('shop')?.status).toEqual(UNREPORTED)
    expect(fixture.events).toEqual({})
    expect(fixture.warnings).toEqual([])
    stop()
    await fixture.clock.advance(2_000)
    fixture.rollOut('shop')
    await fixture.phase('shop', 'Running')
    expect(fixture.events).toEqual({ Created: 1, Reconciling: 1, Reconciled: 1 })
  })

  test('a foreign object of the same name is left alone and blocks until it is deleted', async () => {
    const theirs = { metadata: { ...at('shop-config'), labels: { theirs: 'yes' } }, data: { precious: 'x' } }
    fixture.server.seed(ConfigMap, theirs)
    await fixture.write('shop', { ...plainSpec, config: { A: '1' } })
    await fixture.phase('shop', 'Failed')
    expect(condition()?.message).toContain('ConfigMap default/shop-config already exists')
    expect(fixture.server.peek(ConfigMap, at('shop-config'))?.data).toEqual({ precious: 'x' })
    expect(fixture.children(Deployment)).toEqual([])
    fixture.server.unseed(ConfigMap, at('shop-config'))
    await fixture.clock.advance(61_000)
    fixture.rollOut('shop')
    await fixture.phase('shop', 'Running')
    expect(fixture.server.peek(ConfigMap, at('shop-config'))?.data).toEqual({ A: '1' })
  })

  test('children of a deleted predecessor block until they are deleted', async () => {
    await running()
    const old = fixture.server.peek(Deployment, at('shop'))
    fixture.server.unseed(Application, at('shop'))
    await fixture.write('shop', plainSpec)
    await fixture.settle()
    expect(fixture.server.peek(Deployment, at('shop'))?.metadata.uid).toBe(old?.metadata.uid)
    expect(fixture.read('shop')?.status).toEqual(UNREPORTED)
    fixture.server.unseed(Deployment, at('shop'))
    await fixture.settle()
    expect(fixture.server.peek(Deployment, at('shop'))?.metadata.ownerReferences?.[0]?.uid).toBe(
      fixture.read('shop')?.metadata.uid,
    )
  })
})

describe('deletion', () => {
  test('the children are removed before the finalizer', async () => {
    await running({ config: { A: '1' }, persistence: { size: '1Gi', mountPath: '/data' } })
    await fixture.api.delete(Application, at('shop'))
    await fixture.settle()
    expect(fixture.read('shop')).toBeUndefined()
    for (const kind of [ConfigMap, Deployment]) expect(fixture.children(kind)).toEqual([])
    // The finalizer pvc-protection holds a deleted claim.
    const claims = fixture.children(PersistentVolumeClaim)
    expect(claims.map(({ metadata }) => metadata.deletionTimestamp)).toEqual([expect.any(String)])
    expect(fixture.events).toMatchObject({ Cleanup: 1, Deleted: 1 })
  })

  test('a failed cleanup keeps the finalizer, is reported and is retried', async () => {
    await running()
    const stop = fixture.server.intercept(({ plural, verb }) =>
      plural === 'deployments' && verb === 'delete' ? refuse(403, 'Forbidden', 'you may not') : undefined,
    )
    await fixture.api.delete(Application, at('shop'))
    await fixture.clock.advance(5_000)
    expect(fixture.read('shop')?.metadata.finalizers).toEqual([FINALIZER])
    expect(condition()).toMatchObject({
      reason: 'ReconciliationFailed',
      message: expect.stringContaining('you may not'),
    })
    expect(fixture.events).toMatchObject({ Cleanup: 1, ReconciliationFailed: 1 })
    stop()
    await fixture.clock.advanceUntil(() => fixture.read('shop') === undefined)
    await fixture.settle()
    expect(fixture.children(Deployment)).toEqual([])
    expect(fixture.events).toMatchObject({ Cleanup: 1, Deleted: 1 })
  })

  test('an orphaning deletion leaves the children', async () => {
    await running()
    const live = fixture.read('shop')
    if (!live) throw new Error('no Application')
    fixture.server.seed(Application, { ...live, metadata: { ...live.metadata, finalizers: [FINALIZER, 'orphan'] } })
    await fixture.api.delete(Application, at('shop'))
    await fixture.settle()
    expect(fixture.read('shop')?.metadata.finalizers).toEqual(['orphan'])
    expect(fixture.children(Deployment)).toHaveLength(1)
  })
})
