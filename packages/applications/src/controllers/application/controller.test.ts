import { ConfigMap, Deployment, Job, PersistentVolumeClaim, Pod, Service } from '@tenure/kube/kinds'
import { refuse } from '@tenure/runtime/testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Application, FINALIZER } from '../../api/index.ts'
import { plainSpec, refusingAsNamespaceEnds } from '../../testing/objects.ts'
import { at, Bench } from '../../testing/bench.ts'

let bench: Bench
beforeEach(async () => {
  bench = new Bench()
  await bench.start()
})
afterEach(async () => await bench.stop())

/** A running shop, with the request log cleared. */
async function running(more: object = {}): Promise<void> {
  await bench.write('shop', { ...plainSpec, ...more })
  await bench.settle()
  bench.rollOut('shop')
  await bench.phase('shop', 'Running')
  bench.forget()
}

const condition = (name = 'shop') => bench.read(name)?.status?.conditions?.[0]

describe('from creation to running', () => {
  test('a new Application takes three writes and two events', async () => {
    await bench.write('shop', plainSpec)
    await bench.settle()
    bench.rollOut('shop')
    await bench.phase('shop', 'Running')
    expect(bench.writes).toEqual([
      'patch applications/shop',
      'apply deployments/shop',
      'apply applications/shop/status',
    ])
    expect(bench.events).toEqual({ Created: 1, Reconciled: 1 })
    expect(bench.read('shop')?.metadata.finalizers).toEqual([FINALIZER])
    const [owner] = bench.server.peek(Deployment, at('shop'))?.metadata.ownerReferences ?? []
    expect(owner).toMatchObject({ kind: 'Application', name: 'shop', controller: true })
  })

  test('a new Application with the finalizer takes two writes', async () => {
    await bench.api.create(Application, { metadata: { ...at('shop'), finalizers: [FINALIZER] }, spec: plainSpec })
    bench.forget()
    await bench.settle()
    bench.rollOut('shop')
    await bench.phase('shop', 'Running')
    expect(bench.writes).toEqual(['apply deployments/shop', 'apply applications/shop/status'])
    await bench.api.delete(Application, at('shop'))
    await bench.settle()
    expect(bench.read('shop')).toBeUndefined()
    expect(bench.server.objects(Deployment)).toEqual([])
  })

  test('a slow rollout takes one more write, and progress is reported at intervals', async () => {
    await bench.write('shop', plainSpec)
    await bench.clock.advance(5_500)
    expect(bench.read('shop')?.status).toMatchObject({ phase: 'Pending', readyReplicas: 0, observedGeneration: 1 })
    expect(bench.writes).toHaveLength(3)
    bench.rollOut('shop', 1)
    bench.rollOut('shop', 2)
    await bench.clock.advance(6_000)
    expect(bench.read('shop')?.status).toMatchObject({ phase: 'Pending', readyReplicas: 2 })
    expect(bench.writes).toHaveLength(4)
    bench.rollOut('shop')
    await bench.phase('shop', 'Running')
    expect(bench.writes).toHaveLength(5)
    expect(bench.events).toEqual({ Created: 1, Reconciled: 1 })
  })

  test('a running Application costs no writes, even after a restart', async () => {
    await running({ config: { A: '1' }, ports: [{ port: 80 }] })
    await bench.clock.advance(300_000)
    await bench.stop()
    await bench.start()
    await bench.clock.advance(300_000)
    expect(bench.writes).toEqual([])
  })
})

