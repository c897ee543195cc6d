import { defineKind, type KubeObject, metadataOf } from '@tenure/kube'
import { ConfigMap, Deployment } from '@tenure/kube/kinds'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { apply, remove, status } from '../actions/index.ts'
import { controller } from './index.ts'
import { World } from './fixture.testing.ts'

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

let world: World
beforeEach(() => {
  world = new World()
  world.server.seed(App, shop)
})
afterEach(async () => await world.end())

/** Runs until all is quiet and forgets the requests so far. */
async function settled(): Promise<void> {
  await world.settle()
  world.server.clearRequests()
}

const deployment = () => world.server.peek(Deployment, ref)

describe('a steady state costs nothing', () => {
  test('however often it is looked at', async () => {
    const { runner } = await world.start(apps)
    await world.settle()
    expect(world.calls).toEqual(['apply deployments/shop', 'apply apps/shop/status'])
    world.server.clearRequests()
    for (let time = 0; time < 5; time++) {
      runner.enqueue('default/shop')
      await world.settle()
    }
    expect(world.calls).toEqual([])
  })

  test('after a restart', async () => {
    const before = await world.start(apps)
    await world.settle()
    await before.stop()
    world.server.clearRequests()
    await world.start(apps)
    await world.settle()
    expect(world.calls).toEqual([])
  })

  test('although others write fields of their own', async () => {
    const { client } = await world.start(apps)
    await settled()
    await client.apply(
      Deployment,
      {
        metadata: { ...ref, labels: { theirs: 'x' }, annotations: { note: 'y' } },
      },
      { fieldManager: 'other' },
    )
    world.server.clearRequests()
    await world.settle()
    expect(world.calls).toEqual([])
    expect(deployment()?.metadata.labels).toEqual({ app: 'shop', theirs: 'x' })
  })

  test('although the server writes a value its own way', async () => {
    // It writes every image in full, as an admission webhook may.
    world.server.intercept((request) => {
      if (request.verb === 'apply' && request.plural === 'deployments') {
        const body = request.body as { spec: { template: { spec: { containers: { image: string }[] } } } }
        for (const container of body.spec.template.spec.containers) container.image = 'registry/v1'
      }
      return undefined
    })
    const { runner } = await world.start(apps)
    await settled()
    runner.enqueue('default/shop')
    await world.settle()
    world.server.seed(Deployment, { ...deployment(), status: { replicas: 1 } })
    await world.settle()
    expect(world.calls).toEqual([])
    expect(deployment()?.spec?.template.spec?.containers[0]?.image).toBe('registry/v1')
  })

  test('with children that are cached as metadata only', async () => {
    const { plan } = apps
    if (!plan) throw new Error('apps has a plan')
    const { runner } = await world.start(
      controller(App, { owns: [metadataOf(Deployment)], plan: (context) => plan(context) }),
    )
    await settled()
    runner.enqueue('default/shop')
    await world.settle()
    expect(world.calls).toEqual([])
    world.server.seed(Deployment, { ...deployment(), spec: { replicas: 9, ...deployment()?.spec } as never })
    await world.settle()
    expect(world.calls).toEqual(['apply deployments/shop'])
  })
})

describe('a change is put right', () => {
  test.each<[string, () => void]>([
    [
      'a field of ours',
      () => world.server.seed(Deployment, { ...deployment(), spec: { ...deployment()?.spec, selector: {} } as never }),
    ],
    [
      'a label of ours that is gone',
      () => world.server.seed(Deployment, { ...deployment(), metadata: { ...ref, labels: {} } }),
    ],
    ['a child that was deleted', () => world.server.unseed(Deployment, ref)],
  ])('%s', async (_, change) => {
    await world.start(apps)
    await settled()
    const wanted = deployment()
    change()
    await world.settle()
    expect(world.calls).toEqual(['apply deployments/shop'])
    expect(deployment()?.spec).toEqual(wanted?.spec)
    expect(deployment()?.metadata.labels).toEqual(wanted?.metadata.labels)
  })

  test('a status that somebody else wrote', async () => {
    await world.start(apps)
    await settled()
    world.server.seed(App, { ...shop, status: { seen: 'nonsense' } })
    await world.settle()
    expect(world.calls).toEqual(['apply apps/shop/status'])
    expect(world.server.peek(App, ref)?.status).toEqual({ seen: 'v1' })
  })

  test('a field that is no longer wanted is taken away, also by a process that did not put it there', async () => {
    world.server.seed(App, { ...shop, spec: { ...shop.spec, debug: true } })
    const before = await world.start(apps)
    await world.settle()
    expect(deployment()?.metadata.labels).toEqual({ app: 'shop', debug: 'yes' })
    await before.stop()
    world.server.seed(App, shop)
    await world.start(apps)
    await world.settle()
    expect(deployment()?.metadata.labels).toEqual({ app: 'shop' })
  })
})

