import { type Condition, defineKind, type KubeObject } from '@tenure/kube'
import { Deployment } from '@tenure/kube/kinds'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { apply, call, event, setCondition, status } from '../actions/index.ts'
import { controller } from './index.ts'
import { planFor } from './plan-for.ts'
import { ControllerFixture } from './fixture.testing.ts'

const purged: string[] = []
const cdn = { purge: (host: string): void => void purged.push(host) }

// ---- the example of the guide ----

interface Website extends KubeObject {
  readonly spec: { readonly image: string; readonly replicas?: number; readonly host: string }
  readonly status?: { readonly phase: 'Pending' | 'Running'; readonly conditions: readonly Condition[] }
}
const Website = defineKind<Website>({ apiVersion: 'example.dev/v1', kind: 'Website' })

const websites = controller(Website, {
  owns: [Deployment],
  finalizer: 'example.dev/cdn',
  plan({ object, owned, now }) {
    const { name, generation = 0 } = object.metadata
    const deployment = owned(Deployment, name)
    const isUp = (deployment?.status?.availableReplicas ?? 0) > 0
    const ready = { type: 'Ready', reason: isUp ? 'Available' : 'Starting', message: `${name} on ${object.spec.host}` }
    return [
      !deployment && event({ type: 'Normal', reason: 'Deploying', message: `Deploying ${object.spec.image}` }),
      apply(Deployment, deploymentFor(object)),
      status({
        phase: isUp ? 'Running' : 'Pending',
        conditions: setCondition(
          object.status?.conditions,
          { ...ready, status: isUp ? 'True' : 'False', observedGeneration: generation },
          now,
        ),
      }),
    ]
  },
  cleanup: ({ object }) => [call('purge the CDN', () => cdn.purge(object.spec.host))],
})

function deploymentFor({ metadata, spec }: Website): Deployment {
  const labels = { website: metadata?.name ?? '' }
  return {
    metadata: { name: labels.website, labels },
    spec: {
      replicas: spec.replicas ?? 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: spec.image }] } },
    },
  }
}

// ---- its unit test ----

const blog: Website = {
  metadata: { name: 'blog', namespace: 'default' },
  spec: { image: 'nginx:1', host: 'blog.example.dev' },
}

test('the plan has a deployment and one Event, and the status is pending', () => {
  expect(planFor(websites, { object: blog })).toEqual([
    event({ type: 'Normal', reason: 'Deploying', message: 'Deploying nginx:1' }),
    apply(Deployment, deploymentFor(blog)),
    expect.objectContaining({ type: 'status', status: expect.objectContaining({ phase: 'Pending' }) }),
  ])
})

test('the status reports an available deployment', () => {
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    ...deploymentFor(blog),
    status: { availableReplicas: 1 },
  }
  expect(planFor(websites, { object: blog, owned: [deployment] }).at(-1)).toMatchObject({
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
  })
})

// ---- the running controller ----

let fixture: ControllerFixture
beforeEach(() => {
  fixture = new ControllerFixture()
  purged.length = 0
})
afterEach(async () => await fixture.end())

test('the controller maintains a deployment and a status, and cleans up', async () => {
  fixture.server.seed(Website, blog)
  const { client } = await fixture.start(websites)
  const ref = { name: 'blog', namespace: 'default' }
  await fixture.until(() => fixture.server.peek(Website, ref)?.status?.phase === 'Pending')
  expect(fixture.writes).toEqual(['patch websites/blog', 'apply deployments/blog', 'apply websites/blog/status'])
  expect(fixture.events).toEqual([{ type: 'Normal', reason: 'Deploying', message: 'Deploying nginx:1' }])

  const website = fixture.server.peek(Website, ref)
  const deployment = fixture.server.peek(Deployment, ref)
  expect(website?.metadata.finalizers).toEqual(['example.dev/cdn'])
  expect(deployment?.metadata.ownerReferences).toEqual([
    {
      apiVersion: 'example.dev/v1',
      kind: 'Website',
      name: 'blog',
      uid: website?.metadata.uid,
      controller: true,
      blockOwnerDeletion: true,
    },
  ])

  fixture.server.seed(Deployment, { ...deployment, status: { availableReplicas: 1 } })
  await fixture.until(() => fixture.server.peek(Website, ref)?.status?.phase === 'Running')

  await client.delete(Website, ref)
  await fixture.until(() => fixture.server.peek(Website, ref) === undefined)
  expect(purged).toEqual(['blog.example.dev'])
})
