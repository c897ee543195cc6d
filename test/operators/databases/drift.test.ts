import { postgresFlavors, TestPostgres } from '@tenure/databases/testing'
import { mergePatch } from '@tenure/kube'
import { ConfigMap, PodDisruptionBudget, Secret, Service, StatefulSet } from '@tenure/kube/kinds'
import type { Action } from '@tenure/runtime'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Floor, onEveryFloor } from '../../floors/index.ts'
import { RunningDatabases } from './support.ts'

const [flavor] = postgresFlavors

interface Drift {
  readonly name: string
  readonly make: (floor: Floor, namespace: string) => Promise<unknown>
}

const DATABASE = 'drifting'

function patched(
  name: string,
  kind: typeof Service | typeof ConfigMap | typeof StatefulSet | typeof PodDisruptionBudget | typeof Secret,
  object: string,
  patch: object,
): Drift {
  return {
    name,
    make: ({ api }, namespace) => api.patch(kind, { name: object, namespace }, mergePatch(patch)),
  }
}

function deleted(
  kind: typeof Service | typeof ConfigMap | typeof StatefulSet | typeof PodDisruptionBudget | typeof Secret,
  object: string,
): Drift {
  return {
    name: `a deleted ${kind.kind} ${object}`,
    make: ({ api }, namespace) => api.delete(kind, { name: object, namespace }),
  }
}

const container = (fields: object) => ({
  spec: { template: { spec: { containers: [{ name: 'database', ...fields }] } } },
})

const DRIFTS: readonly Drift[] = [
  patched('the port of the client Service', Service, DATABASE, {
    spec: { ports: [{ name: 'redis', port: 7000, targetPort: 'redis', protocol: 'TCP' }] },
  }),
  patched('the selector of the client Service', Service, DATABASE, { spec: { selector: { app: 'other' } } }),
  patched('the labels of the client Service', Service, DATABASE, { metadata: { labels: { 'resource-id': '999' } } }),
  patched('the selector of the headless Service', Service, `${DATABASE}-headless`, {
    spec: { selector: { app: 'other' } },
  }),
  patched('the settings in the ConfigMap', ConfigMap, `${DATABASE}-config`, {
    data: { 'redis.conf': 'maxclients 1\n' },
  }),
  patched('the labels of the ConfigMap', ConfigMap, `${DATABASE}-config`, { metadata: { labels: { app: null } } }),
  patched('the selection label of the Secret', Secret, `${DATABASE}-credentials`, {
    metadata: { labels: { 'managed-by': null } },
  }),
  patched('the replicas', StatefulSet, DATABASE, { spec: { replicas: 1 } }),
  patched('the image', StatefulSet, DATABASE, container({ image: 'redis:7.0-alpine' })),
  patched('the labels of the StatefulSet', StatefulSet, DATABASE, { metadata: { labels: { 'managed-by': null } } }),
  patched('the annotations of the pods', StatefulSet, DATABASE, {
    spec: { template: { metadata: { annotations: { 'nest-controller/config-checksum': 'none' } } } },
  }),
  patched('the budget', PodDisruptionBudget, DATABASE, { spec: { maxUnavailable: 2 } }),
  deleted(Service, DATABASE),
  deleted(Service, `${DATABASE}-headless`),
  deleted(ConfigMap, `${DATABASE}-config`),
  deleted(PodDisruptionBudget, DATABASE),
  deleted(StatefulSet, DATABASE),
  deleted(Secret, `${DATABASE}-credentials`),
]

