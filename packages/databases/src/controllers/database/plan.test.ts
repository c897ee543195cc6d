import { seededRandom } from '@tenure/kube/testing'
import type { Pod, Secret, StatefulSet } from '@tenure/kube/kinds'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { EMPTY_STATE, TEST_NAMES, testObject, testRow } from './controller.testing.ts'
import { planDeletion } from './deletion.ts'
import { planDatabase } from './plan.ts'
import type { DatabaseState } from './state.ts'

const owner = fc.constantFrom('7', '8', undefined)
const hasTemplate = fc.boolean()

/** A StatefulSet of this row, of another, or of another program. */
const statefulSet = fc.record({ owner, hasTemplate, size: fc.constantFrom('1Gi', '5Gi', '10Gi') }).map((input) =>
  testObject<StatefulSet>(TEST_NAMES.name, input.owner, {
    spec: {
      replicas: 1,
      serviceName: `${TEST_NAMES.name}-headless`,
      podManagementPolicy: 'Parallel',
      selector: { matchLabels: { app: TEST_NAMES.name } },
      template: { spec: { containers: [{ name: 'database', image: 'redis:7-alpine' }] } },
      ...(input.hasTemplate && {
        volumeClaimTemplates: [
          {
            metadata: { name: 'data', labels: { 'managed-by': 'nest-controller' } },
            spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: input.size } } },
          },
        ],
      }),
    },
  }),
)

const state: fc.Arbitrary<DatabaseState> = fc
  .record({
    statefulSet: fc.option(statefulSet, { nil: undefined }),
    secret: fc.option(
      owner.map((id) => testObject<Secret>(`${TEST_NAMES.name}-credentials`, id, { data: { password: 'cHc=' } })),
      { nil: undefined },
    ),
    rival: fc.constantFrom(undefined, '3'),
  })
  .map((objects) => ({ ...EMPTY_STATE, ...objects }))

const row = fc
  .record({
    type: fc.constantFrom('redis', 'postgresql', 'mariadb', 'valkey', 'cassandra'),
    status: fc.constantFrom('pending', 'active', 'paused', 'error'),
    observedGeneration: fc.constantFrom(undefined, '1'),
    config: fc.record(
      {
        replicas: fc.integer({ min: -1, max: 4 }),
        storage_size: fc.constantFrom('1Gi', '5Gi', '20Gi', 'large'),
        image: fc.constantFrom('redis:7.2-alpine', 'redis:8', 'postgres:16', ''),
        migrate: fc.boolean(),
        delete_data: fc.boolean(),
      },
      { requiredKeys: [] },
    ),
  })
  .map((fields) => testRow(fields))

test('a plan is a function of its input', () => {
  fc.assert(
    fc.property(row, state, (resource, cluster) => {
      const plan = () => planDatabase({ row: resource, names: TEST_NAMES, state: cluster, random: seededRandom(1) })
      const before = JSON.stringify({ resource, cluster })
      expect(plan()).toEqual(plan())
      expect(JSON.stringify({ resource, cluster })).toBe(before)
    }),
  )
})

test('no plan touches a StatefulSet of another row, and none deletes one that is not allowed to be recreated', () => {
  fc.assert(
    fc.property(row, state, (resource, cluster) => {
      const plan = planDatabase({ row: resource, names: TEST_NAMES, state: cluster, random: seededRandom(1) })
      const label = cluster.statefulSet?.metadata.labels?.['resource-id']
      const isForeign = label === '8' || cluster.rival !== undefined
      expect(isForeign && plan.type !== 'refuse').toBe(false)
      const removals =
        plan.type === 'converge'
          ? plan.actions.filter((action) => action && action.type === 'remove' && action.kind.kind === 'StatefulSet')
          : []
      const isOrphaning = removals.every(
        (action) => action && 'propagation' in action && action.propagation === 'Orphan',
      )
      expect(isOrphaning || resource.config['migrate'] === true).toBe(true)
    }),
  )
})

