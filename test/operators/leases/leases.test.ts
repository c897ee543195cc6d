import { isNotFound, mergePatch } from '@tenure/kube'
import type { Kind, Stored } from '@tenure/kube'
import { ConfigMap, Deployment, Job, Pod } from '@tenure/kube/kinds'
import { LeaseController, leaseControllers } from '@tenure/leases'
import { runOperators } from '@tenure/runtime'
import { expect, test } from 'vitest'
import { onEveryFloor } from '../../floors/index.ts'
import type { Floor, Running } from '../../floors/index.ts'

const PREFIX = 'object-lease-controller.ullberg.us'
const ttl = (text: string) => ({ [`${PREFIX}/ttl`]: text })

async function runLeases(floor: Floor): Promise<Running> {
  const { clock, random } = floor
  const transport = await floor.transport()
  const options = { operators: [leaseControllers], transport, clock, random, freeze: true } as const
  return floor.run({ run: (signal) => runOperators({ ...options, leaderElection: false }, signal) })
}

/** Applies one, waits until it works, and gives back what takes it away. */
async function lease(floor: Floor, name: string, spec: LeaseController['spec']): Promise<Stored<LeaseController>> {
  await floor.until('the definition is served', () =>
    floor.api.apply(LeaseController, { metadata: { name }, spec }, { force: true }).catch((error: unknown) => {
      if (isNotFound(error)) return undefined
      throw error
    }),
  )
  return floor.until(`${name} is ready`, async () => {
    const controller = await floor.api.get(LeaseController, { name })
    return (
      controller.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') && controller
    )
  })
}

const statusOf = async (floor: Floor, kind: Kind, ref: { name: string; namespace: string }) => {
  const { annotations = {} } = (await floor.api.get(kind, ref)).metadata
  return { expireAt: annotations[`${PREFIX}/expire-at`], status: annotations[`${PREFIX}/lease-status`] }
}

const pod = (app: string) => ({
  metadata: { labels: { app } },
  spec: { containers: [{ name: 'web', image: 'nginx' }] },
})