describe('a change of the spec', () => {
  test('the change is rolled out, and the phase is Running only afterwards', async () => {
    await running()
    await bench.write('shop', { ...plainSpec, replicas: 5, image: 'nginx:2' })
    await bench.settle()
    expect(bench.read('shop')?.status).toMatchObject({ phase: 'Pending', observedGeneration: 2 })
    bench.rollOut('shop')
    await bench.phase('shop', 'Running')
    expect(bench.read('shop')?.status).toMatchObject({ observedGeneration: 2, replicas: 5, readyReplicas: 5 })
    expect(bench.events).toEqual({ Created: 1, Updated: 1, Reconciled: 2 })
  })

  test('the change creates and removes children, but keeps volume claims', async () => {
    const more = { config: { A: '1' }, ports: [{ port: 80 }], persistence: { size: '1Gi', mountPath: '/data' } }
    await running(more)
    expect(bench.server.peek(ConfigMap, at('shop-config'))?.data).toEqual({ A: '1' })
    await bench.write('shop', plainSpec)
    await bench.settle()
    expect(bench.server.objects(Service)).toEqual([])
    // Old pods may restart while the new ones are not ready.
    expect(bench.server.objects(ConfigMap)).toHaveLength(1)
    bench.rollOut('shop')
    await bench.settle()
    expect(bench.server.objects(ConfigMap)).toEqual([])
    expect(bench.server.objects(PersistentVolumeClaim)).toHaveLength(1)
  })

  test('a change to run Once replaces the Deployment, and a changed run replaces the Job', async () => {
    await running()
    await bench.write('shop', { ...plainSpec, run: 'Once' })
    await bench.settle()
    expect(bench.server.objects(Deployment)).toEqual([])
    const first = bench.server.peek(Job, at('shop'))
    await bench.write('shop', { ...plainSpec, run: 'Once', image: 'other' })
    await bench.settle()
    const second = bench.server.peek(Job, at('shop'))
    expect(second?.spec?.template.spec?.containers[0]?.image).toBe('other')
    expect(second?.metadata.uid).not.toBe(first?.metadata.uid)
  })

  test('a finished run starts again after a change of the spec, not after the deletion of its Job', async () => {
    await bench.write('shop', { ...plainSpec, run: 'Once' })
    await bench.settle()
    const job = bench.server.peek(Job, at('shop'))
    if (!job) throw new Error('no Job')
    const conditions = [{ type: 'Complete', status: 'True' }]
    bench.server.seed(Job, { ...job, status: { succeeded: plainSpec.replicas, conditions } })
    await bench.phase('shop', 'Succeeded')
    bench.forget()
    bench.server.unseed(Job, at('shop'))
    await bench.settle()
    await bench.stop()
    await bench.start()
    await bench.clock.advance(60_000)
    expect(bench.writes).toEqual([])
    expect(bench.read('shop')?.status?.phase).toBe('Succeeded')
    await bench.write('shop', { ...plainSpec, run: 'Once', image: 'other' })
    await bench.settle()
    expect(bench.server.peek(Job, at('shop'))?.spec?.template.spec?.containers[0]?.image).toBe('other')
  })

  test('a refused change leaves the old workload running', async () => {
    await running()
    bench.server.intercept(({ plural, verb }) =>
      plural === 'jobs' && verb === 'apply' ? refuse(422, 'Invalid', 'no such Job') : undefined,
    )
    await bench.write('shop', { ...plainSpec, run: 'Once' })
    await bench.phase('shop', 'Failed')
    expect(condition()?.message).toBe('no such Job')
    expect(bench.server.objects(Deployment)).toHaveLength(1)
  })
})

describe('changes by others', () => {
  test('a change of an owned field is reverted, and a foreign field is kept', async () => {
    await running()
    const live = bench.server.peek(Deployment, at('shop'))
    if (!live?.spec) throw new Error('no Deployment')
    bench.server.seed(Deployment, {
      ...live,
      metadata: { ...live.metadata, annotations: { theirs: 'stays' } },
      spec: { ...live.spec, replicas: 1, minReadySeconds: 7 },
    })
    await bench.settle()
    expect(bench.server.peek(Deployment, at('shop'))).toMatchObject({
      metadata: { annotations: { theirs: 'stays' } },
      spec: { replicas: 3, minReadySeconds: 7 },
    })
  })

  test('a deleted Deployment is recreated, with an event', async () => {
    await running()
    bench.server.unseed(Deployment, at('shop'))
    await bench.settle()
    expect(bench.server.peek(Deployment, at('shop'))).toBeDefined()
    expect(bench.read('shop')?.status?.phase).toBe('Pending')
    expect(bench.events['Reconciling']).toBe(1)
  })

  test('a change of the status is reverted', async () => {
    await running()
    const live = bench.read('shop')
    if (!live?.status) throw new Error('no status')
    bench.server.seed(Application, { ...live, status: { ...live.status, phase: 'Succeeded' } })
    await bench.settle()
    expect(bench.read('shop')?.status?.phase).toBe('Running')
  })

  test('a change of labels and annotations causes no writes', async () => {
    await running()
    const live = bench.read('shop')
    if (!live) throw new Error('no Application')
    bench.server.seed(Application, { ...live, metadata: { ...live.metadata, labels: { theirs: 'yes' } } })
    await bench.settle()
    expect(bench.writes).toEqual([])
  })

  test('a child that lost its label is still owned', async () => {
    await running()
    const live = bench.server.peek(Deployment, at('shop'))
    if (!live) throw new Error('no Deployment')
    bench.server.seed(Deployment, { ...live, metadata: { ...live.metadata, labels: {} } })
    await bench.settle()
    expect(bench.server.peek(Deployment, at('shop'))?.metadata).toMatchObject({
      uid: live.metadata.uid,
      labels: { 'app.kubernetes.io/managed-by': 'elide-operator' },
    })
    expect(bench.read('shop')?.status?.phase).toBe('Running')
  })
})

