import { Application, FINALIZER, OPERATOR } from '@tenure/applications'
import type { Kind, Stored, Transport } from '@tenure/kube'
import { mergePatch } from '@tenure/kube'
import { Deployment, MutatingWebhookConfiguration, Pod, ValidatingWebhookConfiguration } from '@tenure/kube/kinds'
import { createMetrics } from '@tenure/runtime'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { onEveryFloor } from '../../floors/index.ts'
import type { Floor } from '../../floors/index.ts'
import { create as createFirst, IMAGE, isGone, runApplications, runOn, whenRunning } from './support.ts'

const spec = { replicas: 1, image: IMAGE }
const PATH = '/apis/cloudnative.elide.dev/v1/namespaces'

/** The operator of one namespace with its webhooks registered, and its request counts. */
async function runGuarded(floor: Floor, namespace: string) {
  const inner = await floor.transport()
  const writes: string[] = []
  const transport: Transport = {
    request(request) {
      if (request.method !== 'GET') writes.push(`${request.method} ${request.path.split('?', 1)[0] ?? ''}`)
      return inner.request(request)
    },
    close: () => inner.close(),
  }
  const metrics = await createMetrics({ processMetrics: false })
  const settings = { namespace, webhookUrl: 'https://127.0.0.1:0', webhookPort: 0 }
  const running = runOn(floor, { transport, namespace, metrics }, settings)
  /** Number of reviews of updates that the two webhooks have answered. */
  const updates = async (): Promise<number> => {
    const { text } = await metrics.expose()
    const lines = text.split('\n').filter((line) => /^webhook_requests_total\{.*operation="UPDATE"/.test(line))
    return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
  }
  return { ...running, writes, updates }
}

onEveryFloor(
  'Admission of Applications',
  (floor) => {
    let served: string
    let other: string
    let operator: Awaited<ReturnType<typeof runGuarded>>

    const create = (namespace: string, name: string, more: object = {}): Promise<Stored<Application>> =>
      floor().api.create(Application, { metadata: { name, namespace, ...more }, spec })
    const change = (namespace: string, name: string, patch: object): Promise<Stored<Application>> =>
      floor().api.patch(Application, { name, namespace }, mergePatch(patch))
    /** Number of webhooks that an update calls. */
    const asked = async (update: () => Promise<unknown>): Promise<number> => {
      const before = await operator.updates()
      await update()
      return (await operator.updates()) - before
    }

    beforeAll(async () => {
      const here = floor()
      const { api } = here
      served = await here.namespace('served')
      other = await here.namespace('other')
      // Created before the webhooks: without labels, annotations and finalizers.
      const unguarded = await runApplications(here, served)
      await createFirst(here, { name: 'older', namespace: other }, spec)
      await unguarded.stop()
      operator = await runGuarded(here, served)
      const probe = (image: string): Promise<Stored<Application>> => {
        const metadata = { name: 'probe', namespace: served }
        return api.create(Application, { metadata, spec: { ...spec, image } }, { dryRun: true })
      }
      await here.until('the mutating webhook is asked', async () => (await probe(IMAGE)).metadata.finalizers)
      await here.until('the validating webhook is asked', () => isRefused(probe('ubuntu')))
    }, 120_000)

    afterAll(async () => {
      await operator.stop()
      // Other tests must not wait for webhooks that no process serves.
      await floor().api.delete(MutatingWebhookConfiguration, { name: OPERATOR })
      await floor().api.delete(ValidatingWebhookConfiguration, { name: OPERATOR })
    })

    test('the webhook adds the finalizer, which saves the operator a write', async () => {
      expect((await create(served, 'shop')).metadata.finalizers).toEqual([FINALIZER])
      const ref = { name: 'shop', namespace: served }
      await whenRunning(floor(), ref)
      const written = operator.writes.filter((write) => write.includes('/applications/'))
      expect(new Set(written)).toEqual(new Set([`PATCH ${PATH}/${served}/applications/shop/status`]))
      const mine = 'example.dev/mine'
      expect((await create(served, 'held', { finalizers: [mine] })).metadata.finalizers).toEqual([mine, FINALIZER])
    })

    test('the selector of the guide finds an Application and its objects', async () => {
      const selection = { namespace: served, labelSelector: 'app.kubernetes.io/instance=shop' }
      const names = async (kind: Kind): Promise<readonly string[]> =>
        (await floor().api.list(kind, selection)).items.map(({ metadata }) => metadata.name)
      expect(await names(Application)).toEqual(['shop'])
      expect(await names(Deployment)).toEqual(['shop'])
      expect(await names(Pod)).toEqual([expect.stringMatching(/^shop-/)])
    })

    test('the webhook adds no finalizer in a namespace that is not watched', async () => {
      const { metadata } = await create(other, 'shop')
      expect(metadata).not.toHaveProperty('finalizers')
      expect(metadata.annotations).toEqual({ 'elide.dev/webhook-mutated': 'true' })
    })

    test('the webhooks are called only for changes of reviewed fields', async () => {
      for (const name of ['shop', 'older']) {
        expect(await asked(() => change(other, name, { metadata: { finalizers: ['example.dev/a'] } }))).toBe(0)
        expect(await asked(() => change(other, name, { metadata: { finalizers: null } }))).toBe(0)
      }
      for (const [name, patch] of [
        ['older', { metadata: { labels: { team: 'blue' } } }],
        ['shop', { metadata: { labels: { team: 'blue' } } }],
        ['shop', { metadata: { labels: null } }],
        ['shop', { metadata: { annotations: { note: 'x' } } }],
        ['shop', { metadata: { annotations: null } }],
        ['shop', { spec: { replicas: 2 } }],
        ['shop', { spec: { config: { A: '1' } } }],
      ] as const) {
        // More calls if the API server retried after a conflict.
        const times = await asked(() => change(other, name, patch))
        expect({ name, patch, isAsked: times >= 2 }).toEqual({ name, patch, isAsked: true })
      }
      await expect(change(other, 'shop', { spec: { image: 'ubuntu' } })).rejects.toThrow("'ubuntu' is not allowed")
    })

    test('the webhooks are not called when the finalizer is removed', async () => {
      const here = floor()
      const ref = { name: 'shop', namespace: served }
      const letGo = async (): Promise<void> => {
        await here.api.delete(Application, ref)
        await here.until('the Application is gone', () => isGone(here.api.get(Application, ref)))
      }
      expect(await asked(letGo)).toBe(0)
    })

    test('changes of other fields pass while no replica answers', async () => {
      await operator.stop()
      await change(other, 'shop', { metadata: { finalizers: ['example.dev/a'] } })
      const { uid } = (await floor().api.get(Application, { name: 'older', namespace: other })).metadata
      const owner = { apiVersion: Application.apiVersion, kind: Application.kind, name: 'older', uid }
      await change(other, 'shop', { metadata: { ownerReferences: [owner], finalizers: null } })
      await change(served, 'held', { metadata: { finalizers: null } })
      const label = { metadata: { labels: { team: 'red' } } }
      await expect(change(other, 'shop', label)).rejects.toThrow('failed calling webhook')
      await expect(create(other, 'new')).rejects.toThrow('failed calling webhook')
    })
  },
  // The API server calls webhooks over HTTPS, in real time.
  { only: ['embedded', 'cluster'] },
)

const isRefused = (writing: Promise<unknown>): Promise<boolean> =>
  writing.then(
    () => false,
    () => true,
  )
