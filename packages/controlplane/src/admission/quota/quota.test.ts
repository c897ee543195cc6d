import { ApiError, Client } from '@tenure/kube'
import { LimitRange, Pod, ResourceQuota, Secret, ServiceAccount } from '@tenure/kube/kinds'
import { VirtualClock } from '@tenure/kube/testing'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { startControlPlane } from '../../control-plane.ts'
import type { ControlPlane } from '../../control-plane.ts'
import { parseQuantity } from '@tenure/kube/model'
import { excess, podAmounts, sum, textOf, whole } from './amounts.ts'
import { bucketOf, isInScope, isUsedBy, missingResources, usageOf } from './usage.ts'

let plane: ControlPlane
let api: Client
let clock: VirtualClock

beforeEach(async () => {
  clock = new VirtualClock()
  plane = await startControlPlane({ port: false, clock, nodes: false })
  api = new Client({ transport: plane.transport })
  await vi.waitFor(() => api.get(ServiceAccount, metadataOf('default')))
})
afterEach(async () => {
  await plane.stop()
})

const metadataOf = (name: string) => ({ name, namespace: 'default' })
const limit = (hard: Record<string, string>) =>
  api.create(ResourceQuota, { metadata: metadataOf('quota'), spec: { hard } })
const used = async (): Promise<unknown> => (await api.get(ResourceQuota, metadataOf('quota'))).status?.used
const createSecret = (name: string) => api.create(Secret, { metadata: metadataOf(name) })

test('concurrent requests never exceed a quota', async () => {
  await limit({ secrets: '3' })
  const results = await Promise.allSettled(Array.from({ length: 20 }, (_, index) => createSecret(`m${index}`)))
  const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []))
  expect(refused).toHaveLength(17)
  expect(refused.every((error) => error instanceof ApiError && error.status === 403)).toBe(true)
  expect(refused[0]).toMatchObject({
    message: expect.stringContaining(
      'exceeded quota: quota, requested: secrets=1, used: secrets=3, limited: secrets=3',
    ),
  })
  expect(await used()).toEqual({ secrets: '3' })
})

test('a deletion frees quota, and a wrong usage is corrected', async () => {
  await limit({ secrets: '1' })
  await createSecret('a')
  await expect(createSecret('b')).rejects.toThrow('exceeded quota')
  await api.delete(Secret, metadataOf('a'))
  await vi.waitFor(async () => expect(await used()).toEqual({ secrets: '0' }))
  await createSecret('b')
  // Stands for reservations whose objects were not stored.
  await plane.storage.write('resourcequotas', 'default/quota', (current) => ({
    put: { ...current?.object, status: { hard: { secrets: '1' }, used: { secrets: '7' } } } as never,
  }))
  await clock.advance(6_000)
  await vi.waitFor(async () => expect(await used()).toEqual({ secrets: '1' }))
})

test('a dry run reserves nothing, and changed limits are counted again', async () => {
  await limit({ secrets: '2' })
  await createSecret('a')
  await api.create(Secret, { metadata: metadataOf('dry') }, { dryRun: true })
  expect(await used()).toEqual({ secrets: '1' })
  const quota = await api.get(ResourceQuota, metadataOf('quota'))
  await api.update(ResourceQuota, { ...quota, spec: { hard: { 'count/secrets': '1' } } })
  await expect(createSecret('b')).rejects.toThrow('used: count/secrets=1')
})

test('a LimitRange sets defaults and refuses a container above its maximum', async () => {
  const bounds = { type: 'Container', default: { cpu: '1' }, defaultRequest: { cpu: '250m' }, max: { cpu: '2' } }
  await api.create(LimitRange, { metadata: metadataOf('range'), spec: { limits: [bounds] } })
  const pod = (name: string, resources = {}) =>
    api.create(Pod, { metadata: metadataOf(name), spec: { containers: [{ name: 'web', image: 'i', resources }] } })
  expect(await pod('a')).toMatchObject({
    metadata: {
      annotations: {
        'kubernetes.io/limit-ranger':
          'LimitRanger plugin set: cpu request for container web; cpu limit for container web',
      },
    },
    spec: { containers: [{ resources: { limits: { cpu: '1' }, requests: { cpu: '250m' } } }] },
  })
  await expect(pod('b', { limits: { cpu: '3' } })).rejects.toThrow(
    'maximum cpu usage per Container is 2, but limit is 3',
  )
})

const asks = (cpu: string, more = {}) => ({ resources: { requests: { cpu } }, ...more })
const podOf = (containers: object[], initContainers: object[] = [], more = {}) => ({
  spec: { containers, initContainers, ...more },
})
const cpuOf = (of: object) => textOf(podAmounts(of, 'requests').get('cpu'))

test('the requests of a pod are the maximum that its containers need at once', () => {
  expect(cpuOf(podOf([asks('1'), asks('500m')]))).toBe('1500m')
  expect(cpuOf(podOf([asks('1')], [asks('3'), asks('2')]))).toBe('3')
  expect(cpuOf(podOf([asks('1')], [asks('1', { restartPolicy: 'Always' }), asks('3')]))).toBe('4')
  expect(cpuOf(podOf([asks('1')], [], { overhead: { cpu: '10m' } }))).toBe('1010m')
})

test('each resource of a quota counts one kind', () => {
  const names = [
    'pods',
    'cpu',
    'limits.memory',
    'requests.storage',
    'services.nodeports',
    'secrets',
    'count/jobs.batch',
  ]
  expect(names.map(bucketOf)).toEqual([
    'pods',
    'pods',
    'pods',
    'persistentvolumeclaims',
    'services',
    'secrets',
    'jobs.batch',
  ])
  for (const name of names) expect(isUsedBy(bucketOf(name), name)).toBe(true)
  expect([...usageOf('jobs.batch', {}, 0).keys()]).toEqual(['count/jobs.batch'])
})

const scoped = (...scopes: string[]) => ({ spec: { scopes } })

test('scopes select pods, and a failed pod counts only as an object', () => {
  const pod = { spec: { containers: [{ name: 'a' }], activeDeadlineSeconds: 5 } }
  expect(isInScope(scoped('BestEffort', 'Terminating'), 'pods', pod)).toBe(true)
  expect(isInScope(scoped('NotBestEffort'), 'pods', pod)).toBe(false)
  expect(isInScope(scoped('BestEffort'), 'secrets', {})).toBe(false)
  expect([...usageOf('pods', { ...pod, status: { phase: 'Failed' } }, 0).keys()]).toEqual(['count/pods'])
  expect(missingResources(pod, ['pods', 'cpu', 'limits.cpu'])).toBe('must specify cpu for: a; limits.cpu for: a')
})

test('the excess of a sum is the added amount', () => {
  const amount = fc.integer({ min: 0, max: 10_000 })
  fc.assert(
    fc.property(amount, amount, (a, b) => {
      const [x, y] = [new Map([['cpu', whole(a)]]), new Map([['cpu', whole(b)]])]
      expect(sum(x, y).get('cpu')?.nanos).toBe(parseQuantity(String(a + b)).nanos)
      expect(excess(sum(x, y), x).get('cpu')?.nanos ?? 0n).toBe(whole(b).nanos)
    }),
  )
})