describe('a pod that fails', () => {
  test('the failure is reported at once, and so is its end', async () => {
    await bench.write('shop', plainSpec)
    await bench.settle()
    bench.rollOut('shop', 0)
    bench.addPod('shop-1', 'shop', 'ErrImagePull')
    await bench.settle()
    expect(bench.read('shop')?.status?.phase).toBe('Failed')
    expect(condition()).toMatchObject({ reason: 'ErrImagePull', message: 'Pod shop-1: ErrImagePull!' })
    expect(bench.events).toEqual({ Created: 1, ReconciliationFailed: 1 })
    bench.forget()
    bench.addPod('shop-1', 'shop', 'ImagePullBackOff')
    await bench.clock.advance(60_000)
    expect(bench.writes).toEqual([])
    bench.addPod('shop-1', 'shop', 'ContainerCreating')
    await bench.phase('shop', 'Pending')
    bench.rollOut('shop')
    await bench.phase('shop', 'Running')
    expect(bench.events).toEqual({ Created: 1, ReconciliationFailed: 1, Reconciling: 1, Reconciled: 1 })
  })

  test('a pod of an earlier revision does not fail the current one', async () => {
    await bench.write('shop', plainSpec)
    await bench.settle()
    bench.rollOut('shop', 0)
    bench.addPod('shop-1', 'shop', 'ErrImagePull')
    await bench.phase('shop', 'Failed')
    await bench.write('shop', { ...plainSpec, image: 'nginx:fixed' })
    await bench.settle()
    expect(bench.read('shop')?.status?.phase).toBe('Pending')
    bench.server.unseed(Pod, at('shop-1'))
    bench.rollOut('shop')
    await bench.phase('shop', 'Running')
  })
})

/** Times of the applies of Deployments, in seconds since the first. */
const tries = (): readonly number[] => {
  const times = bench.server.requests
    .filter(({ plural, verb }) => plural === 'deployments' && verb === 'apply')
    .map(({ at: time }) => time)
  return times.map((time) => Math.round((time - (times[0] ?? 0)) / 1_000))
}

