import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { systemClock } from '@tenure/kube'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { TestPostgres, postgresFlavors } from '../testing/postgres.ts'
import { PLATFORM_SCHEMA_NAMES } from '../testing/schemas.ts'
import { StoreFixture } from '../testing/store.ts'
import { runDbCommand } from './cli.testing.ts'
import type { DbCliOptions } from './context.ts'

const [flavor] = postgresFlavors
/** Generous for slow machines: polling ends with its condition. */
const POLL = { timeout: 15_000 }

function urlOf({ address }: Pick<StoreFixture, 'address'>): string {
  const { database, host, password, port, user } = address
  return `postgres://${user}:${password?.reveal()}@${host}:${port}/${database}`
}

function db(fixture: StoreFixture, words: readonly string[], options: DbCliOptions = {}) {
  return runDbCommand({ DATABASE_URL: urlOf(fixture) }, words, options)
}

describe.skipIf(flavor === undefined)('the commands on a database without an operator', () => {
  let server: TestPostgres

  beforeAll(async () => {
    server = await TestPostgres.start(flavor ?? 'system')
  }, 60_000)
  afterAll(() => server.stop(), 60_000)

  test.each(PLATFORM_SCHEMA_NAMES)('rows are written to tables of the shape %s', async (schema) => {
    const fixture = await StoreFixture.create(server, schema)
    const [known] = await fixture.sql(`SELECT 1 FROM resource_types WHERE name = 'redis'`)
    if (!known) await fixture.sql(`INSERT INTO resource_types (name) VALUES ('redis')`)
    const created = await db(fixture, ['create', 'cache'], {
      type: 'redis',
      replicas: '2',
      wait: false,
      output: 'json',
    })
    expect(created.progress).toBe('')
    const { id } = JSON.parse(created.output) as { id: string }
    expect(await fixture.read(id)).toMatchObject({
      name: 'cache',
      type: 'redis',
      teamName: 'default',
      status: 'pending',
      lifecycleMode: 'full',
      config: { replicas: 2 },
      generation: '1',
    })
    expect(await db(fixture, ['set', 'cache', 'storage_size=3Gi'], { wait: false })).toMatchObject({ code: 0 })
    expect(await db(fixture, ['pause', 'cache'], { wait: false })).toMatchObject({ code: 0 })
    expect(await fixture.read(id)).toMatchObject({
      status: 'paused',
      config: { replicas: 2, storage_size: '3Gi' },
      generation: '3',
    })
    expect(await db(fixture, ['delete', 'cache'], { wait: false, deleteData: true })).toMatchObject({ code: 0 })
    const row = await fixture.read(id)
    expect(row).toMatchObject({ config: { replicas: 2, storage_size: '3Gi', delete_data: true }, generation: '4' })
    // A time without a zone must be UTC too.
    expect(Math.abs(Date.parse(row.deletedAt ?? '') - Date.now())).toBeLessThan(60_000)
  })

  test('an unknown name, an ambiguous one and one that is taken are reported', async () => {
    const fixture = await StoreFixture.create(server)
    const unknown = await db(fixture, ['show', 'orders'])
    expect(unknown).toEqual({ code: 1, output: '', progress: 'There is no database orders. See tenure db list.' })
    for (const team of ['payments', 'search'])
      await db(fixture, ['create', 'orders'], { type: 'redis', team, wait: false })
    const ambiguous = await db(fixture, ['pause', 'orders'], { wait: false })
    expect(ambiguous.code).toBe(1)
    expect(ambiguous.progress).toMatch(
      /^Several databases have the name orders: payments \(id \d+\), search \(id \d+\)\. Name one with --team, or by its id\.$/,
    )
    expect(await db(fixture, ['pause', 'orders'], { team: 'search', wait: false })).toMatchObject({ code: 0 })
    const taken = await db(fixture, ['create', 'orders'], { type: 'redis', team: 'search', wait: false })
    expect(taken).toMatchObject({ code: 1, progress: expect.stringContaining('has a database orders already') })
    const list = await db(fixture, ['list'])
    expect(list.output.split('\n').map((line) => line.split(/ +/).slice(0, 4))).toEqual([
      ['NAME', 'TEAM', 'TYPE', 'STATUS'],
      ['orders', 'payments', 'redis', 'pending'],
      ['orders', 'search', 'redis', 'paused'],
    ])
    const [row] = await fixture.sql(`SELECT id::text AS id FROM resources WHERE status = 'paused'`)
    expect((await db(fixture, ['show', String(row?.['id'])])).output).toMatch(/^TEAM +search$/m)
  })

  test('list -w prints a line for each row that comes or changes', async () => {
    const fixture = await StoreFixture.create(server)
    const lines: string[] = []
    const end = new AbortController()
    const more = { signal: end.signal, write: (text: string) => void lines.push(text) }
    const running = runDbCommand({ DATABASE_URL: urlOf(fixture) }, ['list'], { watch: true }, systemClock, more)
    await db(fixture, ['create', 'cache'], { type: 'redis', wait: false })
    await vi.waitFor(() => expect(lines.join('\n')).toMatch(/^ADDED +cache +default +redis +pending/m), POLL)
    await db(fixture, ['pause', 'cache'], { wait: false })
    await vi.waitFor(() => expect(lines.join('\n')).toMatch(/^MODIFIED +cache +default +redis +paused/m), POLL)
    end.abort()
    expect(await running).toMatchObject({ code: 0, progress: '' })
  })

  test('two commands at once create one team and one row', async () => {
    const fixture = await StoreFixture.create(server)
    const create = () => db(fixture, ['create', 'twin'], { type: 'redis', team: 'both', wait: false })
    const results = await Promise.all([create(), create(), create()])
    expect(results.map(({ code }) => code).toSorted((a, b) => a - b)).toEqual([0, 1, 1])
    expect(await fixture.sql(`SELECT name FROM teams WHERE name = 'both'`)).toHaveLength(1)
  })

  test.each<[readonly string[], DbCliOptions, string]>([
    [['create', 'orders'], {}, '--type is missing: use postgresql, mariadb, redis or valkey.'],
    [['create', 'orders'], { type: 'mongodb' }, 'unsupported resource type: mongodb.'],
    [['create', 'Orders!'], { type: 'redis' }, 'Name "Orders!" cannot name a Service'],
    [['create', 'orders'], { type: 'postgresql', replicas: '2' }, 'PostgreSQL is not replicated'],
    [['create', 'orders'], { type: 'redis', replicas: 'two' }, 'it must be an integer from 0 to 100'],
    [['create', 'orders'], { type: 'redis', set: ['x'] }, '--set x is not a value'],
    [['create', 'orders'], { type: 'redis', timeout: 'soon' }, '--timeout soon is not a duration'],
    [
      ['create', 'orders'],
      { type: 'redis', output: 'xml' },
      '"xml" is not an output format: use table, wide, json, yaml or name.',
    ],
    [['scale', 'orders'], {}, '--replicas is missing'],
  ])('%j with %j is refused before anything is written', async (words, options, reason) => {
    const fixture = await StoreFixture.create(server)
    const result = await db(fixture, words, options)
    expect(result).toEqual({ code: 2, output: '', progress: expect.stringContaining(reason) })
    expect(await fixture.sql('SELECT 1 FROM resources')).toEqual([])
  })

  test('a config that is hostile reaches the row unchanged, and an unknown key is a warning', async () => {
    const fixture = await StoreFixture.create(server)
    const text = `'; DROP TABLE resources; -- "$1 \\`
    const result = await db(fixture, ['create', 'orders'], {
      type: 'redis',
      team: text,
      set: [`note=${text}`],
      wait: false,
    })
    expect(result).toMatchObject({ code: 0, progress: 'Unknown config key "note" is ignored.' })
    expect(await fixture.sql(`SELECT config->>'note' AS note FROM resources`)).toEqual([{ note: text }])
  })

  test('values that may be passwords are not shown', async () => {
    const fixture = await StoreFixture.create(server)
    await fixture.insert('old', {
      config: { admin_password: 'hunter2', settings: { requirepass: 'hunter3' } },
      connection_info: { host: 'db.example', port: 5432, password: 'hunter4' },
      credentials: { username: 'app', password: 'hunter5' },
    })
    for (const output of ['table', 'json']) {
      for (const words of [['show', 'old'], ['list']]) {
        const result = await db(fixture, words, { output })
        expect(result.code).toBe(0)
        expect(result.output).not.toContain('hunter')
      }
    }
  })

  test('a command that no operator answers says so and stops at its timeout', async () => {
    const fixture = await StoreFixture.create(server)
    const result = await db(fixture, ['create', 'orders'], { type: 'redis', timeout: '6s' })
    expect(result.code).toBe(1)
    expect(result.progress.split('\n')).toEqual([
      'No operator has taken up the change yet. Is npm start, or tenure databases, running on this database?',
      'Not done in time: orders is pending. The change stays in force.',
    ])
  })

  test('a server that goes away while a command waits is waited for', async () => {
    const fixture = await StoreFixture.create(server)
    const running = db(fixture, ['create', 'orders'], { type: 'redis', timeout: '60s' })
    await expect.poll(() => fixture.sql('SELECT 1 FROM resources')).toHaveLength(1)
    await server.terminateConnections(fixture.address)
    await server.run(`UPDATE resources SET observed_generation = generation, status = 'active'`, fixture.address)
    expect((await running).code).toBe(0)
  })

  test('a row that the operator does not manage is not waited for', async () => {
    const fixture = await StoreFixture.create(server)
    await fixture.insert('watched', { lifecycle_mode: 'monitor_only' })
    const result = await db(fixture, ['set', 'watched', 'storage_size=2Gi'])
    expect(result).toMatchObject({ code: 0, progress: expect.stringContaining('lifecycle_mode monitor_only') })
  })

  test('a database without the tables is reported', async () => {
    const address = await server.createDatabase()
    const result = await runDbCommand({ DATABASE_URL: urlOf({ address }) }, ['list'])
    expect(result).toMatchObject({ code: 1, progress: expect.stringContaining('Start the operator on it once') })
  })
})

