import { expect, test } from 'vitest'
import type { ResourceRow } from '../../api/rows.ts'
import { testRow } from '../../controllers/database/controller.testing.ts'
import type { DatabaseLeader } from '../../controllers/database/controller.ts'
import { LeaderRows } from '../../controllers/database/leader-rows.ts'
import { RowTable } from '../../controllers/database/row-table.ts'
import { databaseRow } from './database-row.ts'
import { databasesView } from './databases-view.ts'

const PREFIX = 'nest-team-'

/** A replica that leads, with its table of rows. */
function leading(rows: LeaderRows): { readonly table: RowTable; readonly leader: DatabaseLeader } {
  const table = new RowTable({ namespacePrefix: PREFIX, watchAllNamespaces: true }, (id) => rows.changed(id))
  const leader = {
    get rows() {
      return table.values()
    },
    row: (id: string) => table.get(id),
    retrying: 0,
    isListening: true,
  }
  return { table, leader }
}

const shown = (fields: Partial<ResourceRow>) => databaseRow(testRow(fields), PREFIX)

test('a row shows what the operator wrote into its columns, and the job that is under way', () => {
  expect(
    shown({
      type: 'db-postgresql',
      teamName: 'payments',
      status: 'updating',
      config: { version: 16.4, replicas: 1 },
      connectionInfo: {
        host: 'orders.nest-team-1.svc',
        port: 5432,
        replicas: 1,
        ready_replicas: 1,
        error: 'pods fail',
        password: 'hunter2',
      },
      credentials: { secret_name: 'orders-credentials', secret_namespace: 'nest-team-1', password: 'hunter3' },
      generation: '3',
      observedGeneration: '2',
      job: { id: '9', type: 'scale', status: 'running', generation: '3', attempts: 2, changes: [], logs: 'secret' },
    }),
  ).toEqual({
    id: '7',
    name: 'orders',
    namespace: 'nest-team-1',
    team: 'payments',
    engine: 'postgresql',
    version: '16.4',
    status: 'updating',
    reason: 'pods fail',
    replicas: 1,
    readyReplicas: 1,
    host: 'orders.nest-team-1.svc',
    port: 5432,
    secretName: 'orders-credentials',
    lifecycleMode: 'full',
    generation: '3',
    observedGeneration: '2',
    job: { id: '9', type: 'scale', status: 'running', attempts: 2 },
  })
})

test.each<[Partial<ResourceRow>, object]>([
  [
    { status: 'pending', config: { replicas: 3 } },
    { engine: 'redis', replicas: 3, readyReplicas: 0, status: 'pending' },
  ],
  [{ config: { image: 'redis:7.2-alpine' } }, { version: '7' }],
  [{ config: { redis_version: '7.4' } }, { version: '7.4' }],
  [{ type: 'mongodb' }, { engine: 'mongodb' }],
  [{ namespace: 'shop' }, { namespace: 'shop' }],
  [{ problem: 'config is not a JSON object' }, { reason: 'config is not a JSON object' }],
  [{ connectionInfo: { host: 5, port: 'x', replicas: 'many' } }, { replicas: 1 }],
])('a row with %j shows %j', (fields, expected) => {
  expect(shown(fields)).toMatchObject(expected)
})

test('a row without a valid name and namespace has none, and a type without an engine has no version', () => {
  expect(shown({ teamId: undefined })).not.toHaveProperty('namespace')
  expect(shown({ type: 'mongodb' })).not.toHaveProperty('version')
})

test('the view has the rows of the leader, and each change, and forgets them when its term ends', () => {
  const rows = new LeaderRows()
  const view = databasesView(rows, PREFIX)
  const told: string[] = []
  const end = view.subscribe((id) => told.push(id))
  expect([...view.rows()]).toEqual([])
  const { leader, table } = leading(rows)
  rows.lead(leader)
  table.set(testRow({ id: '1' }))
  table.set(testRow({ id: '2', status: 'pending' }))
  expect([...view.rows()].map(({ id }) => id)).toEqual(['1', '2'])
  expect(told).toEqual(['1', '2'])
  table.delete('1')
  expect(view.row('1')).toBeUndefined()
  expect(view.row('2')?.status).toBe('pending')
  expect(told).toEqual(['1', '2', '1'])
  rows.lead(undefined)
  expect([...view.rows()]).toEqual([])
  expect(told).toEqual(['1', '2', '1', '2'])
  end()
  rows.changed('2')
  expect(told).toHaveLength(4)
})

test('a row whose deletion is finished is gone, and one that is being deleted is not', () => {
  const rows = new LeaderRows()
  const view = databasesView(rows, PREFIX)
  const { leader, table } = leading(rows)
  rows.lead(leader)
  const deletedAt = '2026-01-01T00:00:00Z'
  table.set(testRow({ id: '1', deletedAt, status: 'active' }))
  table.set(testRow({ id: '2', deletedAt, status: 'deleted', observedGeneration: '1' }))
  expect([...view.rows()].map(({ id }) => id)).toEqual(['1'])
  expect(view.row('2')).toBeUndefined()
})
