/** Tests leases on a real cluster as users see them, with kubectl. */
import { leaseControllerDefinition, SEED_FAMILY } from '@tenure/leases'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'

import { workerKubeconfig } from './worker-kubeconfig.ts'
import type { ClusterAccess } from './access.ts'
import { LeaseFixture, type Running } from './support/lease-fixture.ts'

const POLL_OPTIONS = { timeout: 90_000, interval: 100 }
const { prefix: PREFIX } = SEED_FAMILY
const TTL = `${PREFIX}ttl`
const NAMESPACES = 50

let fixture: LeaseFixture
let cluster: ClusterAccess
let operator: Running

beforeAll(async () => {
  fixture = await LeaseFixture.open(workerKubeconfig(), [
    { group: '', plural: 'configmaps' },
    { group: '', plural: 'pods' },
    { group: 'apps', plural: 'deployments' },
    { group: 'apps', plural: 'replicasets' },
    { group: 'batch', plural: 'jobs' },
    { group: 'scheduling.k8s.io', plural: 'priorityclasses' },
  ])
  cluster = fixture.cluster
})

beforeEach(async () => {
  operator = await fixture.startOperator({ leaseControllerMode: 'shared' })
})

afterEach(() => fixture.clear())

afterAll(() => fixture.close())

/** Returns the names of the objects of a kind, optionally selected; empty if there are none. */
const names = (kind: string, ...args: readonly string[]): Promise<string> =>
  fixture.kubectl('get', kind, '--ignore-not-found', '-o', 'name', ...args)

async function annotation(kind: string, name: string, key: string): Promise<string> {
  const path = `{.metadata.annotations.${(PREFIX + key).replaceAll('.', '\\.')}}`
  return await fixture.kubectl('get', kind, name, '-o', `jsonpath=${path}`)
}

function deployment(name: string, annotations: Readonly<Record<string, string>>): object {
  const labels = { app: name }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: fixture.namespace, annotations },
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'nginx' }] } },
    },
  }
}

test('a pod is leased, extended and released with kubectl as in the seed document', async () => {
  await fixture.applyController('pods', { kind: 'Pod', version: 'v1' })
  await fixture.waitForReady('pods')
  await fixture.kubectl('run', 'test', '--image=nginx')
  await fixture.kubectl('annotate', 'pod', 'test', 'object-lease-controller.ullberg.us/ttl=1h30m')
  await expect
    .poll(() => annotation('pod', 'test', 'lease-status'), POLL_OPTIONS)
    .toMatch(/^Lease active\. Expires at \S+Z UTC\.$/)
  const until = Date.parse(await annotation('pod', 'test', 'expire-at'))
  const created = Date.parse(
    await fixture.kubectl('get', 'pod', 'test', '-o', 'jsonpath={.metadata.creationTimestamp}'),
  )
  expect(until - created).toBeGreaterThanOrEqual(5_400_000)

  await fixture.kubectl('annotate', 'pod', 'test', `${PREFIX}extended-at=2126-06-11T20:48:11Z`, '--overwrite')
  await expect.poll(() => annotation('pod', 'test', 'expire-at'), POLL_OPTIONS).toBe('2126-06-11T22:18:11Z')
  await fixture.kubectl('annotate', 'pod', 'test', `${TTL}=1h30`, '--overwrite')
  await expect
    .poll(() => annotation('pod', 'test', 'lease-status'), POLL_OPTIONS)
    .toMatch(/^Invalid TTL: 30 has no unit/)
  expect(await annotation('pod', 'test', 'expire-at')).toBe('')
  await fixture.kubectl('annotate', 'pod', 'test', `${TTL}-`)
  await expect
    .poll(() => fixture.kubectl('get', 'pod', 'test', '-o', 'jsonpath={.metadata.annotations}'), POLL_OPTIONS)
    .toBe('')
  const reasons = ['events', '--for', 'pod/test', '-o', 'jsonpath={.items[*].reason}']
  for (const reason of ['LeaseStarted', 'InvalidTTL', 'LeaseAnnotationsCleaned']) {
    await expect.poll(() => fixture.kubectl(...reasons), POLL_OPTIONS).toContain(reason)
  }
})

