/** Leases on a real cluster, as their users meet them: kubectl in one hand, the operator in the other. */
import { SEED_FAMILY } from '@tenure/leases'
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test } from 'vitest'

import type { ClusterAccess } from './access.ts'
import { LeaseBed, type Running } from './support/lease-bed.ts'

const SOON = { timeout: 90_000, interval: 100 }
const { prefix: PREFIX } = SEED_FAMILY
const TTL = `${PREFIX}ttl`
const NAMESPACES = 50

let bed: LeaseBed
let cluster: ClusterAccess
let operator: Running

beforeAll(async () => {
  bed = await LeaseBed.open(inject('kubeconfig'), [
    { group: '', plural: 'configmaps' },
    { group: '', plural: 'pods' },
    { group: 'apps', plural: 'deployments' },
    { group: 'apps', plural: 'replicasets' },
    { group: 'batch', plural: 'jobs' },
    { group: 'scheduling.k8s.io', plural: 'priorityclasses' },
  ])
  cluster = bed.cluster
})

beforeEach(async () => {
  operator = await bed.startOperator({ defaultMode: 'shared' })
})

afterEach(() => bed.clear())

afterAll(() => bed.close())

/** Names of what is there, of a kind, by label if one is given; empty if nothing is. */
const names = (kind: string, ...args: readonly string[]): Promise<string> =>
  bed.kubectl('get', kind, '--ignore-not-found', '-o', 'name', ...args)

async function annotation(kind: string, name: string, key: string): Promise<string> {
  const path = `{.metadata.annotations.${(PREFIX + key).replaceAll('.', '\\.')}}`
  return await bed.kubectl('get', kind, name, '-o', `jsonpath=${path}`)
}

function deployment(name: string, annotations: Readonly<Record<string, string>>): object {
  const labels = { app: name }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: bed.namespace, annotations },
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'nginx' }] } },
    },
  }
}

test('a pod is leased, extended and released with kubectl, as the seed says', async () => {
  await bed.applyController('pods', { kind: 'Pod', version: 'v1' })
  await bed.waitForReady('pods')
  await bed.kubectl('run', 'test', '--image=nginx')
  await bed.kubectl('annotate', 'pod', 'test', 'object-lease-controller.ullberg.us/ttl=1h30m')
  await expect
    .poll(() => annotation('pod', 'test', 'lease-status'), SOON)
    .toMatch(/^Lease active\. Expires at \S+Z UTC\.$/)
  const until = Date.parse(await annotation('pod', 'test', 'expire-at'))
  const created = Date.parse(await bed.kubectl('get', 'pod', 'test', '-o', 'jsonpath={.metadata.creationTimestamp}'))
  expect(until - created).toBeGreaterThanOrEqual(5_400_000)

  await bed.kubectl('annotate', 'pod', 'test', `${PREFIX}extended-at=2126-06-11T20:48:11Z`, '--overwrite')
  await expect.poll(() => annotation('pod', 'test', 'expire-at'), SOON).toBe('2126-06-11T22:18:11Z')
  await bed.kubectl('annotate', 'pod', 'test', `${TTL}=1h30`, '--overwrite')
  await expect.poll(() => annotation('pod', 'test', 'lease-status'), SOON).toMatch(/^Invalid TTL: 30 has no unit/)
  expect(await annotation('pod', 'test', 'expire-at')).toBe('')
  await bed.kubectl('annotate', 'pod', 'test', `${TTL}-`)
  await expect.poll(() => bed.kubectl('get', 'pod', 'test', '-o', 'jsonpath={.metadata.annotations}'), SOON).toBe('')
  const reasons = ['events', '--for', 'pod/test', '-o', 'jsonpath={.items[*].reason}']
  for (const reason of ['LeaseStarted', 'InvalidTTL', 'LeaseAnnotationsCleaned']) {
    await expect.poll(() => bed.kubectl(...reasons), SOON).toContain(reason)
  }
})

test('objects in no namespace are leased, and those of other kinds with the same annotation are not', async () => {
  await bed.applyController('classes', { group: 'scheduling.k8s.io', kind: 'PriorityClass' })
  await bed.waitForReady('classes')
  const name = `leased-${bed.id}`
  await bed.apply({
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name, annotations: { [TTL]: '2s' } },
    value: 1,
  })
  await bed.apply({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: bed.namespace, annotations: { [TTL]: '1s' } },
  })
  await expect.poll(() => names('priorityclass', name), SOON).toBe('')
  expect(await names('configmap', name)).toBe(`configmap/${name}\n`)
})

test('a Job takes its pods along', async () => {
  await bed.applyController('jobs', { group: 'batch', kind: 'Job', version: 'v1' })
  await bed.waitForReady('jobs')
  await bed.apply({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'work', namespace: bed.namespace },
    spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } } },
  })
  await expect.poll(() => names('pods', '-l', 'job-name=work'), SOON).toContain('pod/work-')
  await bed.kubectl('annotate', 'job', 'work', `${TTL}=1s`)
  await expect.poll(() => names('job', 'work'), SOON).toBe('')
  await expect.poll(() => names('pods', '-l', 'job-name=work'), SOON).toBe('')
})