describe.skipIf(flavor === undefined)('databases', () => {
  onEveryFloor('A database that another writer changes', (floor) => {
    let postgres: TestPostgres
    let operator: RunningDatabases
    let id: string

    beforeAll(async () => {
      postgres = await TestPostgres.start(flavor ?? 'system')
      operator = await RunningDatabases.start(floor(), postgres, { settings: { reconcileInterval: 36_000_000 } })
      id = await operator.insert(DATABASE, 'redis', { replicas: 2 })
      await operator.untilStatus(id, 'active')
    }, 120_000)
    afterAll(async () => {
      await operator.stop()
      await postgres.stop()
    }, 120_000)

    /** Everything of the objects that the operator describes. */
    async function objects() {
      const { api } = floor()
      const { namespace } = operator
      const kinds = [Service, ConfigMap, StatefulSet, PodDisruptionBudget, Secret] as const
      const lists = await Promise.all(kinds.map((kind) => api.list(kind, { namespace })))
      return lists.flatMap(({ items }) =>
        items.map((item) => {
          const { data, metadata, spec } = item as typeof item & { data?: object; spec?: object }
          const { clusterIP: _, clusterIPs: __, ...own } = (spec ?? {}) as Record<string, unknown>
          return { name: metadata.name, labels: metadata.labels, data, spec: own }
        }),
      )
    }

    test.each(DRIFTS)('$name is repaired, by a job of its own', async ({ make }) => {
      const jobs = await operator.jobList(id)
      const before = await objects()
      await make(floor(), operator.namespace)
      await operator.until('the repair is done', async () => (await operator.jobList(id)).length > jobs.length)
      await operator.until('the job is over', async () => !(await operator.jobList(id)).join(' ').includes('running'))
      await operator.untilStatus(id, 'active')
      expect(await objects()).toEqual(before)
      const [repair, ...more] = (await operator.jobs(id)).slice(jobs.length)
      expect(more).toEqual([])
      expect(repair).toMatchObject({ status: 'completed' })
      const { changes = [] } = (repair?.['details'] ?? {}) as { changes?: readonly unknown[] }
      expect(changes.length).toBeGreaterThan(0)
      expect((await operator.audit(id)).length).toBe(jobs.length + 1)
    })
  })

  onEveryFloor('A database that nothing changes', (floor) => {
    let postgres: TestPostgres
    let operator: RunningDatabases
    const written: Action[] = []

    beforeAll(async () => {
      postgres = await TestPostgres.start(flavor ?? 'system')
      operator = await RunningDatabases.start(floor(), postgres, { settings: { reconcileInterval: 1_000 } })
    }, 120_000)
    afterAll(async () => {
      await operator.stop()
      await postgres.stop()
    }, 120_000)

    const versions = () =>
      operator.sql(`SELECT 'resource' AS kind, id, xmin::text FROM resources
                    UNION ALL SELECT 'job', id, xmin::text FROM provisioning_jobs
                    UNION ALL SELECT 'audit', id, xmin::text FROM audit_logs ORDER BY 1, 2`)

    test('it costs no write of a row and none of an object, also after a restart', async () => {
      const ids = [
        await operator.insert('quiet-postgresql', 'postgresql', { settings: { max_connections: 50 } }),
        await operator.insert('quiet-mariadb', 'mariadb'),
        await operator.insert('quiet-redis', 'redis', { replicas: 2 }),
        await operator.insert('quiet-valkey', 'valkey', { cpu_limit: '2', memory_limit: '1Gi' }),
      ]
      for (const id of ids) await operator.untilStatus(id, 'active')
      const paused = await operator.insert('quiet-paused', 'redis', {}, { status: `'paused'` })
      await operator.untilStatus(paused, 'paused')
      const refused = await operator.insert('quiet-refused', 'postgresql', { replicas: 9 })
      await operator.untilError(refused, 'is not replicated')
      await operator.createStatefulSet('quiet-legacy')
      const adopted = await operator.insert('quiet-legacy', 'redis', { memory_limit: '512Mi' })
      await operator.untilStatus(adopted, 'active')
      await operator.untilPasses(1)
      const before = await versions()
      await operator.stopOperator()
      await operator.run((step) => {
        if (step.phase === 'after' && step.outcome === 'done') written.push(step.action)
      })
      await operator.untilPasses(3)
      expect(await versions()).toEqual(before)
      expect(written).toEqual([])
      // The hook sees writes: a change is one.
      await operator.configure(ids[2] ?? '', { replicas: 3 })
      await operator.until('a write is seen', () => written.length > 0)
    })
  })
})