test('cluster-scoped objects are leased, and annotated objects of other kinds are not', async () => {
  await fixture.applyController('classes', { group: 'scheduling.k8s.io', kind: 'PriorityClass' })
  await fixture.waitForReady('classes')
  const name = `leased-${fixture.id}`
  await fixture.apply({
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name, annotations: { [TTL]: '2s' } },
    value: 1,
  })
  await fixture.apply({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: fixture.namespace, annotations: { [TTL]: '1s' } },
  })
  await expect.poll(() => names('priorityclass', name), POLL_OPTIONS).toBe('')
  expect(await names('configmap', name)).toBe(`configmap/${name}\n`)
})

test('the expiry of a Job deletes its pods', async () => {
  await fixture.applyController('jobs', { group: 'batch', kind: 'Job', version: 'v1' })
  await fixture.waitForReady('jobs')
  await fixture.apply({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'work', namespace: fixture.namespace },
    spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } } },
  })
  await expect.poll(() => names('pods', '-l', 'job-name=work'), POLL_OPTIONS).toContain('pod/work-')
  await fixture.kubectl('annotate', 'job', 'work', `${TTL}=1s`)
  await expect.poll(() => names('job', 'work'), POLL_OPTIONS).toBe('')
  await expect.poll(() => names('pods', '-l', 'job-name=work'), POLL_OPTIONS).toBe('')
})

test('an object with a finalizer is deleted once and disappears when that is removed', async () => {
  await fixture.applyController('maps', { kind: 'ConfigMap' })
  await fixture.waitForReady('maps')
  const metadata = { name: 'held', namespace: fixture.namespace, finalizers: ['example.dev/hold'] }
  await fixture.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...metadata, annotations: { [TTL]: '1s' } } })
  const going = ['configmap', 'held', '-o', 'jsonpath={.metadata.deletionTimestamp} {.metadata.resourceVersion}']
  await expect.poll(() => fixture.kubectl('get', ...going), POLL_OPTIONS).toMatch(/^2\S+Z /)
  const state = await fixture.kubectl('get', ...going)
  // It does not delay later expiries, and it is not written to meanwhile.
  const next = { name: 'next', namespace: fixture.namespace, annotations: { [TTL]: '1s' } }
  await fixture.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: next })
  await expect.poll(() => names('configmap', 'next'), POLL_OPTIONS).toBe('')
  expect(await fixture.kubectl('get', ...going)).toBe(state)
  await fixture.kubectl('patch', 'configmap', 'held', '--type=merge', '-p', '{"metadata":{"finalizers":null}}')
  await expect.poll(() => names('configmap', 'held'), POLL_OPTIONS).toBe('')
})

test('the propagation annotation decides whether dependents are deleted before, after or not at all', async () => {
  await fixture.applyController('deployments', { group: '', kind: 'Deployment', version: 'v1' })
  await fixture.waitForReady('deployments')
  const ways = { background: 'Background', foreground: 'Foreground', orphan: 'Orphan' }
  for (const [name, propagation] of Object.entries(ways)) {
    await fixture.apply(deployment(name, { [`${PREFIX}propagation`]: propagation }))
    await expect.poll(async () => (await names('pods', '-l', `app=${name}`)).split('\n').length, POLL_OPTIONS).toBe(3)
  }
  const owned = (name: string): Promise<string> => names('replicasets,pods', '-l', `app=${name}`)
  for (const name of Object.keys(ways)) await fixture.kubectl('annotate', 'deployment', name, `${TTL}=1s`)
  // When the owner is gone, its dependents already are.
  await expect.poll(() => names('deployment', 'foreground'), POLL_OPTIONS).toBe('')
  expect(await names('replicasets', '-l', 'app=foreground')).toBe('')
  await expect.poll(() => names('deployment', 'background'), POLL_OPTIONS).toBe('')
  await expect.poll(() => owned('background'), POLL_OPTIONS).toBe('')
  await expect.poll(() => names('deployment', 'orphan'), POLL_OPTIONS).toBe('')
  expect(await names('replicasets', '-l', 'app=orphan')).toContain('replicaset.apps/orphan-')
  expect((await names('pods', '-l', 'app=orphan')).split('\n')).toHaveLength(3)
})

