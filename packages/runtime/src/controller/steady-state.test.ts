import { defineKind, type KubeObject, metadataOf } from '@tenure/kube'
import { ConfigMap, Deployment } from '@tenure/kube/kinds'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { apply, remove, status } from '../actions/index.ts'
import { controller } from './index.ts'
import { ControllerFixture } from './fixture.testing.ts'

interface App extends KubeObject {
  readonly spec: { readonly image: string; readonly cpu: string; readonly debug?: boolean }
  readonly status?: { readonly seen: string }
}
const App = defineKind<App>({ apiVersion: 'example.dev/v1', kind: 'App' })
const ref = { name: 'shop', namespace: 'default' }
const shop: App = { metadata: ref, spec: { image: 'v1', cpu: '1000m' } }

const apps = controller(App, {
  owns: [Deployment],
  plan: ({ object: { metadata, spec } }) => [
    apply(Deployment, {
      metadata: { name: metadata.name, labels: spec.debug ? { app: 'shop', debug: 'yes' } : { app: 'shop' } },
      spec: {
        selector: { matchLabels: { app: 'shop' } },
        template: {
          spec: { containers: [{ name: 'web', image: spec.image, resources: { limits: { cpu: spec.cpu } } }] },
        },
      },
    }),
    status({ seen: spec.image }),
  ],
})

let fixture: ControllerFixture
beforeEach(() => {
  fixture = new ControllerFixture()
  fixture.server.seed(App, shop)
})
afterEach(async () => await fixture.end())

/** Runs until the controller is idle and clears the recorded requests. */
async function settled(): Promise<void> {
  await fixture.settle()
  fixture.server.clearRequests()
}

const deployment = () => fixture.server.peek(Deployment, ref)

describe('a steady state sends no requests', () => {
  test('repeated reconciles send nothing', async () => {
    const { runner } = await fixture.start(apps)
    await fixture.settle()
    expect(fixture.calls).toEqual(['apply deployments/shop', 'apply apps/shop/status'])
    fixture.server.clearRequests()
    for (let time = 0; time < 5; time++) {
      runner.enqueue('default/shop')
      await fixture.settle()
    }
    expect(fixture.calls).toEqual([])
  })

  test('a restarted process sends nothing', async () => {
    const before = await fixture.start(apps)
    await fixture.settle()
    await before.stop()
    fixture.server.clearRequests()
    await fixture.start(apps)
    await fixture.settle()
    expect(fixture.calls).toEqual([])
  })

  test('fields of other managers cause no requests', async () => {
    const { client } = await fixture.start(apps)
    await settled()
    await client.apply(
      Deployment,
      {
        metadata: { ...ref, labels: { theirs: 'x' }, annotations: { note: 'y' } },
      },
      { fieldManager: 'other' },
    )
    fixture.server.clearRequests()
    await fixture.settle()
    expect(fixture.calls).toEqual([])
    expect(deployment()?.metadata.labels).toEqual({ app: 'shop', theirs: 'x' })
  })

  test('a value that the server rewrites causes no requests', async () => {
    // The server completes every image name, as an admission webhook may.
    fixture.server.intercept((request) => {
      if (request.verb === 'apply' && request.plural === 'deployments') {
        const body = request.body as { spec: { template: { spec: { containers: { image: string }[] } } } }
        for (const container of body.spec.template.spec.containers) container.image = 'registry/v1'
      }
      return undefined
    })
    const { runner } = await fixture.start(apps)
    await settled()
    runner.enqueue('default/shop')
    await fixture.settle()
    fixture.server.seed(Deployment, { ...deployment(), status: { replicas: 1 } })
    await fixture.settle()
    expect(fixture.calls).toEqual([])
    expect(deployment()?.spec?.template.spec?.containers[0]?.image).toBe('registry/v1')
  })

  test('children cached as metadata cause no requests until their spec changes', async () => {
    const { plan } = apps
    if (!plan) throw new Error('apps has a plan')
    const { runner } = await fixture.start(
      controller(App, { owns: [metadataOf(Deployment)], plan: (context) => plan(context) }),
    )
    await settled()
    runner.enqueue('default/shop')
    await fixture.settle()
    expect(fixture.calls).toEqual([])
    fixture.server.seed(Deployment, { ...deployment(), spec: { replicas: 9, ...deployment()?.spec } as never })
    await fixture.settle()
    expect(fixture.calls).toEqual(['apply deployments/shop'])
  })
})

