import { postgresFlavors, TestPostgres } from '@tenure/databases/testing'
import { Namespace, Secret, StatefulSet } from '@tenure/kube/kinds'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { onEveryFloor } from '../../floors/index.ts'
import { quoted, RunningDatabases } from './support.ts'

const [flavor] = postgresFlavors

describe.skipIf(flavor === undefined)('databases', () => {
  onEveryFloor('A row whose names change', (floor) => {
    let postgres: TestPostgres
    let operator: RunningDatabases

    beforeAll(async () => {
      postgres = await TestPostgres.start(flavor ?? 'system')
      operator = await RunningDatabases.start(floor(), postgres, { settings: { reconcileInterval: 1_000 } })
    }, 120_000)
    afterAll(async () => {
      await operator.stop()
      await postgres.stop()
    }, 120_000)

    const elsewhere = () => `${operator.namespace}-moved`
    const uidsOf = async (name: string) => (await operator.pods(name)).map(({ metadata }) => metadata.uid)

    test('another namespace is refused, the database runs on, and the old namespace recovers', async () => {
      const id = await operator.insert('settled', 'redis')
      await operator.untilStatus(id, 'active')
      const uids = await uidsOf('settled')
      await operator.update(id, { k8s_namespace: quoted(elsewhere()) })
      await operator.untilError(
        id,
        `The database runs in namespace ${operator.namespace} as settled and cannot move. ` +
          `Set k8s_namespace back to ${operator.namespace}, or delete the resource and create another.`,
      )
      expect(await uidsOf('settled')).toEqual(uids)
      const { items } = await floor().api.list(Namespace)
      expect(items.map(({ metadata }) => metadata.name)).not.toContain(elsewhere())
      await operator.update(id, { k8s_namespace: quoted(operator.namespace) })
      const row = await operator.untilStatus(id, 'active')
      expect(row['connection_info']).toMatchObject({ error: null })
      expect(await uidsOf('settled')).toEqual(uids)
      expect((await operator.jobList(id)).slice(0, 2)).toEqual(['create completed', 'update failed'])
    })

    test('another resource name is refused, and the old one recovers', async () => {
      const id = await operator.insert('named', 'redis')
      await operator.untilStatus(id, 'active')
      await operator.update(id, { k8s_resource_name: quoted('renamed') })
      await operator.untilError(id, 'Set k8s_resource_name back to named')
      expect(await operator.exists(StatefulSet, 'renamed')).toBe(false)
      await operator.update(id, { k8s_resource_name: quoted('named') })
      await operator.untilStatus(id, 'active')
    })

    test('a deleted row deletes its database where it runs', async () => {
      const id = await operator.insert('leaving', 'redis')
      await operator.untilStatus(id, 'active')
      await operator.update(id, { k8s_namespace: quoted(elsewhere()) })
      await operator.untilError(id, 'cannot move')
      const next = await operator.insert('leaving', 'redis')
      await operator.untilError(next, id)
      await operator.update(id, { deleted_at: 'now()' })
      await operator.untilStatus(id, 'deleted')
      await operator.untilStatus(next, 'active')
      expect((await operator.statefulSet('leaving')).metadata.labels).toMatchObject({ 'resource-id': next })
    })

    test('a restored Secret with the id of an earlier row goes with the row that uses it', async () => {
      const { api } = floor()
      const ref = { name: 'restored-credentials', namespace: operator.namespace }
      const first = await operator.insert('restored', 'redis')
      await operator.untilStatus(first, 'active')
      const { data } = await api.get(Secret, ref)
      await operator.update(first, { deleted_at: 'now()' })
      await operator.untilStatus(first, 'deleted')
      const labels = { app: 'restored', 'managed-by': 'nest-controller', 'resource-id': first }
      await api.create(Secret, { metadata: { ...ref, labels }, ...(data && { data }) })
      const second = await operator.insert('restored', 'redis')
      await operator.untilStatus(second, 'active')
      const secret = await api.get(Secret, ref)
      expect(secret.metadata.labels).toMatchObject({ 'resource-id': second })
      expect(secret.data?.['password']).toBe(data?.['password'])
      await operator.update(second, { deleted_at: 'now()' })
      await operator.untilStatus(second, 'deleted')
      expect(await operator.exists(Secret, ref.name)).toBe(false)
    })

    test('a value whose key is removed stays on an adopted StatefulSet, and its pods do not restart', async () => {
      await operator.createStatefulSet('inherited')
      const id = await operator.insert('inherited', 'redis', { cpu_request: '120m' })
      await operator.untilStatus(id, 'active')
      const uids = await uidsOf('inherited')
      await operator.configure(id, {})
      await operator.untilStatus(id, 'active')
      await operator.untilPasses(2)
      const { spec } = await operator.statefulSet('inherited')
      expect(spec?.template.spec?.containers[0]?.resources).toEqual({ requests: { cpu: '120m' } })
      expect(await uidsOf('inherited')).toEqual(uids)
    })
  })
})