test('annotations that ReplicaSets inherit from a Deployment are ignored, even after an Orphan deletion', async () => {
  await fixture.applyController('deployments', { group: 'apps', kind: 'Deployment' })
  await fixture.applyController('replicasets', { group: 'apps', kind: 'ReplicaSet' })
  await fixture.waitForReady('deployments', 'replicasets')
  await fixture.apply(deployment('web', { [TTL]: '1h', [`${PREFIX}propagation`]: 'Orphan' }))
  await expect.poll(() => annotation('deployment', 'web', 'expire-at'), POLL_OPTIONS).toMatch(/Z$/)
  const replicaSet = (await names('replicaset', '-l', 'app=web')).trim().replace('replicaset.apps/', '')
  // The two objects are often created in different seconds: dating both would never settle.
  const end = await annotation('deployment', 'web', 'expire-at')
  await expect.poll(() => annotation('replicaset', replicaSet, 'expire-at'), POLL_OPTIONS).toBe(end)
  await fixture.kubectl('annotate', 'deployment', 'web', `${TTL}=3s`, '--overwrite')
  await expect.poll(() => names('deployment', 'web'), POLL_OPTIONS).toBe('')
  // A later lease has expired by then.
  await fixture.apply(deployment('after', { [TTL]: '2s' }))
  await expect.poll(() => names('deployment', 'after'), POLL_OPTIONS).toBe('')
  expect(await names('replicaset', replicaSet)).toBe(`replicaset.apps/${replicaSet}\n`)
  expect(operator.writes.filter((write) => write.includes('/replicasets/web-'))).toEqual([])
})

test('a rollback does not restore an earlier expiry of an extended lease', async () => {
  await fixture.applyController('deployments', { group: 'apps', kind: 'Deployment' })
  await fixture.waitForReady('deployments')
  await fixture.apply(deployment('web', { [TTL]: '25s' }))
  await expect.poll(() => annotation('deployment', 'web', 'expire-at'), POLL_OPTIONS).toMatch(/Z$/)
  const oldEnd = await annotation('deployment', 'web', 'expire-at')
  const first = (await names('replicaset', '-l', 'app=web')).trim().replace('replicaset.apps/', '')
  await expect.poll(() => annotation('replicaset', first, 'expire-at'), POLL_OPTIONS).toBe(oldEnd)
  // From here on the annotations of the first ReplicaSet are older than those of the Deployment.
  await fixture.kubectl('set', 'image', 'deployment/web', 'main=nginx:2')
  await expect
    .poll(async () => (await names('replicaset', '-l', 'app=web')).trim().split('\n').length, POLL_OPTIONS)
    .toBe(2)
  const later = new Date(Date.now() + 600_000).toISOString()
  await fixture.kubectl('annotate', 'deployment', 'web', `${PREFIX}extended-at=${later}`)
  await expect.poll(() => Date.now() > Date.parse(oldEnd) + 1_000, POLL_OPTIONS).toBe(true)
  expect(await annotation('replicaset', first, 'expire-at')).toBe(oldEnd)
  await fixture.kubectl('rollout', 'undo', 'deployment/web')
  await expect
    .poll(() => annotation('deployment', 'web', 'expire-at'), POLL_OPTIONS)
    .not.toMatch(new RegExp(`^(?:${oldEnd})?$`))
  const events = ['get', 'events.events.k8s.io', '-o', 'jsonpath={.items[*].reason}']
  await expect.poll(() => fixture.kubectl(...events), POLL_OPTIONS).toContain('LeaseStartReset')
  // Afterwards the lease behaves like any other.
  await fixture.kubectl('annotate', 'deployment', 'web', `${TTL}=1s`, '--overwrite')
  await expect.poll(() => names('deployment', 'web'), POLL_OPTIONS).toBe('')
})