test('an object with a finalizer is deleted once, and goes when that lets it', async () => {
  await bed.applyController('maps', { kind: 'ConfigMap' })
  await bed.waitForReady('maps')
  const metadata = { name: 'held', namespace: bed.namespace, finalizers: ['example.dev/hold'] }
  await bed.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...metadata, annotations: { [TTL]: '1s' } } })
  const going = ['configmap', 'held', '-o', 'jsonpath={.metadata.deletionTimestamp} {.metadata.resourceVersion}']
  await expect.poll(() => bed.kubectl('get', ...going), SOON).toMatch(/^2\S+Z /)
  const state = await bed.kubectl('get', ...going)
  // Those that come after it are not held up, and it is left alone meanwhile.
  const next = { name: 'next', namespace: bed.namespace, annotations: { [TTL]: '1s' } }
  await bed.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: next })
  await expect.poll(() => names('configmap', 'next'), SOON).toBe('')
  expect(await bed.kubectl('get', ...going)).toBe(state)
  await bed.kubectl('patch', 'configmap', 'held', '--type=merge', '-p', '{"metadata":{"finalizers":null}}')
  await expect.poll(() => names('configmap', 'held'), SOON).toBe('')
})

test('what an object owns is deleted before it, after it or not at all, as its propagation says', async () => {
  await bed.applyController('deployments', { group: '', kind: 'Deployment', version: 'v1' })
  await bed.waitForReady('deployments')
  const ways = { background: 'Background', foreground: 'Foreground', orphan: 'Orphan' }
  for (const [name, propagation] of Object.entries(ways)) {
    await bed.apply(deployment(name, { [`${PREFIX}propagation`]: propagation }))
    await expect.poll(async () => (await names('pods', '-l', `app=${name}`)).split('\n').length, SOON).toBe(3)
  }
  const owned = (name: string): Promise<string> => names('replicasets,pods', '-l', `app=${name}`)
  for (const name of Object.keys(ways)) await bed.kubectl('annotate', 'deployment', name, `${TTL}=1s`)
  // In the moment in which it is gone, what it owned is.
  await expect.poll(() => names('deployment', 'foreground'), SOON).toBe('')
  expect(await names('replicasets', '-l', 'app=foreground')).toBe('')
  await expect.poll(() => names('deployment', 'background'), SOON).toBe('')
  await expect.poll(() => owned('background'), SOON).toBe('')
  await expect.poll(() => names('deployment', 'orphan'), SOON).toBe('')
  expect(await names('replicasets', '-l', 'app=orphan')).toContain('replicaset.apps/orphan-')
  expect((await names('pods', '-l', 'app=orphan')).split('\n')).toHaveLength(3)
})

test('what is copied from a Deployment to its ReplicaSets is left alone, also when it leaves them behind', async () => {
  await bed.applyController('deployments', { group: 'apps', kind: 'Deployment' })
  await bed.applyController('replicasets', { group: 'apps', kind: 'ReplicaSet' })
  await bed.waitForReady('deployments', 'replicasets')
  await bed.apply(deployment('web', { [TTL]: '1h', [`${PREFIX}propagation`]: 'Orphan' }))
  await expect.poll(() => annotation('deployment', 'web', 'expire-at'), SOON).toMatch(/Z$/)
  const replicaSet = (await names('replicaset', '-l', 'app=web')).trim().replace('replicaset.apps/', '')
  // The two are made in different seconds as often as not: whoever dated both would never end.
  const end = await annotation('deployment', 'web', 'expire-at')
  await expect.poll(() => annotation('replicaset', replicaSet, 'expire-at'), SOON).toBe(end)
  await bed.kubectl('annotate', 'deployment', 'web', `${TTL}=3s`, '--overwrite')
  await expect.poll(() => names('deployment', 'web'), SOON).toBe('')
  // Those that end later are over.
  await bed.apply(deployment('after', { [TTL]: '2s' }))
  await expect.poll(() => names('deployment', 'after'), SOON).toBe('')
  expect(await names('replicaset', replicaSet)).toBe(`replicaset.apps/${replicaSet}\n`)
  expect(operator.writes.filter((write) => write.includes('/replicasets/web-'))).toEqual([])
})

