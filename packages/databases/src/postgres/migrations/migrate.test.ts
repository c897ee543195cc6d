import { silentLogger } from '@tenure/runtime'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { postgresFlavors, TestPostgres } from '../../testing/postgres.ts'
import { PLATFORM_SCHEMA_NAMES, PLATFORM_SCHEMAS } from '../../testing/schemas.ts'
import { openDatabase } from '../../testing/store.ts'
import { hasColumn, TABLES } from '../schema.ts'
import { migrate } from './migrate.ts'
import { TABLE_DEFINITIONS } from './tables.ts'

describe.each(postgresFlavors)('the migrations (%s)', (flavor) => {
  let server: TestPostgres
  beforeAll(async () => {
    server = await TestPostgres.start(flavor)
  }, 60_000)
  afterAll(() => server.stop())

  const dump = `SELECT c.relname, a.attname, a.atttypid::regtype::text AS type, a.attnotnull, pg_get_expr(d.adbin, d.adrelid) AS preset
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' ORDER BY 1, a.attnum`

  test.each(PLATFORM_SCHEMA_NAMES)('the schema "%s" gets what is missing and keeps what it has', async (name) => {
    const address = await server.createDatabase(PLATFORM_SCHEMAS[name])
    const before = await server.run(dump, address)
    const schema = await migrate(openDatabase(address), silentLogger)
    const after = await server.run(dump, address)
    expect(after).toEqual(expect.arrayContaining([...before]))
    const missing = TABLES.flatMap((table) =>
      TABLE_DEFINITIONS[table].filter((column) => column.isNeeded && !hasColumn(schema, table, column.name)),
    )
    expect(missing).toEqual([])
    const types = await server.run('SELECT name FROM resource_types ORDER BY id', address)
    expect(types.map((type) => type['name'])).toEqual(['postgresql', 'mariadb', 'redis', 'valkey'])
  })

  test.each(PLATFORM_SCHEMA_NAMES)('a second run on the schema "%s" writes nothing', async (name) => {
    const address = await server.createDatabase(PLATFORM_SCHEMAS[name])
    await migrate(openDatabase(address), silentLogger)
    await server.run(`ALTER DATABASE ${address.database} SET default_transaction_read_only = on`)
    await expect(migrate(openDatabase(address), silentLogger)).resolves.toBeDefined()
  })

  test('replicas that start together migrate once', async () => {
    const address = await server.createDatabase()
    const lines: string[] = []
    const log = { ...silentLogger, info: (message: string) => lines.push(message) }
    await Promise.all(Array.from({ length: 6 }, () => migrate(openDatabase(address), log)))
    expect(lines).toEqual(['database migrated'])
    expect(await server.run('SELECT count(*)::int AS n FROM resource_types', address)).toEqual([{ n: 4 }])
  })

  test('rows that exist get generation 1, and types that exist are not added to', async () => {
    const address = await server.createDatabase(PLATFORM_SCHEMAS.integer)
    await server.run(
      `INSERT INTO teams (name) VALUES ('a'); INSERT INTO resource_types (name) VALUES ('db-redis');
       INSERT INTO resources (name, resource_type_id, team_id) VALUES ('x', 1, 1)`,
      address,
    )
    await migrate(openDatabase(address), silentLogger)
    const rows = await server.run(
      `SELECT r.generation::int, r.observed_generation, t.name FROM resources r JOIN resource_types t ON true`,
      address,
    )
    expect(rows).toEqual([{ generation: 1, observed_generation: null, name: 'db-redis' }])
  })

  test('of several live jobs in an older table the newest stays live', async () => {
    const address = await server.createDatabase(PLATFORM_SCHEMAS.old)
    await server.run(
      `INSERT INTO resources (name) VALUES ('x'), ('y');
       INSERT INTO provisioning_jobs (resource_id, job_type, status, created_by)
       VALUES (1, 'create', 'running', 1), (1, 'update', 'pending', 1), (1, 'scale', 'pending', 1), (2, 'create', 'pending', 1),
              (2, 'create', 'completed', 1)`,
      address,
    )
    await migrate(openDatabase(address), silentLogger)
    const jobs = await server.run('SELECT status::text, error_message FROM provisioning_jobs ORDER BY id', address)
    expect(jobs.map((job) => job['status'])).toEqual(['failed', 'failed', 'pending', 'pending', 'completed'])
    expect(jobs[0]).toMatchObject({ error_message: 'Superseded by a newer job of the same resource' })
    const second = server.run(
      `INSERT INTO provisioning_jobs (resource_id, job_type, status, created_by) VALUES (1, 'create', 'running', 1)`,
      address,
    )
    await expect(second).rejects.toThrow('tenure_one_live_job')
  })

  test('a database of something else is refused', async () => {
    const address = await server.createDatabase('CREATE TABLE teams (name text)')
    await expect(migrate(openDatabase(address), silentLogger)).rejects.toMatchObject({ code: 'TENURE_DB_SCHEMA' })
    expect(await server.run(`SELECT to_regclass('resources') AS t`, address)).toEqual([{ t: null }])
  })
})