describe('what is not ours', () => {
  test('a child of another controller is left alone, and somebody is told', async () => {
    const owner = { apiVersion: 'x/v1', kind: 'Other', name: 'them', uid: 'other', controller: true }
    world.server.seed(Deployment, { metadata: { ...ref, ownerReferences: [owner] }, spec: { replicas: 3 } as never })
    await world.start(apps)
    await world.settle()
    expect(world.calls).toEqual([])
    expect(world.linesAt('error')).toEqual([
      expect.objectContaining({
        message: 'reconcile failed, waiting for a change of the object',
        during: 'apply Deployment shop',
        error: expect.objectContaining({ code: 'TENURE_OWNED_BY_ANOTHER' }),
      }),
    ])
  })

  test('when it goes, or its controller lets it go, it is made ours', async () => {
    const owner = { apiVersion: 'x/v1', kind: 'Other', name: 'them', uid: 'other', controller: true }
    const metadata = { ...ref, ownerReferences: [owner] }
    world.server.seed(Deployment, { metadata })
    await world.start(apps)
    await world.settle()
    // What else happens to it does not concern us.
    world.server.seed(Deployment, { metadata: { ...metadata, labels: { changed: 'yes' } } })
    await world.settle()
    expect(world.calls).toEqual([])
    expect(world.linesAt('error')).toHaveLength(1)
    world.server.unseed(Deployment, ref)
    await world.settle()
    expect(world.calls).toEqual(['apply deployments/shop', 'apply apps/shop/status'])

    const other = { name: 'other', namespace: 'default' }
    world.server.seed(Deployment, { metadata: { ...metadata, ...other } })
    world.server.seed(App, { ...shop, metadata: other })
    await world.settle()
    world.server.clearRequests()
    world.server.seed(Deployment, { metadata: { ...other, ownerReferences: [{ ...owner, controller: false }] } })
    await world.settle()
    expect(world.calls).toEqual(['apply deployments/other', 'apply apps/other/status'])
  })

  test('remove deletes the one it saw, or nothing', async () => {
    const seen: string[] = []
    const cleaner = controller(App, {
      owns: [ConfigMap],
      plan: ({ read }) => {
        const old = read(ConfigMap, 'old')
        seen.push(old?.metadata.uid ?? 'none')
        return [remove(ConfigMap, 'never'), old && remove(ConfigMap, old)]
      },
    })
    const first = world.server.seed(ConfigMap, { metadata: { name: 'old', namespace: 'default' } })
    // Under its name another is made before the request arrives.
    const stop = world.server.intercept((request) => {
      if (request.verb !== 'delete') return undefined
      stop()
      world.server.unseed(ConfigMap, first.metadata)
      world.server.seed(ConfigMap, { metadata: { name: 'old', namespace: 'default' }, data: { precious: 'x' } })
      return undefined
    })
    world.server.holdWatches()
    const starting = world.start(cleaner)
    await world.clock.advance(1)
    world.server.releaseWatches()
    await starting
    await world.until(() => world.writes.length === 1)
    expect(world.server.peek(ConfigMap, first.metadata)?.data).toEqual({ precious: 'x' })
    expect(world.server.requests.find(({ verb }) => verb === 'delete')?.body).toMatchObject({
      preconditions: { uid: first.metadata.uid },
    })
    expect(seen[0]).toBe(first.metadata.uid)
  })
})