test('an object lives while it is updated, from its generation alone, and then expires', async () => {
  await fixture.applyController('deployments', { group: 'apps', kind: 'Deployment' })
  await fixture.waitForReady('deployments')
  await fixture.apply(deployment('web', { [TTL]: '20s', [`${PREFIX}renew-on`]: 'update' }))
  const dated = (): Promise<string> => annotation('deployment', 'web', 'expire-at')
  await expect.poll(dated, POLL_OPTIONS).toMatch(/Z$/)
  // The API server counts annotations in the generation of a Deployment: the controller's own write does not count.
  const generation = ['deployment', 'web', '-o', 'jsonpath={.metadata.generation}']
  expect(await annotation('deployment', 'web', 'observed-generation')).toBe(await fixture.kubectl('get', ...generation))
  expect(await annotation('deployment', 'web', 'extended-at')).toBe('')
  const first = await dated()
  await expect.poll(() => Date.now() > Date.parse(first) - 15_000, POLL_OPTIONS).toBe(true)
  await fixture.kubectl('set', 'image', 'deployment/web', 'main=nginx:2')
  await expect.poll(dated, POLL_OPTIONS).not.toBe(first)
  expect(await annotation('deployment', 'web', 'observed-generation')).toBe(await fixture.kubectl('get', ...generation))

  // An update while no controller runs counts, too.
  await operator.stop()
  await fixture.kubectl('scale', 'deployment/web', '--replicas=1')
  const second = await dated()
  await expect.poll(() => Date.now() > Date.parse(second) + 1_000, POLL_OPTIONS).toBe(true)
  operator = await fixture.startOperator({ leaseControllerMode: 'shared' })
  await expect.poll(dated, POLL_OPTIONS).not.toBe(second)
  const third = await dated()
  await expect.poll(() => names('deployment', 'web'), POLL_OPTIONS).toBe('')
  expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(third))
})

test('a restored object is not deleted because of the dates of its earlier life', async () => {
  await fixture.applyController('maps', { kind: 'ConfigMap' })
  await fixture.waitForReady('maps')
  const restored = (name: string, annotations: object) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: fixture.namespace, annotations },
  })
  const old = { [`${PREFIX}extended-at`]: '2024-01-01T00:00:00Z', [`${PREFIX}expire-at`]: '2024-01-01T01:00:00Z' }
  await fixture.apply(restored('backup', { [TTL]: '1h', ...old }))
  await fixture.apply(restored('fixed', { [`${PREFIX}expires`]: '2024-01-01', ...old }))
  const created = await fixture.kubectl('get', 'cm', 'backup', '-o', 'jsonpath={.metadata.creationTimestamp}')
  await expect.poll(() => annotation('configmap', 'backup', 'extended-at'), POLL_OPTIONS).toBe(created)
  expect(Date.parse(await annotation('configmap', 'backup', 'expire-at'))).toBe(Date.parse(created) + 3_600_000)
  await expect
    .poll(() => annotation('configmap', 'fixed', 'lease-status'), POLL_OPTIONS)
    .toMatch(/^Invalid TTL: expires is not after the object's creation/)
  const events = ['events', '--for', 'configmap/backup', '-o', 'jsonpath={.items[*].reason}']
  await expect.poll(() => fixture.kubectl(...events), POLL_OPTIONS).toContain('LeaseStartReset')
})

test('a cleanup job whose object was deleted during downtime is released at the next start', async () => {
  await fixture.applyController('maps', { kind: 'ConfigMap', cleanup: { serviceAccounts: ['missing'] } })
  await fixture.waitForReady('maps')
  await fixture.kubectl('create', 'configmap', 'scripts', '--from-literal=bye=true')
  const annotations = {
    [TTL]: '1s',
    [`${PREFIX}on-delete-job`]: 'scripts/bye',
    [`${PREFIX}job-ttl`]: '600',
    [`${PREFIX}job-wait`]: 'true',
    // The account does not exist, so the job has no pods and does not finish.
    [`${PREFIX}job-service-account`]: 'missing',
  }
  const metadata = { name: 'left', namespace: fixture.namespace, annotations }
  await fixture.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata })
  await expect
    .poll(() => annotation('configmap', 'left', 'lease-status'), POLL_OPTIONS)
    .toContain('Waiting for cleanup job')
  const held = `${PREFIX}held=true`
  const job = (await names('job', '-l', held)).trim()
  expect(job).toMatch(/^job\.batch\/lease-cleanup-left-\w+$/)
  const ttl = (): Promise<string> => fixture.kubectl('get', job, '-o', 'jsonpath={.spec.ttlSecondsAfterFinished}')
  expect(await ttl()).toBe('')
  await operator.stop()
  await fixture.kubectl('delete', 'configmap', 'left')
  await fixture.startOperator({ leaseControllerMode: 'shared' })
  await expect.poll(ttl, POLL_OPTIONS).toBe('600')
  expect(await names('job', '-l', held)).toBe('')
  await fixture.kubectl('delete', job)
})