test('a deletion removes only objects of its row', () => {
  fc.assert(
    fc.property(row, state, (resource, cluster) => {
      const { actions, isGone } = planDeletion(resource, cluster)
      const isOwn = (object: { metadata: { labels?: Readonly<Record<string, string>> } } | undefined): boolean =>
        object?.metadata.labels?.['resource-id'] === resource.id
      const removed = actions.flatMap((action) => (action && action.type === 'remove' ? [action.kind.kind] : []))
      expect(removed.includes('StatefulSet')).toBe(isOwn(cluster.statefulSet))
      // A Secret of an earlier row goes with the database that reads it.
      const isTaken = cluster.rival !== undefined || (cluster.statefulSet !== undefined && !isOwn(cluster.statefulSet))
      const isRead = cluster.secret !== undefined && resource.observedGeneration !== undefined && !isTaken
      const isReadByOwn = cluster.secret !== undefined && isOwn(cluster.statefulSet) && !isTaken
      expect(removed.includes('Secret')).toBe(isOwn(cluster.secret) || isRead || isReadByOwn)
      expect(isGone).toBe(removed.length === 0)
    }),
  )
})

test('a restored Secret with the id of an earlier row becomes that of the row, and goes with it', () => {
  const secret = testObject<Secret>(`${TEST_NAMES.name}-credentials`, '3', { data: { password: 'cHc=' } })
  const state = { ...EMPTY_STATE, secret }
  const plan = planDatabase({ row: testRow(), names: TEST_NAMES, state, random: seededRandom(1) })
  const patches = plan.type === 'converge' ? plan.actions.filter((each) => each && each.type === 'patch') : []
  expect(patches).toMatchObject([{ kind: { kind: 'Secret' }, ref: { name: 'orders-credentials' } }])
  const had = testRow({ observedGeneration: '1' })
  expect(planDeletion(had, state).isGone).toBe(false)
  // A row that never had a database did not read it; a rival reads it; another program's is not the operator's.
  expect(planDeletion(testRow(), state).isGone).toBe(true)
  expect(planDeletion(had, { ...state, rival: '3' }).isGone).toBe(true)
  const foreign = { ...secret, metadata: { ...secret.metadata, labels: {} } }
  expect(planDeletion(had, { ...state, secret: foreign })).toMatchObject({ isGone: true })
})

test('a database does not move', () => {
  const displaced = { name: 'orders', namespace: 'nest-team-9' }
  const state = { ...EMPTY_STATE, displaced }
  expect(planDatabase({ row: testRow(), names: TEST_NAMES, state, random: seededRandom(1) })).toMatchObject({
    type: 'refuse',
    reason:
      'The database runs in namespace nest-team-9 as orders and cannot move. Set k8s_namespace back to nest-team-9, ' +
      'or delete the resource and create another.',
  })
})

test('a Secret stays as long as pods read it', () => {
  const secret = testObject<Secret>(`${TEST_NAMES.name}-credentials`, '7', { data: {} })
  const pod = testObject<Pod>(`${TEST_NAMES.name}-0`, '7', {})
  const { actions, isGone } = planDeletion(testRow(), { ...EMPTY_STATE, secret, pods: [pod] })
  // The pod has no owner: the StatefulSet that was to be recreated left it behind.
  expect(actions.flatMap((action) => (action && 'kind' in action ? [action.kind.kind] : []))).toEqual(['Pod'])
  expect(isGone).toBe(false)
})

test('an adopted StatefulSet may have a version that the operator would not create', () => {
  const live = testObject<StatefulSet>(TEST_NAMES.name, undefined, {
    spec: {
      serviceName: 'legacy',
      selector: { matchLabels: { app: TEST_NAMES.name } },
      template: { spec: { containers: [{ name: 'db', image: 'postgres:12' }] } },
      volumeClaimTemplates: [{ metadata: { name: 'data' } }],
    },
  })
  const input = { names: TEST_NAMES, state: { ...EMPTY_STATE, statefulSet: live }, random: seededRandom(1) }
  expect(planDatabase({ ...input, row: testRow({ type: 'postgresql' }) })).toMatchObject({ type: 'converge' })
})

test('a running database does not become one of another type', () => {
  const live = testObject<StatefulSet>(TEST_NAMES.name, '7', {
    spec: {
      serviceName: `${TEST_NAMES.name}-headless`,
      selector: { matchLabels: { app: TEST_NAMES.name } },
      template: { spec: { containers: [{ name: 'database', image: 'redis:7-alpine' }] } },
      volumeClaimTemplates: [{ metadata: { name: 'data', labels: { 'managed-by': 'nest-controller' } } }],
    },
  })
  const input = { names: TEST_NAMES, state: { ...EMPTY_STATE, statefulSet: live }, random: seededRandom(1) }
  expect(planDatabase({ ...input, row: testRow({ type: 'mariadb' }) })).toMatchObject({
    type: 'refuse',
    reason: expect.stringContaining('runs redis:7-alpine') as string,
  })
})