onEveryFloor('Leases', (floor) => {
  test('leases delete their objects at the expiry and never before', async () => {
    const here = floor()
    const { api, clock } = here
    const operator = await runLeases(here)
    await lease(here, 'floor-configmaps', { group: '', version: 'v1', kind: 'ConfigMap' })
    const namespace = await here.namespace('leases')
    const ref = { name: 'short', namespace }
    const kept = { name: 'kept', namespace }
    const extended = { name: 'extended', namespace }
    const odd = { name: 'odd', namespace }
    const created = await api.create(ConfigMap, { metadata: { ...ref, annotations: ttl('5s') } })
    await api.create(ConfigMap, { metadata: kept })
    await api.create(ConfigMap, { metadata: { ...extended, annotations: ttl('10m') } })
    await api.create(ConfigMap, { metadata: { ...odd, annotations: ttl('1M') } })

    const end = Date.parse(created.metadata.creationTimestamp) + 5_000
    await here.until('it is dated', async () => (await statusOf(here, ConfigMap, ref)).expireAt !== undefined)
    expect(await statusOf(here, ConfigMap, ref)).toEqual({
      expireAt: new Date(end).toISOString().replace('.000', ''),
      status: `Lease active. Expires at ${new Date(end).toISOString().replace('.000', '')} UTC.`,
    })
    await here.until('the extended one is dated', async () => (await statusOf(here, ConfigMap, extended)).expireAt)
    await api.patch(ConfigMap, extended, mergePatch({ metadata: { annotations: ttl('1h') } }))

    await here.until('it is gone', () => api.get(ConfigMap, ref).then(() => false, isNotFound))
    expect(clock.now()).toBeGreaterThanOrEqual(end)
    // An extension that the API has taken wins.
    await here.until('the other gets a new date', async () => {
      const { expireAt } = await statusOf(here, ConfigMap, extended)
      return expireAt !== undefined && Date.parse(expireAt) > end + 3_000_000
    })
    await api.get(ConfigMap, kept)
    expect(await statusOf(here, ConfigMap, odd)).toMatchObject({
      expireAt: undefined,
      status: expect.stringMatching(/^Invalid TTL: /),
    })

    // Without a ttl, nothing of the lease is left.
    await api.patch(ConfigMap, extended, mergePatch({ metadata: { annotations: { [`${PREFIX}/ttl`]: null } } }))
    await here.until('its annotations are gone', async () => {
      const { annotations = {} } = (await api.get(ConfigMap, extended)).metadata
      return Object.keys(annotations).every((key) => !key.startsWith(PREFIX))
    })
    await api.delete(LeaseController, { name: 'floor-configmaps' })
    await operator.stop()
  })

  test('a LeaseController finds the group of its kind, and dependents are deleted, too', async () => {
    const here = floor()
    const { api } = here
    const operator = await runLeases(here)
    // As the original's own example has it: a Deployment is in apps.
    const deployments = await lease(here, 'floor-deployments', { group: '', version: 'v1', kind: 'Deployment' })
    expect(JSON.stringify(deployments.status)).toContain('apps')
    await lease(here, 'floor-jobs', { group: 'batch', version: 'v1', kind: 'Job' })
    const namespace = await here.namespace('leases')
    await api.create(Deployment, {
      metadata: { name: 'web', namespace },
      spec: { replicas: 1, selector: { matchLabels: { app: 'web' } }, template: pod('web') },
    })
    await api.create(Job, {
      metadata: { name: 'work', namespace },
      spec: { template: { ...pod('work'), spec: { ...pod('work').spec, restartPolicy: 'Never' } } },
    })
    await here.until('their pods are there', async () => (await api.list(Pod, { namespace })).items.length === 2)
    await api.patch(Deployment, { name: 'web', namespace }, mergePatch({ metadata: { annotations: ttl('1s') } }))
    await api.patch(Job, { name: 'work', namespace }, mergePatch({ metadata: { annotations: ttl('1s') } }))
    await here.until('all are gone', async () => {
      const lists = await Promise.all([
        api.list(Deployment, { namespace }),
        api.list(Job, { namespace }),
        api.list(Pod, { namespace }),
      ])
      return lists.every(({ items }) => items.length === 0)
    })
    for (const name of ['floor-deployments', 'floor-jobs']) await api.delete(LeaseController, { name })
    await operator.stop()
  })

  test('a cleanup job runs once before the deletion, and is awaited on request', async () => {
    const here = floor()
    const { api } = here
    const operator = await runLeases(here)
    const cleanup = { images: ['busybox:*'] }
    await lease(here, 'floor-cleanup', { group: '', version: 'v1', kind: 'ConfigMap', cleanup })
    const namespace = await here.namespace('leases')
    await api.create(ConfigMap, { metadata: { name: 'scripts', namespace }, data: { bye: '#!/bin/sh\necho bye\n' } })
    const ref = { name: 'leased', namespace }
    const annotations = {
      ...ttl('1s'),
      [`${PREFIX}/on-delete-job`]: 'scripts/bye',
      [`${PREFIX}/job-wait`]: 'true',
      [`${PREFIX}/job-image`]: 'busybox:1.36',
    }
    const { metadata } = await api.create(ConfigMap, { metadata: { ...ref, annotations } })
    const jobs = async () => (await api.list(Job, { namespace, labelSelector: `${PREFIX}/cleanup-job=true` })).items
    const [job] = await here.until('there is a job', async () => {
      const found = await jobs()
      return found.length > 0 && found
    })
    expect(job?.metadata.name).toMatch(/^lease-cleanup-leased-/)
    expect(job?.metadata.labels).toMatchObject({ [`${PREFIX}/source-name`]: 'leased' })
    const container = job?.spec?.template.spec?.containers[0]
    expect(container).toMatchObject({ image: 'busybox:1.36' })
    expect(container?.env).toEqual(
      expect.arrayContaining([
        { name: 'OBJECT_NAME', value: 'leased' },
        { name: 'OBJECT_UID', value: metadata.uid },
      ]),
    )
    await here.until('it is gone', () => api.get(ConfigMap, ref).then(() => false, isNotFound))
    expect(new Set((await jobs()).map(({ metadata: { uid } }) => uid)).size).toBeLessThanOrEqual(1)
    await api.delete(LeaseController, { name: 'floor-cleanup' })
    await operator.stop()
  })

  test('a cleanup job is held until its end is recorded, and released when it is not needed', async () => {
    const here = floor()
    const { api } = here
    const first = await runLeases(here)
    const cleanup = { images: ['busybox:*'], serviceAccounts: ['missing'] }
    await lease(here, 'floor-held', { group: '', version: 'v1', kind: 'ConfigMap', cleanup })
    const namespace = await here.namespace('leases')
    await api.create(ConfigMap, { metadata: { name: 'scripts', namespace }, data: { bye: '#!/bin/sh\necho bye\n' } })
    const annotations = {
      ...ttl('1s'),
      [`${PREFIX}/on-delete-job`]: 'scripts/bye',
      [`${PREFIX}/job-image`]: 'busybox:1.36',
      [`${PREFIX}/job-ttl`]: '600',
    }
    const jobOf = async (name: string) =>
      (await api.list(Job, { namespace, labelSelector: `${PREFIX}/source-name=${name}` })).items[0]
    const isHeld = ({ metadata, spec }: Stored<Job>): boolean => {
      const isMarked = metadata.labels?.[`${PREFIX}/held`] === 'true'
      expect(spec?.ttlSecondsAfterFinished).toBe(isMarked ? undefined : 600)
      return isMarked
    }
    const isGone = (name: string) => api.get(ConfigMap, { name, namespace }).then(() => false, isNotFound)
    const released = (name: string) =>
      here.until(`the job of ${name} is let go`, async () => {
        const job = await jobOf(name)
        return job && !isHeld(job) && job
      })

    await api.create(ConfigMap, { metadata: { name: 'told', namespace, annotations } })
    await here.until('the object is gone', () => isGone('told'))
    await released('told')

    // It waits for a job that has no pod to run in, and is stopped meanwhile.
    const waiting = { ...annotations, [`${PREFIX}/job-wait`]: 'true', [`${PREFIX}/job-service-account`]: 'missing' }
    await api.create(ConfigMap, { metadata: { name: 'left', namespace, annotations: waiting } })
    await api.create(ConfigMap, { metadata: { name: 'kept', namespace, annotations: waiting } })
    for (const name of ['left', 'kept']) {
      await here.until(`${name} waits`, async () => {
        const { status } = await statusOf(here, ConfigMap, { name, namespace })
        return status?.startsWith('Lease expired. Waiting for cleanup job')
      })
      const job = await jobOf(name)
      expect(job && isHeld(job)).toBe(true)
    }
    await first.stop()
    await api.delete(ConfigMap, { name: 'left', namespace })

    const second = await runLeases(here)
    await released('left')
    const kept = await jobOf('kept')
    expect(kept && isHeld(kept)).toBe(true)
    await api.patch(
      ConfigMap,
      { name: 'kept', namespace },
      mergePatch({ metadata: { annotations: { [`${PREFIX}/ttl`]: '1h' } } }),
    )
    await released('kept')
    await api.delete(LeaseController, { name: 'floor-held' })
    await second.stop()
  })
})
