import { postgresFlavors, TestPostgres } from '@tenure/databases/testing'
import { isNotFound } from '@tenure/kube'
import { Namespace, StatefulSet } from '@tenure/kube/kinds'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { onEveryFloor } from '../../floors/index.ts'
import { quoted, RunningDatabases } from './support.ts'

const [flavor] = postgresFlavors

describe.skipIf(flavor === undefined)('databases', () => {
  onEveryFloor('A row that cannot be carried out', (floor) => {
    let postgres: TestPostgres
    let operator: RunningDatabases

    beforeAll(async () => {
      postgres = await TestPostgres.start(flavor ?? 'system')
      operator = await RunningDatabases.start(floor(), postgres, { settings: { reconcileInterval: 1_000 } })
      await operator.sql(`INSERT INTO resource_types (name) VALUES ('cassandra')`)
    }, 120_000)
    afterAll(async () => {
      await operator.stop()
      await postgres.stop()
    }, 120_000)

    const passesOver = () => operator.untilPasses(2)

    test('an unsupported type is one failed job, however often it is seen', async () => {
      const id = await operator.insert('ring', 'cassandra')
      await operator.untilError(id, 'unsupported resource type: cassandra')
      await passesOver()
      expect(await operator.jobs(id)).toMatchObject([
        { job_type: 'create', status: 'failed', error_message: 'unsupported resource type: cassandra' },
      ])
      expect(await operator.actions(id)).toEqual(['resource.failed'])
      await operator.update(id, { resource_type_id: `(SELECT id FROM resource_types WHERE name = 'redis')` })
      await operator.untilStatus(id, 'active')
      expect(await operator.jobList(id)).toEqual(['create failed', 'create completed'])
    })

    test.each([
      ['Upper_Case', 'cannot name a Service'],
      ['1-begins-with-a-digit', 'cannot name a Service'],
      ['a'.repeat(53), 'is too long'],
      ['', 'cannot name a Service'],
    ])('the name %j is refused with a reason, and the row can be deleted', async (name, reason) => {
      const id = await operator.insert(name, 'redis')
      await operator.untilError(id, reason)
      await passesOver()
      expect(await operator.jobList(id)).toEqual(['create failed'])
      await operator.update(id, { deleted_at: 'now()' })
      await operator.untilStatus(id, 'deleted')
      expect(await operator.jobList(id)).toEqual(['create failed', 'delete completed'])
    })

    test('a config that is wrong is refused, and the corrected row runs', async () => {
      const id = await operator.insert('wrong', 'postgresql', { replicas: 2 })
      await operator.untilError(id, 'is not replicated')
      await operator.configure(id, { replicas: 1 })
      const row = await operator.untilStatus(id, 'active')
      expect(row['connection_info']).toMatchObject({ error: null })
      expect(await operator.jobList(id)).toEqual(['create failed', 'create completed'])
    })

    test.each([['NULL'], [`''`]])('a namespace that is %s is the namespace of the team', async (value) => {
      const name = value === 'NULL' ? 'null-namespace' : 'empty-namespace'
      const id = await operator.insert(name, 'redis', {}, { k8s_namespace: value })
      expect(await operator.untilStatus(id, 'active')).toMatchObject({
        k8s_namespace: operator.namespace,
        k8s_resource_name: name,
        k8s_resource_type: 'StatefulSet',
      })
      const { metadata } = await floor().api.get(Namespace, { name: operator.namespace })
      expect(metadata.labels).toMatchObject({ 'managed-by': 'nest-controller' })
    })

    test('a namespace outside the prefix is refused, and nothing is created there', async () => {
      const id = await operator.insert('outside', 'redis', {}, { k8s_namespace: `'default'` })
      await operator.untilError(id, 'does not begin with')
      const stranger = floor().api.get(StatefulSet, { name: 'outside', namespace: 'default' })
      await expect(stranger).rejects.toSatisfy(isNotFound)
      await operator.update(id, { deleted_at: 'now()' })
      await operator.untilStatus(id, 'deleted')
    })

    test('the second row of a name is an error until the first is deleted', async () => {
      const first = await operator.insert('twin', 'redis')
      await operator.untilStatus(first, 'active')
      const second = await operator.insert('twin', 'redis')
      await operator.untilError(second, `The resource ${first} already has the name twin`)
      const [pod] = await operator.pods('twin')
      await passesOver()
      expect((await operator.pods('twin')).map(({ metadata }) => metadata.uid)).toEqual([pod?.metadata.uid])
      expect(await operator.jobList(second)).toEqual(['create failed'])
      await operator.update(first, { deleted_at: 'now()' })
      await operator.untilStatus(first, 'deleted')
      const row = await operator.untilStatus(second, 'active')
      expect(row['connection_info']).toMatchObject({ error: null })
      expect((await operator.statefulSet('twin')).metadata.labels).toMatchObject({ 'resource-id': second })
      expect(await operator.jobList(second)).toEqual(['create failed', 'create completed'])
    })

    test('the second row of a name is deleted without touching the first', async () => {
      const first = await operator.insert('elder', 'redis')
      await operator.untilStatus(first, 'active')
      const second = await operator.insert('elder', 'redis', { delete_data: true })
      await operator.untilError(second, 'already has the name')
      const [pod] = await operator.pods('elder')
      await operator.update(second, { deleted_at: 'now()' })
      await operator.untilStatus(second, 'deleted')
      expect((await operator.pods('elder')).map(({ metadata }) => metadata.uid)).toEqual([pod?.metadata.uid])
      expect(await operator.claims('elder')).toHaveLength(1)
    })

    test.each(['monitor_only', 'partial'])(
      'a row that is %s gets status and connection, and no objects',
      async (mode) => {
        const name = mode.replace('_', '-')
        const lifecycle = { lifecycle_mode: quoted(mode) }
        const id = await operator.insert(name, 'redis', { replicas: 3 }, lifecycle)
        const managed = await operator.insert(`${name}-managed`, 'redis')
        await operator.untilStatus(managed, 'active')
        expect(await operator.exists(StatefulSet, name)).toBe(false)
        await operator.createStatefulSet(name)
        const row = await operator.until('the status is written', async () => {
          const { status, ...rest } = await operator.row(id)
          return status === 'active' ? rest : undefined
        })
        expect(row['connection_info']).toMatchObject({ port: 6379, replicas: 1, ready_replicas: 1, secret_name: null })
        const [before] = await operator.pods(name)
        await operator.update(id, { deleted_at: 'now()' })
        await passesOver()
        expect((await operator.pods(name)).map(({ metadata }) => metadata.uid)).toEqual([before?.metadata.uid])
        expect((await operator.statefulSet(name)).metadata.labels?.['resource-id']).toBeUndefined()
        expect(await operator.jobs(id)).toEqual([])
      },
    )

    test('a row that is no longer managed leaves its database and no running job', async () => {
      const id = await operator.insert('released', 'redis')
      await operator.untilStatus(id, 'active')
      await operator.update(id, { lifecycle_mode: `'monitor_only'`, config: `'{"replicas": 3}'` })
      await passesOver()
      expect((await operator.statefulSet('released')).spec?.replicas).toBe(1)
      expect(await operator.jobList(id)).toEqual(['create completed'])
    })
  })
})
