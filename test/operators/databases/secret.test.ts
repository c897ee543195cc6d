import { postgresFlavors, TestPostgres } from '@tenure/databases/testing'
import { mergePatch } from '@tenure/kube'
import { Secret } from '@tenure/kube/kinds'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { onEveryFloor } from '../../floors/index.ts'
import { RunningDatabases } from './support.ts'

const [flavor] = postgresFlavors

describe.skipIf(flavor === undefined)('databases', () => {
  onEveryFloor('A Secret of another program', (floor) => {
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

    test('it is left alone and named as the reason, until it has the label of the operator', async () => {
      const { namespace } = operator
      const { api } = floor()
      // The first row makes the namespace.
      await operator.untilStatus(await operator.insert('first', 'redis'), 'active')
      const name = 'taken-credentials'
      const data = { password: Buffer.from('mine').toString('base64') }
      await api.create(Secret, { metadata: { name, namespace }, data })
      const id = await operator.insert('taken', 'redis')
      await operator.until('the job has failed', async () => (await operator.jobs(id))[0]?.['status'] === 'failed')
      expect((await operator.jobs(id))[0]?.['error_message']).toMatch(/^The Secret taken-credentials exists/)
      expect((await operator.row(id))['status']).toBe('error')
      const labels = { 'managed-by': 'nest-controller', app: 'taken' }
      await api.patch(Secret, { name, namespace }, mergePatch({ metadata: { labels } }))
      await operator.untilStatus(id, 'active')
      expect((await api.get(Secret, { name, namespace })).data).toEqual(data)
    })
  })
})