test('fifty namespaces opt in at once and one opts out', async () => {
  await fixture.applyController('maps', { kind: 'ConfigMap', optIn: { key: 'leased', value: 'yes' } })
  await fixture.waitForReady('maps')
  const batch = { batch: fixture.id }
  const all = Array.from({ length: NAMESPACES }, (_, index) => `many-${fixture.id}-${index}`)
  const namespaces = all.map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: batch } }))
  const map = (namespace: string, ttl: string): object => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'leased', namespace, labels: batch, annotations: { [TTL]: ttl } },
  })
  const left = async (): Promise<number> => {
    const found = await cluster.kubectl(['get', 'configmaps', '-A', '-l', `batch=${fixture.id}`, '-o', 'name'])
    return found.split('\n').length - 1
  }
  try {
    await fixture.apply({
      apiVersion: 'v1',
      kind: 'List',
      items: [...namespaces, ...all.map((name) => map(name, '1s'))],
    })
    expect(await left()).toBe(NAMESPACES)
    await cluster.kubectl(['label', 'namespaces', '-l', `batch=${fixture.id}`, 'leased=yes'])
    await expect.poll(left, POLL_OPTIONS).toBe(0)

    // Objects in the namespace that opts out are kept; the others still expire.
    const [first = '', second = ''] = all
    await cluster.kubectl(['label', 'namespace', first, 'leased-'])
    await fixture.apply(map(first, '4s'))
    await fixture.apply(map(second, '6s'))
    await expect.poll(left, POLL_OPTIONS).toBe(1)
    expect(await cluster.kubectl(['-n', first, 'get', 'configmap', 'leased', '-o', 'name'])).toBe('configmap/leased\n')
  } finally {
    await cluster.kubectl(['delete', 'namespaces', '-l', `batch=${fixture.id}`, '--wait=false'])
  }
})

test('a lease that the API server rejects is reported by an event, and the object is kept until it has space', async () => {
  await fixture.applyController('maps', { kind: 'ConfigMap' })
  await fixture.waitForReady('maps')
  const create = async (name: string, more: Readonly<Record<string, string>>): Promise<void> => {
    const metadata = { name, namespace: fixture.namespace, annotations: { [TTL]: '2s', ...more } }
    // `kubectl apply` would add an annotation of its own.
    const stdin = { apiVersion: 'v1', kind: 'ConfigMap', metadata }
    await cluster.kubectl(['create', '-f', '-'], { stdin })
  }
  // The annotations of an object have at most 256 KiB; these leave no space for a date.
  await create('full', { full: 'x'.repeat(256 * 1024 - `${TTL}2sfull`.length - 20) })
  await create('other', {})
  await expect.poll(() => names('configmap', 'other'), POLL_OPTIONS).toBe('')
  const reports = ['events', '--for', 'configmap/full', '-o', 'jsonpath={.items[*].reason} {.items[*].message}']
  await expect.poll(() => fixture.kubectl(...reports), POLL_OPTIONS).toMatch(/^LeaseRejected .* Too long/)
  expect(await annotation('configmap', 'full', 'expire-at')).toBe('')
  expect(await fixture.ready('maps')).toMatch(/^True /)

  await fixture.kubectl('annotate', 'configmap', 'full', 'full-')
  await expect.poll(() => names('configmap', 'full'), POLL_OPTIONS).toBe('')
})

test('a CustomResourceDefinition that is deleted under the running operator is installed again', async () => {
  await fixture.applyController('maps', { kind: 'ConfigMap' })
  await fixture.waitForReady('maps')
  const crd = leaseControllerDefinition.metadata?.name ?? ''
  const uidOf = async (): Promise<string> =>
    (await cluster.runKubectl(['get', 'crd', crd, '-o', 'jsonpath={.metadata.uid}'])).stdout
  const deleted = await uidOf()
  await cluster.kubectl(['delete', 'crd', crd])
  await expect.poll(async () => (await uidOf()) || deleted, POLL_OPTIONS).not.toBe(deleted)

  // The operator watches the new kind: its controllers work as before.
  await expect.poll(async () => (await cluster.runKubectl(['get', 'leasecontrollers'])).code, POLL_OPTIONS).toBe(0)
  await fixture.applyController('again', { kind: 'ConfigMap' })
  await fixture.waitForReady('again')
  await fixture.kubectl('create', 'configmap', 'short')
  await fixture.kubectl('annotate', 'configmap', 'short', `${TTL}=1s`)
  await expect.poll(() => names('configmap', 'short'), POLL_OPTIONS).toBe('')
})