test('a rollback does not bring the end of a lease that was extended since', async () => {
  await bed.applyController('deployments', { group: 'apps', kind: 'Deployment' })
  await bed.waitForReady('deployments')
  await bed.apply(deployment('web', { [TTL]: '25s' }))
  await expect.poll(() => annotation('deployment', 'web', 'expire-at'), SOON).toMatch(/Z$/)
  const oldEnd = await annotation('deployment', 'web', 'expire-at')
  const first = (await names('replicaset', '-l', 'app=web')).trim().replace('replicaset.apps/', '')
  await expect.poll(() => annotation('replicaset', first, 'expire-at'), SOON).toBe(oldEnd)
  // What the first ReplicaSet says of the lease stays from here on, while the Deployment's goes on.
  await bed.kubectl('set', 'image', 'deployment/web', 'main=nginx:2')
  await expect.poll(async () => (await names('replicaset', '-l', 'app=web')).trim().split('\n').length, SOON).toBe(2)
  const later = new Date(Date.now() + 600_000).toISOString()
  await bed.kubectl('annotate', 'deployment', 'web', `${PREFIX}extended-at=${later}`)
  await expect.poll(() => Date.now() > Date.parse(oldEnd) + 1_000, SOON).toBe(true)
  expect(await annotation('replicaset', first, 'expire-at')).toBe(oldEnd)
  await bed.kubectl('rollout', 'undo', 'deployment/web')
  await expect
    .poll(() => annotation('deployment', 'web', 'expire-at'), SOON)
    .not.toMatch(new RegExp(`^(?:${oldEnd})?$`))
  const events = ['get', 'events.events.k8s.io', '-o', 'jsonpath={.items[*].reason}']
  await expect.poll(() => bed.kubectl(...events), SOON).toContain('LeaseStartReset')
  // It is a lease like any other.
  await bed.kubectl('annotate', 'deployment', 'web', `${TTL}=1s`, '--overwrite')
  await expect.poll(() => names('deployment', 'web'), SOON).toBe('')
})

test('a cleanup job whose object went while nobody ran is let go at the next start', async () => {
  await bed.applyController('maps', { kind: 'ConfigMap' })
  await bed.waitForReady('maps')
  await bed.kubectl('create', 'configmap', 'scripts', '--from-literal=bye=true')
  const annotations = {
    [TTL]: '1s',
    [`${PREFIX}on-delete-job`]: 'scripts/bye',
    [`${PREFIX}job-ttl`]: '600',
    [`${PREFIX}job-wait`]: 'true',
    // There is none, so that the job has no pods and does not end.
    [`${PREFIX}job-service-account`]: 'nobody',
  }
  const metadata = { name: 'left', namespace: bed.namespace, annotations }
  await bed.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata })
  await expect.poll(() => annotation('configmap', 'left', 'lease-status'), SOON).toContain('Waiting for cleanup job')
  const held = `${PREFIX}held=true`
  const job = (await names('job', '-l', held)).trim()
  expect(job).toMatch(/^job\.batch\/lease-cleanup-left-\w+$/)
  const ttl = (): Promise<string> => bed.kubectl('get', job, '-o', 'jsonpath={.spec.ttlSecondsAfterFinished}')
  expect(await ttl()).toBe('')
  await operator.stop()
  await bed.kubectl('delete', 'configmap', 'left')
  await bed.startOperator({ defaultMode: 'shared' })
  await expect.poll(ttl, SOON).toBe('600')
  expect(await names('job', '-l', held)).toBe('')
  await bed.kubectl('delete', job)
})

test('fifty namespaces opt in at once, and one opts out', async () => {
  await bed.applyController('maps', { kind: 'ConfigMap', optIn: { key: 'leased', value: 'yes' } })
  await bed.waitForReady('maps')
  const batch = { batch: bed.id }
  const all = Array.from({ length: NAMESPACES }, (_, index) => `many-${bed.id}-${index}`)
  const namespaces = all.map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: batch } }))
  const map = (namespace: string, ttl: string): object => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'leased', namespace, labels: batch, annotations: { [TTL]: ttl } },
  })
  const left = async (): Promise<number> => {
    const found = await cluster.kubectl(['get', 'configmaps', '-A', '-l', `batch=${bed.id}`, '-o', 'name'])
    return found.split('\n').length - 1
  }
  try {
    await bed.apply({ apiVersion: 'v1', kind: 'List', items: [...namespaces, ...all.map((name) => map(name, '1s'))] })
    expect(await left()).toBe(NAMESPACES)
    await cluster.kubectl(['label', 'namespaces', '-l', `batch=${bed.id}`, 'leased=yes'])
    await expect.poll(left, SOON).toBe(0)

    // One that opts out is left alone, while the others go on.
    const [first = '', second = ''] = all
    await cluster.kubectl(['label', 'namespace', first, 'leased-'])
    await bed.apply(map(first, '4s'))
    await bed.apply(map(second, '6s'))
    await expect.poll(left, SOON).toBe(1)
    expect(await cluster.kubectl(['-n', first, 'get', 'configmap', 'leased', '-o', 'name'])).toBe('configmap/leased\n')
  } finally {
    await cluster.kubectl(['delete', 'namespaces', '-l', `batch=${bed.id}`, '--wait=false'])
  }
})