describe('the address of the database', () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'tenure-db-'))
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  test('without any setting the command says how to name one', async () => {
    const result = await runDbCommand({ TENURE_DATA: folder }, ['list'])
    expect(result.code).toBe(2)
    expect(result.progress).toContain(`${folder}/postgres-url cannot be read`)
    expect(result.progress).toContain('Run npm start here, or set --database-url, DATABASE_URL or DB_HOST.')
  })

  test('the file of npm start is read, and a server that is down is reported without the password', async () => {
    writeFileSync(path.join(folder, 'postgres-url'), 'postgres://nest:hunter2@127.0.0.1:1/nest\n')
    const result = await runDbCommand({ TENURE_DATA: folder }, ['list'])
    expect(result.code).toBe(1)
    expect(result.progress).toMatch(
      /^No database is named: using the PostgreSQL of .*postgres-url, which npm start wrote\.\nThe connection to PostgreSQL failed; check that the server runs/,
    )
    expect(result.progress).toContain(`The address comes from ${folder}/postgres-url.`)
    expect(result.progress).not.toContain('hunter2')
  })

  test.each([
    ['nonsense:hunter2', 'is not a URL such as postgres://user@host:5432/database.'],
    ['mysql://u:hunter2@h/d', 'is not a URL such as'],
    ['postgres://u:hunter2%@h/d', 'write %25 for it'],
    ['postgres://u:hunter2@h/d?sslmode=perhaps', 'has an unknown sslmode'],
  ])('the URL %s is refused without quoting it', async (databaseUrl, reason) => {
    const result = await runDbCommand({}, ['list'], { databaseUrl })
    expect(result).toMatchObject({ code: 2, progress: expect.stringContaining(reason) })
    expect(result.progress).not.toContain('hunter2')
  })

  test('a bad variable is named', async () => {
    const result = await runDbCommand({ DB_HOST: 'h', DB_PORT: 'x' }, ['list'])
    expect(result).toMatchObject({ code: 1, progress: expect.stringContaining('DB_PORT') })
  })
})
