import { silentLogger } from '@tenure/runtime'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JobChange, LiveJob, ResourceRow } from '../api/rows.ts'
import { postgresFlavors, TestPostgres } from '../testing/postgres.ts'
import { PLATFORM_SCHEMA_NAMES } from '../testing/schemas.ts'
import { StoreFixture } from '../testing/store.ts'
import { countResources } from './resource-counts.ts'
import { ResourceStore } from './resource-store.ts'

const begin: JobChange = { type: 'begin', jobType: 'create', changes: [], log: ['creating'] }

/** The row of a report that must not be stale. */
function written(result: { readonly row: ResourceRow } | 'stale'): ResourceRow {
  if (result === 'stale') throw new Error('The report was stale')
  return result.row
}

const repaired = (text: string): string => text.replaceAll('\0', '\uFFFD').toWellFormed()

function jobOf({ job }: ResourceRow): LiveJob {
  if (job === undefined) throw new Error('The row has no live job')
  return job
}

describe.each(postgresFlavors)('the resource store (%s)', (flavor) => {
  let server: TestPostgres
  beforeAll(async () => {
    server = await TestPostgres.start(flavor)
  }, 60_000)
  afterAll(() => server.stop())

  test.each(PLATFORM_SCHEMA_NAMES)('a resource lives from insert to deleted on the schema "%s"', async (schema) => {
    const fixture = await StoreFixture.create(server, schema)
    const { store } = fixture
    const id = await fixture.insert('db', { config: JSON.stringify({ replicas: 2 }) })
    const [row] = (await store.readAll()).rows
    expect(row).toMatchObject({ id, name: 'db', type: 'postgresql', teamId: '1', teamName: 'Team One' })
    expect(row).toMatchObject({ status: 'pending', lifecycleMode: 'full', config: { replicas: 2 }, generation: '1' })
    expect(row).toMatchObject({ namespace: undefined, deletedAt: undefined, job: undefined, lastJob: undefined })
    if (row === undefined) return

    const changes = [{ field: 'replicas', from: undefined, to: 2 }]
    const started = written(
      await store.report(row, { status: 'provisioning' }, { type: 'begin', jobType: 'create', changes, log: ['one'] }),
    )
    expect(started).toMatchObject({ status: 'provisioning', generation: '1', config: { replicas: 2 } })
    expect(started.job).toMatchObject({
      type: 'create',
      status: 'running',
      generation: '1',
      attempts: 0,
      logs: 'one\n',
    })
    expect(started.job?.changes).toEqual(changes)

    const tried = written(
      await store.report(started, {}, { type: 'progress', job: jobOf(started), log: ['two'], attempts: 1 }),
    )
    expect(tried.job).toMatchObject({ attempts: 1, logs: 'one\ntwo\n' })

    const active = written(
      await store.report(
        tried,
        { status: 'active', connectionInfo: { host: 'db.x.svc' }, namespace: 'nest-team-1', observedGeneration: '1' },
        { type: 'complete', job: jobOf(tried), log: ['ready'], audit: 'resource.created' },
      ),
    )
    expect(active).toMatchObject({ status: 'active', connectionInfo: { host: 'db.x.svc' }, generation: '1' })
    expect(active).toMatchObject({ observedGeneration: '1', job: undefined })
    expect(active.lastJob).toEqual({ status: 'completed', generation: '1', error: undefined })
    expect((await fixture.jobs()).map((job) => [job['status'], job['logs']])).toEqual([
      ['completed', 'one\ntwo\nready\n'],
    ])
    const [audit] = await fixture.audits()
    expect(audit).toMatchObject({ action: 'resource.created', resource_type: 'resources' })
    expect(String(audit?.['resource_id'])).toBe(id)
    expect(audit?.['details']).toMatchObject({ job_type: 'create', changes: [{ field: 'replicas', to: 2 }] })

    await fixture.sql('UPDATE resources SET deleted_at = now()')
    const gone = await fixture.read(id)
    expect(gone).toMatchObject({ generation: '2' })
    expect(Math.abs(Date.parse(gone.deletedAt ?? '') - Date.now())).toBeLessThan(60_000)
    const deleting = written(await store.report(gone, {}, { type: 'begin', jobType: 'delete', changes: [], log: [] }))
    await store.report(
      deleting,
      { status: 'deleted', observedGeneration: '2' },
      { type: 'complete', job: jobOf(deleting), log: [], audit: 'resource.deleted' },
    )
    expect((await store.readAll()).rows).toEqual([])
    expect(await fixture.read(id)).toMatchObject({ status: 'deleted' })
  })

  test('the platform queues a job, and the operator takes it', async () => {
    const fixture = await StoreFixture.create(server)
    const id = await fixture.insert('db')
    await fixture.sql(
      `INSERT INTO provisioning_jobs (resource_id, job_type, logs) VALUES ($1, 'create', 'queued' || chr(10))`,
      [id],
    )
    const row = await fixture.read(id)
    expect(row.job).toMatchObject({ status: 'pending', generation: '1' })
    const started = written(await fixture.store.report(row, {}, begin))
    expect(started.job).toMatchObject({ id: row.job?.id, status: 'running', logs: 'queued\ncreating\n' })
    expect(await fixture.jobs()).toHaveLength(1)
  })

  test('a report on a row that the platform has changed is stale and writes nothing', async () => {
    const fixture = await StoreFixture.create(server)
    const row = await fixture.read(await fixture.insert('db'))
    await fixture.sql(`UPDATE resources SET config = '{"replicas": 3}'`)
    expect(await fixture.store.report(row, { status: 'active' }, begin)).toBe('stale')
    expect(await fixture.read(row.id)).toMatchObject({ status: 'pending', config: { replicas: 3 }, job: undefined })
    expect(await fixture.store.report({ ...row, id: '4711' }, { status: 'active' })).toBe('stale')
  })

  test('a report waits for an edit that is being committed, and is stale then', async () => {
    const fixture = await StoreFixture.create(server)
    const row = await fixture.read(await fixture.insert('db'))
    await fixture.sql('BEGIN')
    await fixture.sql(`UPDATE resources SET config = '{"replicas": 3}'`)
    const report = fixture.store.report(row, { status: 'active' })
    await expect
      .poll(() =>
        server.run(
          `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = '${fixture.address.database}'`,
        ),
      )
      .toHaveLength(1)
    await fixture.sql('COMMIT')
    expect(await report).toBe('stale')
  })

  test('two controllers begin one job, and only one of them completes it', async () => {
    const fixture = await StoreFixture.create(server)
    const row = await fixture.read(await fixture.insert('db'))
    const stores = [fixture.store, await fixture.secondStore()]
    const begun = await Promise.all(stores.map((store) => store.report(row, { status: 'provisioning' }, begin)))
    expect(begun.filter((result) => result === 'stale')).toHaveLength(1)
    const started = await fixture.read(row.id)
    const complete: JobChange = { type: 'complete', job: jobOf(started), log: [], audit: 'resource.created' }
    const completed = await Promise.all(stores.map((store) => store.report(started, { status: 'active' }, complete)))
    expect(completed.filter((result) => result === 'stale')).toHaveLength(1)
    expect(await fixture.jobs()).toHaveLength(1)
    expect(await fixture.audits()).toHaveLength(1)
  })

  test('a failure that two controllers find is one failed job and one audit row per generation', async () => {
    const fixture = await StoreFixture.create(server)
    const row = await fixture.read(await fixture.insert('db'))
    const reject: JobChange = { type: 'reject', jobType: 'create', error: 'unsupported resource type: x' }
    const stores = [fixture.store, await fixture.secondStore()]
    await Promise.all(stores.map((store) => store.report(row, { status: 'error' }, reject)))
    expect(await fixture.read(row.id)).toMatchObject({
      status: 'error',
      generation: '1',
      lastJob: { status: 'failed', generation: '1', error: 'unsupported resource type: x' },
    })
    expect(await fixture.audits()).toMatchObject([{ action: 'resource.failed' }])
    await fixture.sql(`UPDATE resources SET config = '{"a": 1}'`)
    await fixture.store.report(await fixture.read(row.id), { status: 'error' }, reject)
    expect(await fixture.jobs()).toHaveLength(2)
  })

  test('a job that fails is reported with its error, and a rejected resource ends its queued job', async () => {
    const fixture = await StoreFixture.create(server)
    const row = await fixture.read(await fixture.insert('db'))
    const started = written(await fixture.store.report(row, {}, begin))
    const fail: JobChange = { type: 'fail', job: jobOf(started), log: ['gave up'], error: 'ImagePullBackOff' }
    const failed = written(await fixture.store.report(started, { status: 'error' }, fail))
    expect(failed).toMatchObject({
      status: 'error',
      job: undefined,
      lastJob: { status: 'failed', error: 'ImagePullBackOff' },
    })
    await fixture.sql(`INSERT INTO provisioning_jobs (resource_id, job_type) VALUES ($1, 'update')`, [row.id])
    await fixture.store.report(failed, {}, { type: 'reject', jobType: 'update', error: 'no' })
    expect((await fixture.jobs()).map((job) => job['status'])).toEqual(['failed', 'failed'])
    expect((await fixture.audits()).map((audit) => audit['action'])).toEqual(['resource.failed', 'resource.failed'])
  })

  test('a report that changes nothing writes no row', async () => {
    const fixture = await StoreFixture.create(server)
    const id = await fixture.insert('db', { connection_info: '{"note": "mine", "host": "a", "pod_ips": ["1"]}' })
    const stamp = async (): Promise<unknown> => (await fixture.sql('SELECT xmin::text, updated_at FROM resources'))[0]
    const row = await fixture.read(id)
    const before = await stamp()
    const same = { status: 'pending', connectionInfo: { host: 'a', pod_ips: ['1'] } } as const
    expect(written(await fixture.store.report(row, same))).toEqual(row)
    // The caller knows an older row: the database compares again.
    const older = { ...row, status: 'active', connectionInfo: {} }
    expect(written(await fixture.store.report(older, same))).toEqual(row)
    expect(await fixture.sql('SELECT updated_at FROM resources')).toEqual([
      { updated_at: (before as { updated_at: Date }).updated_at },
    ])
    const changed = written(await fixture.store.report(row, { connectionInfo: { pod_ips: [] } }))
    expect(changed.connectionInfo).toEqual({ note: 'mine', host: 'a', pod_ips: [] })
    expect(await stamp()).not.toEqual(before)
  })

  test('a report leaves all columns alone that it does not own', async () => {
    const fixture = await StoreFixture.create(server, 'integer')
    const id = await fixture.insert('db', { owner_note: 'kept', config: '{"a": 1}', can_scale: false, created_by: 3 })
    const [before] = await fixture.sql('SELECT * FROM resources')
    await fixture.store.report(
      await fixture.read(id),
      {
        status: 'active',
        namespace: 'n',
        resourceName: 'db',
        resourceType: 'StatefulSet',
        credentials: { secret: 's' },
      },
      begin,
    )
    const [after] = await fixture.sql('SELECT * FROM resources')
    const own = { status: 'active', k8s_namespace: 'n', k8s_resource_name: 'db', k8s_resource_type: 'StatefulSet' }
    expect(after).toEqual({ ...before, ...own, credentials: { secret: 's' }, updated_at: after?.['updated_at'] })
  })

  test('documents that are not objects do not stop the operator', async () => {
    const fixture = await StoreFixture.create(server)
    const values = ['[1]', '"text"', '5', 'null', 'true']
    for (const [index, value] of values.entries()) {
      await fixture.insert(`r${index}`, { config: value, connection_info: value, credentials: value })
    }
    const huge = JSON.stringify({
      text: Array.from({ length: 60_000 }, (_, n) => (n * 2654435761).toString(36)).join(''),
    })
    const id = await fixture.insert('huge', { config: huge, k8s_namespace: '' })
    const { rows } = await fixture.store.readAll()
    expect(rows.map(({ config }) => config)).toEqual([{}, {}, {}, {}, {}, {}])
    expect(rows.map(({ problem }) => problem)).toEqual([
      'config is not a JSON object',
      'config is not a JSON object',
      'config is not a JSON object',
      undefined,
      'config is not a JSON object',
      'config is larger than 262144 bytes',
    ])
    expect(rows.find((row) => row.id === id)?.namespace).toBeUndefined()
    for (const row of rows) {
      const report = written(await fixture.store.report(row, { connectionInfo: { host: 'a' } }))
      expect(report.connectionInfo).toEqual({ host: 'a' })
    }
  })

  test('hostile strings are stored as they are, or repaired where PostgreSQL cannot store them', async () => {
    const fixture = await StoreFixture.create(server)
    const hostile = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom(
        `'; DROP TABLE resources; --`,
        '$1',
        '\0',
        '\ud800',
        '\udc00x',
        '"',
        `\\'`,
        '__proto__',
        'x'.repeat(9_000),
      ),
    )
    await fc.assert(
      fc.asyncProperty(hostile, hostile, hostile, async (key, value, error) => {
        const id = await fixture.insert(repaired(value), {
          config: JSON.stringify({ [repaired(key)]: repaired(value) }),
        })
        const row = await fixture.read(id)
        expect(row.name).toBe(repaired(value))
        expect(row.config).toEqual({ [repaired(key)]: repaired(value) })
        const changes = [{ field: key, from: value, to: { [key]: [value] } }]
        const started = written(
          await fixture.store.report(
            row,
            { connectionInfo: { [key]: value }, resourceName: value },
            { type: 'begin', jobType: 'create', changes, log: [error] },
          ),
        )
        expect(started.connectionInfo).toEqual({ [repaired(key)]: repaired(value) })
        expect(started.job?.changes[0]?.field).toBe(repaired(key))
        const failed = written(
          await fixture.store.report(started, {}, { type: 'fail', job: jobOf(started), log: [value], error }),
        )
        expect(failed.lastJob?.error ?? '').toBe(repaired(error).slice(0, 4_096))
      }),
      { numRuns: 60 },
    )
    expect((await fixture.store.readAll()).rows).toHaveLength(60)
  })

  test('changes are found in any order of commits, and each once', async () => {
    const fixture = await StoreFixture.create(server)
    const ids = [await fixture.insert('a'), await fixture.insert('b'), await fixture.insert('c')]
    let { cursor } = await fixture.store.readAll()
    const changed = async (): Promise<readonly string[]> => {
      const read = await fixture.store.readChanged(cursor)
      cursor = read.cursor
      return read.rows.map(({ name }) => name)
    }
    expect(await changed()).toEqual([])
    const late = await server.connect(fixture.address)
    await late.query('BEGIN')
    await late.query(`UPDATE resources SET name = 'late' WHERE id = ${ids[0]}`)
    await fixture.sql(`UPDATE resources SET name = 'early' WHERE id = $1`, [ids[1]])
    expect(await changed()).toEqual(['early'])
    expect(await changed()).toEqual([])
    await late.query('COMMIT')
    await late.end()
    expect(await changed()).toEqual(['late'])
    await fixture.sql(`UPDATE resources SET name = 'early again' WHERE id = $1`, [ids[1]])
    expect(await changed()).toEqual(['early again'])
    await fixture.store.report(await fixture.read(ids[2] ?? ''), { status: 'active' })
    expect(await changed()).toEqual([])
    // A backup of another server brings ids that this one has not reached.
    await fixture.sql(`SET tenure.writer = 'controller'`)
    await fixture.sql(`UPDATE resources SET change_xid = 9000000000000000000`)
    expect(await changed()).toEqual([])
  })

  test('10,000 rows are read at once, and changes by an index', async () => {
    const fixture = await StoreFixture.create(server)
    await fixture.sql(
      `INSERT INTO resources (name, resource_type_id, team_id, config) SELECT 'r' || n, 1, 1, '{"replicas": 1}' FROM generate_series(1, 10000) n`,
    )
    await fixture.sql(
      `INSERT INTO provisioning_jobs (resource_id, job_type, status) SELECT 1 + n % 10000, 'create', 'completed' FROM generate_series(1, 30000) n`,
    )
    await fixture.sql('ANALYZE')
    const { cursor, rows } = await fixture.store.readAll()
    expect(rows).toHaveLength(10_000)
    expect((await fixture.store.readChanged(cursor)).rows).toEqual([])
    const plan = await fixture.sql('EXPLAIN SELECT id FROM resources WHERE change_xid >= 999999999')
    expect(JSON.stringify(plan)).toContain('Index')
  })

  test('a store that is not prepared asks for a retry', async () => {
    const fixture = await StoreFixture.create(server)
    const store = new ResourceStore(fixture.database, silentLogger)
    await expect(store.readAll()).rejects.toMatchObject({ code: 'TENURE_DB_NOT_READY', fate: 'retry' })
  })
})

test('rows are counted by type, status, team and mode', () => {
  const row = { type: 'redis', status: 'active', teamName: 'a', teamId: '1', lifecycleMode: 'full' } as ResourceRow
  const counts = countResources([row, row, { ...row, status: 'error' }, { ...row, teamName: undefined }])
  expect(counts).toEqual([
    { type: 'redis', status: 'active', team: 'a', lifecycleMode: 'full', count: 2 },
    { type: 'redis', status: 'error', team: 'a', lifecycleMode: 'full', count: 1 },
    { type: 'redis', status: 'active', team: '1', lifecycleMode: 'full', count: 1 },
  ])
})