describe('a failing reconcile', () => {
  test('a failure is reported once and retried after 1, 2, 4, 8, 16 seconds and then slowly', async () => {
    const stop = bench.server.intercept(({ plural, verb }) =>
      plural === 'deployments' && verb === 'apply' ? refuse(422, 'Invalid', 'spec.x: it is invalid') : undefined,
    )
    await bench.write('shop', plainSpec)
    await bench.clock.advance(300_000)
    expect(tries()).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183, 243])
    expect(bench.read('shop')?.status?.phase).toBe('Failed')
    expect(condition()).toMatchObject({ reason: 'ReconciliationFailed', message: 'spec.x: it is invalid' })
    expect(bench.writes.filter((write) => write.includes('status'))).toHaveLength(1)
    expect(bench.events).toEqual({ Created: 1, ReconciliationFailed: 1 })
    stop()
    bench.forget()
    // A change of the spec is tried at once.
    await bench.write('shop', { ...plainSpec, replicas: 1 })
    await bench.settle()
    bench.rollOut('shop')
    await bench.phase('shop', 'Running')
    expect(tries()).toEqual([0])
  })

  test('a single transient error is not reported', async () => {
    let failures = 1
    bench.server.intercept(({ plural, verb }) =>
      plural === 'deployments' && verb === 'apply' && failures-- > 0 ? refuse(500, 'InternalError') : undefined,
    )
    await bench.write('shop', plainSpec)
    await bench.clock.advance(1_500)
    bench.rollOut('shop')
    await bench.phase('shop', 'Running')
    expect(bench.events).toEqual({ Created: 1, Reconciled: 1 })
  })

  test('a repeated transient error is reported', async () => {
    bench.server.intercept(({ plural, verb }) =>
      plural === 'deployments' && verb === 'apply' ? refuse(500, 'InternalError', 'webhook is down') : undefined,
    )
    await bench.write('shop', plainSpec)
    await bench.phase('shop', 'Failed')
    expect(condition()?.message).toContain('webhook is down')
  })

  test('an error of a terminating namespace is retried without a report', async () => {
    const stop = bench.server.intercept(({ plural, verb }) =>
      plural === 'deployments' && verb === 'apply' ? refusingAsNamespaceEnds() : undefined,
    )
    await bench.write('shop', plainSpec)
    await bench.clock.advance(30_000)
    expect(tries()).toEqual([0, 1, 3, 7, 15])
    expect(bench.writes.filter((write) => !write.includes('deployments'))).toEqual(['patch applications/shop'])
    expect(bench.read('shop')?.status).toBeUndefined()
    expect(bench.events).toEqual({})
    expect(bench.warnings).toEqual([])
    stop()
    await bench.clock.advance(2_000)
    bench.rollOut('shop')
    await bench.phase('shop', 'Running')
    expect(bench.events).toEqual({ Created: 1, Reconciled: 1 })
  })

  test('a foreign object of the same name is left alone and blocks until it is deleted', async () => {
    const theirs = { metadata: { ...at('shop-config'), labels: { theirs: 'yes' } }, data: { precious: 'x' } }
    bench.server.seed(ConfigMap, theirs)
    await bench.write('shop', { ...plainSpec, config: { A: '1' } })
    await bench.phase('shop', 'Failed')
    expect(condition()?.message).toContain('ConfigMap default/shop-config already exists')
    expect(bench.server.peek(ConfigMap, at('shop-config'))?.data).toEqual({ precious: 'x' })
    expect(bench.server.objects(Deployment)).toEqual([])
    bench.server.unseed(ConfigMap, at('shop-config'))
    await bench.clock.advance(61_000)
    bench.rollOut('shop')
    await bench.phase('shop', 'Running')
    expect(bench.server.peek(ConfigMap, at('shop-config'))?.data).toEqual({ A: '1' })
  })

  test('children of a deleted predecessor block until they are deleted', async () => {
    await running()
    const old = bench.server.peek(Deployment, at('shop'))
    bench.server.unseed(Application, at('shop'))
    await bench.write('shop', plainSpec)
    await bench.settle()
    expect(bench.server.peek(Deployment, at('shop'))?.metadata.uid).toBe(old?.metadata.uid)
    expect(bench.read('shop')?.status?.phase).toBeUndefined()
    bench.server.unseed(Deployment, at('shop'))
    await bench.settle()
    expect(bench.server.peek(Deployment, at('shop'))?.metadata.ownerReferences?.[0]?.uid).toBe(
      bench.read('shop')?.metadata.uid,
    )
  })
})

describe('deletion', () => {
  test('the children are removed before the finalizer', async () => {
    await running({ config: { A: '1' }, persistence: { size: '1Gi', mountPath: '/data' } })
    await bench.api.delete(Application, at('shop'))
    await bench.settle()
    expect(bench.read('shop')).toBeUndefined()
    for (const kind of [ConfigMap, Deployment, PersistentVolumeClaim]) expect(bench.server.objects(kind)).toEqual([])
    expect(bench.events).toMatchObject({ Cleanup: 1, Deleted: 1 })
  })

  test('a failed cleanup keeps the finalizer, is reported and is retried', async () => {
    await running()
    const stop = bench.server.intercept(({ plural, verb }) =>
      plural === 'deployments' && verb === 'delete' ? refuse(403, 'Forbidden', 'you may not') : undefined,
    )
    await bench.api.delete(Application, at('shop'))
    await bench.clock.advance(5_000)
    expect(bench.read('shop')?.metadata.finalizers).toEqual([FINALIZER])
    expect(condition()).toMatchObject({
      reason: 'ReconciliationFailed',
      message: expect.stringContaining('you may not'),
    })
    expect(bench.events).toMatchObject({ Cleanup: 1, ReconciliationFailed: 1 })
    stop()
    await bench.clock.advanceUntil(() => bench.read('shop') === undefined)
    await bench.settle()
    expect(bench.server.objects(Deployment)).toEqual([])
    expect(bench.events).toMatchObject({ Cleanup: 1, Deleted: 1 })
  })

  test('an orphaning deletion leaves the children', async () => {
    await running()
    const live = bench.read('shop')
    if (!live) throw new Error('no Application')
    bench.server.seed(Application, { ...live, metadata: { ...live.metadata, finalizers: [FINALIZER, 'orphan'] } })
    await bench.api.delete(Application, at('shop'))
    await bench.settle()
    expect(bench.read('shop')?.metadata.finalizers).toEqual(['orphan'])
    expect(bench.server.objects(Deployment)).toHaveLength(1)
  })
})