describe('drift', () => {
  test.each<[string, () => void]>([
    [
      'a changed field of the plan',
      () =>
        fixture.server.seed(Deployment, { ...deployment(), spec: { ...deployment()?.spec, selector: {} } as never }),
    ],
    [
      'a removed label of the plan',
      () => fixture.server.seed(Deployment, { ...deployment(), metadata: { ...ref, labels: {} } }),
    ],
    ['a deleted child', () => fixture.server.unseed(Deployment, ref)],
  ])('the controller restores %s', async (_, change) => {
    await fixture.start(apps)
    await settled()
    const wanted = deployment()
    change()
    await fixture.settle()
    expect(fixture.calls).toEqual(['apply deployments/shop'])
    expect(deployment()?.spec).toEqual(wanted?.spec)
    expect(deployment()?.metadata.labels).toEqual(wanted?.metadata.labels)
  })

  test('the controller restores a status that another writer changed', async () => {
    await fixture.start(apps)
    await settled()
    fixture.server.seed(App, { ...shop, status: { seen: 'nonsense' } })
    await fixture.settle()
    expect(fixture.calls).toEqual(['apply apps/shop/status'])
    expect(fixture.server.peek(App, ref)?.status).toEqual({ seen: 'v1' })
  })

  test('a field that left the plan is removed, even by a process that did not write it', async () => {
    fixture.server.seed(App, { ...shop, spec: { ...shop.spec, debug: true } })
    const before = await fixture.start(apps)
    await fixture.settle()
    expect(deployment()?.metadata.labels).toEqual({ app: 'shop', debug: 'yes' })
    await before.stop()
    fixture.server.seed(App, shop)
    await fixture.start(apps)
    await fixture.settle()
    expect(deployment()?.metadata.labels).toEqual({ app: 'shop' })
  })
})

describe('objects of others', () => {
  test('a child of another controller is left alone and reported', async () => {
    const owner = { apiVersion: 'x/v1', kind: 'Other', name: 'them', uid: 'other', controller: true }
    fixture.server.seed(Deployment, { metadata: { ...ref, ownerReferences: [owner] }, spec: { replicas: 3 } as never })
    await fixture.start(apps)
    await fixture.settle()
    expect(fixture.calls).toEqual([])
    expect(fixture.linesAt('error')).toEqual([
      expect.objectContaining({
        message: 'reconcile failed, waiting for a change of the object',
        during: 'apply Deployment shop',
        error: expect.objectContaining({ code: 'TENURE_OWNED_BY_ANOTHER' }),
      }),
    ])
  })

  test('a child is taken over once its controller releases it', async () => {
    const owner = { apiVersion: 'x/v1', kind: 'Other', name: 'them', uid: 'other', controller: true }
    const metadata = { ...ref, ownerReferences: [owner] }
    fixture.server.seed(Deployment, { metadata })
    await fixture.start(apps)
    await fixture.settle()
    // Other changes of it are irrelevant.
    fixture.server.seed(Deployment, { metadata: { ...metadata, labels: { changed: 'yes' } } })
    await fixture.settle()
    expect(fixture.calls).toEqual([])
    expect(fixture.linesAt('error')).toHaveLength(1)
    fixture.server.unseed(Deployment, ref)
    await fixture.settle()
    expect(fixture.calls).toEqual(['apply deployments/shop', 'apply apps/shop/status'])

    const other = { name: 'other', namespace: 'default' }
    fixture.server.seed(Deployment, { metadata: { ...metadata, ...other } })
    fixture.server.seed(App, { ...shop, metadata: other })
    await fixture.settle()
    fixture.server.clearRequests()
    fixture.server.seed(Deployment, { metadata: { ...other, ownerReferences: [{ ...owner, controller: false }] } })
    await fixture.settle()
    expect(fixture.calls).toEqual(['apply deployments/other', 'apply apps/other/status'])
  })

  test('remove deletes exactly the object that was read', async () => {
    const seen: string[] = []
    const cleaner = controller(App, {
      owns: [ConfigMap],
      plan: ({ read }) => {
        const old = read(ConfigMap, 'old')
        seen.push(old?.metadata.uid ?? 'none')
        return [remove(ConfigMap, 'never'), old && remove(ConfigMap, old)]
      },
    })
    const first = fixture.server.seed(ConfigMap, { metadata: { name: 'old', namespace: 'default' } })
    // A new object of that name is created before the request arrives.
    const stop = fixture.server.intercept((request) => {
      if (request.verb !== 'delete') return undefined
      stop()
      fixture.server.unseed(ConfigMap, first.metadata)
      fixture.server.seed(ConfigMap, { metadata: { name: 'old', namespace: 'default' }, data: { precious: 'x' } })
      return undefined
    })
    fixture.server.holdWatches()
    const starting = fixture.start(cleaner)
    await fixture.clock.advance(1)
    fixture.server.releaseWatches()
    await starting
    await fixture.until(() => fixture.writes.length === 1)
    expect(fixture.server.peek(ConfigMap, first.metadata)?.data).toEqual({ precious: 'x' })
    expect(fixture.server.requests.find(({ verb }) => verb === 'delete')?.body).toMatchObject({
      preconditions: { uid: first.metadata.uid },
    })
    expect(seen[0]).toBe(first.metadata.uid)
  })
})
