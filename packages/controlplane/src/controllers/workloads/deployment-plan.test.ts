import type { Stored } from '@tenure/kube'
import type { Deployment, Pod, ReplicaSet } from '@tenure/kube/kinds'
import { expect, test } from 'vitest'
import { planDeployment, type DeploymentStep } from './deployment-plan.ts'
import { maxSurge, maxUnavailable } from './deployment-sets.ts'

let counter = 0

function deployment(replicas: number, spec: Partial<NonNullable<Deployment['spec']>> = {}): Stored<Deployment> {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', uid: 'd', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z', generation: 1 },
    spec: {
      replicas,
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'a', image: 'new' }] } },
      ...spec,
    },
  }
}

function set(
  image: string,
  replicas: number,
  available: number,
  revision: number | bigint,
  sized = replicas,
  most = replicas,
): Stored<ReplicaSet> {
  counter++
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: image,
      uid: image,
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: `2026-01-01T00:00:${String(counter % 60).padStart(2, '0')}Z`,
      annotations: {
        'deployment.kubernetes.io/revision': String(revision),
        'deployment.kubernetes.io/desired-replicas': String(sized),
        'deployment.kubernetes.io/max-replicas': String(most),
      },
    },
    spec: {
      replicas,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web', 'pod-template-hash': image } },
        spec: { containers: [{ name: 'a', image }] },
      },
    },
    status: { replicas, availableReplicas: available, observedGeneration: 1 },
  }
}

const brief = (steps: readonly DeploymentStep[]): readonly string[] =>
  steps.map((step) =>
    step.type === 'create'
      ? `create ${step.replicas} r${step.revision}`
      : step.type === 'resize'
        ? `${step.set.metadata.name} ${step.replicas}`
        : `${step.type} ${step.set.metadata.name}`,
  )
const plan = (
  of: Stored<Deployment>,
  sets: readonly Stored<ReplicaSet>[],
  pods: readonly Stored<Pod>[] = [],
): readonly string[] => brief(planDeployment({ deployment: of, sets, podsOf: () => pods }))

test.each([
  [10, undefined, 3, 2],
  [1, undefined, 1, 0],
  [3, { maxSurge: 0, maxUnavailable: 0 }, 0, 1],
  [3, { maxSurge: '100%', maxUnavailable: '100%' }, 3, 3],
  [0, undefined, 0, 0],
] as const)('%i replicas with %j: %i more, %i less', (replicas, rollingUpdate, surge, unavailable) => {
  const of = deployment(replicas, rollingUpdate && { strategy: { type: 'RollingUpdate', rollingUpdate } })
  expect([maxSurge(of), maxUnavailable(of)]).toEqual([surge, unavailable])
})

test('the first set is created with all replicas, a later one with maxSurge', () => {
  expect(plan(deployment(10), [])).toEqual(['create 10 r1'])
  expect(plan(deployment(10), [set('old', 10, 10, 1, 10, 13)])).toEqual(['create 3 r2'])
  expect(plan(deployment(10), [set('old', 13, 13, 4, 10, 13)])).toEqual(['create 0 r5'])
})

test('old sets scale down as new pods become available, unhealthy pods first', () => {
  expect(plan(deployment(10), [set('old', 10, 10, 1, 10, 13), set('new', 3, 0, 2, 10, 13)])).toEqual(['old 8'])
  expect(plan(deployment(10), [set('old', 8, 8, 1, 10, 13), set('new', 5, 0, 2, 10, 13)])).toEqual([])
  expect(plan(deployment(10), [set('old', 8, 8, 1, 10, 13), set('new', 5, 5, 2, 10, 13)])).toEqual(['old 3'])
  // Half of the old pods are unhealthy, so they are removed before new pods are available.
  expect(plan(deployment(10), [set('old', 10, 5, 1, 10, 13), set('new', 3, 0, 2, 10, 13)])).toEqual(['old 8'])
})

test('scaling during a rollout resizes all sets in proportion', () => {
  const sets = [set('old', 8, 8, 1, 10, 13), set('new', 5, 5, 2, 10, 13)]
  expect(plan(deployment(20), sets)).toEqual(['old 15', 'new 10'])
  expect(plan(deployment(5), sets)).toEqual(['old 4', 'new 3'])
  expect(plan(deployment(0), sets)).toEqual(['old 0', 'new 0'])
})

test('Recreate waits for the last old pod', () => {
  const of = deployment(3, { strategy: { type: 'Recreate' } })
  expect(plan(of, [set('old', 3, 3, 1)])).toEqual(['old 0'])
  const running = { metadata: {}, status: { phase: 'Running' } } as Stored<Pod>
  expect(plan(of, [set('old', 0, 0, 1, 3, 3)], [running])).toEqual([])
  expect(plan(of, [set('old', 0, 0, 1, 3, 3)])).toEqual(['create 3 r2'])
})

test('a reused set gets a new revision first', () => {
  const [step] = planDeployment({
    deployment: deployment(3),
    sets: [set('new', 0, 0, 1, 3, 4), set('old', 3, 3, 2, 3, 4)],
    podsOf: () => [],
  })
  expect(step).toMatchObject({
    type: 'sync',
    annotations: { 'deployment.kubernetes.io/revision': '3', 'deployment.kubernetes.io/revision-history': '1' },
  })
})

test('a revision beyond the precise integers keeps its digits', () => {
  const huge = 2n ** 53n + 1n
  expect(plan(deployment(3), [set('old', 3, 3, huge, 3, 4)])[0]).toBe('create 1 r9007199254740994')
})
