import { postgresFlavors, TestPostgres } from '@tenure/databases/testing'
import { Pod, Secret, Service, StatefulSet } from '@tenure/kube/kinds'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { onEveryFloor } from '../../floors/index.ts'
import { RunningDatabases } from './support.ts'

const [flavor] = postgresFlavors

describe.skipIf(flavor === undefined)('databases', () => {
  onEveryFloor('The life of a database', (floor) => {
    let postgres: TestPostgres
    let operator: RunningDatabases

    beforeAll(async () => {
      postgres = await TestPostgres.start(flavor ?? 'system')
      operator = await RunningDatabases.start(floor(), postgres)
    }, 120_000)
    afterAll(async () => {
      await operator.stop()
      await postgres.stop()
    }, 120_000)

    test.each([
      ['postgresql', 5432],
      ['mariadb', 3306],
      ['redis', 6379],
      ['valkey', 6379],
    ])('a row of type %s becomes a database that runs, and goes without its data', async (type, port) => {
      const { namespace } = operator
      const { api } = floor()
      const name = `life-${type}`
      const id = await operator.insert(name, type)
      const row = await operator.untilStatus(id, 'active')
      expect(row['connection_info']).toMatchObject({
        host: `${name}.${namespace}.svc`,
        port,
        service_name: name,
        replicas: 1,
        ready_replicas: 1,
        secret_name: `${name}-credentials`,
      })
      expect(row['credentials']).toEqual({ secret_name: `${name}-credentials`, secret_namespace: namespace })
      expect(await operator.jobs(id)).toMatchObject([{ job_type: 'create', status: 'completed' }])
      expect(await operator.audit(id)).toMatchObject([{ action: 'resource.created', resource_type: 'resources' }])
      const secret = await api.get(Secret, { name: `${name}-credentials`, namespace })
      const password = Buffer.from(secret.data?.['password'] ?? '', 'base64').toString()
      expect(password).toMatch(/^\w{32}$/)
      expect(
        JSON.stringify(await operator.sql('SELECT * FROM resources, provisioning_jobs, audit_logs')),
      ).not.toContain(password)
      await operator.sql(`UPDATE resources SET deleted_at = now() WHERE id = ${id}`)
      await operator.untilStatus(id, 'deleted')
      const left = await Promise.all([
        api.list(StatefulSet, { namespace }),
        api.list(Service, { namespace }),
        api.list(Secret, { namespace }),
        api.list(Pod, { namespace }),
      ])
      expect(left.flatMap(({ items }) => items.map((item) => item.metadata.name))).toEqual([])
      expect((await operator.jobs(id)).map(({ job_type, status }) => [job_type, status])).toEqual([
        ['create', 'completed'],
        ['delete', 'completed'],
      ])
      expect((await operator.audit(id)).map(({ action }) => action)).toEqual(['resource.created', 'resource.deleted'])
    })
  })
})
