import { setTimeout as delay } from 'node:timers/promises'
import { systemClock, systemRandom } from '@tenure/kube'
import { type Logger, silentLogger } from '@tenure/runtime'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { ResourceRow } from '../api/rows.ts'
import { hasPgbouncer, postgresFlavors, TestPostgres, until } from '../testing/postgres.ts'
import { openDatabase, StoreFixture } from '../testing/store.ts'
import { ChangeFeed } from './change-feed.ts'
import type { Database, DatabaseAddress } from './database.ts'
import { ResourceStore } from './resource-store.ts'

/** A feed with everything that it delivered. */
class RecordingFeed {
  readonly rows = new Map<string, ResourceRow>()
  readonly warnings: string[] = []
  readonly database: Database
  readonly feed: ChangeFeed
  snapshots = 0
  deliveries = 0

  constructor(address: DatabaseAddress) {
    const log: Logger = { ...silentLogger, warn: (message) => this.warnings.push(message) }
    this.database = openDatabase(address, log)
    this.feed = new ChangeFeed({
      database: this.database,
      store: new ResourceStore(this.database, log),
      clock: systemClock,
      random: systemRandom,
      log,
      onSnapshot: (rows) => {
        this.snapshots++
        this.#add(rows)
      },
      onChange: (rows) => {
        this.deliveries += rows.length
        this.#add(rows)
      },
    })
    onTestFinished(() => this.feed.stop())
    this.feed.start()
  }

  #add(rows: readonly ResourceRow[]): void {
    for (const row of rows) this.rows.set(row.id, row)
  }

  name(id: string): string | undefined {
    return this.rows.get(id)?.name
  }
}

async function listening(fixture: StoreFixture): Promise<RecordingFeed> {
  const recorder = new RecordingFeed(fixture.address)
  await until(() => recorder.feed.isListening && recorder.feed.hasRead)
  return recorder
}

describe.each(postgresFlavors)('the change feed (%s)', (flavor) => {
  let server: TestPostgres
  beforeAll(async () => {
    server = await TestPostgres.start(flavor)
  }, 60_000)
  afterAll(() => server.stop())

  test('rows that exist, inserts and changes are delivered', async () => {
    const fixture = await StoreFixture.create(server)
    const first = await fixture.insert('first')
    const recorder = await listening(fixture)
    expect(recorder.name(first)).toBe('first')
    const second = await fixture.insert('second')
    await until(() => recorder.name(second) === 'second')
    await fixture.sql(`UPDATE resources SET name = 'changed' WHERE id = $1`, [first])
    await until(() => recorder.name(first) === 'changed')
    expect(recorder).toMatchObject({ snapshots: 1, deliveries: 2 })
  })

  test('writes of the operator are not delivered', async () => {
    const fixture = await StoreFixture.create(server)
    const id = await fixture.insert('db')
    const recorder = await listening(fixture)
    await fixture.store.report(await fixture.read(id), { status: 'active' })
    const last = await fixture.insert('last')
    await until(() => recorder.name(last))
    expect(recorder).toMatchObject({ deliveries: 1 })
    expect(recorder.rows.get(id)?.status).toBe('pending')
  })

  test('every change of a burst is delivered, also of transactions that commit late, with few notifications', async () => {
    const fixture = await StoreFixture.create(server)
    const ids: string[] = []
    for (let index = 0; index < 20; index++) ids.push(await fixture.insert(`r${index}`))
    const recorders = [await listening(fixture), await listening(fixture)]
    let notifications = 0
    const counter = await server.connect(fixture.address)
    counter.on('notification', () => notifications++)
    await counter.query('LISTEN tenure_resources')
    const writers = ids.map(async (id, writer) => {
      const client = await server.connect(fixture.address)
      for (let round = 1; round <= 30; round++) {
        await client.query('BEGIN')
        await client.query(`UPDATE resources SET name = 'w${writer}-${round}' WHERE id = ${id}`)
        if (Math.random() < 0.2) await delay(Math.random() * 30)
        // Some transactions outlast the burst.
        if (round === 30 && writer % 5 === 0) await delay(500 + writer * 20)
        await client.query('COMMIT')
        await delay(Math.random() * 10)
      }
      await client.end()
    })
    await Promise.all(writers)
    for (const recorder of recorders) {
      await until(() => ids.every((id, writer) => recorder.name(id) === `w${writer}-30`), 3_000)
      // No safety net helped.
      expect(recorder.snapshots).toBe(1)
    }
    await counter.end()
    expect(notifications).toBeLessThan(300)
  })

  test('after a burst the feed sleeps, and a single change wakes it', async () => {
    const fixture = await StoreFixture.create(server)
    const id = await fixture.insert('db')
    const recorder = await listening(fixture)
    for (let round = 0; round < 20; round++) await fixture.sql(`UPDATE resources SET name = 'n${round}'`)
    await until(() => recorder.name(id) === 'n19')
    const activity = `SELECT xact_start, query_start FROM pg_stat_activity WHERE datname = '${fixture.address.database}' AND application_name = 'nest-controller'`
    // Asleep: no statement within the interval of polling.
    await until(async () => {
      const before = await server.run(activity)
      await delay(1_100)
      return JSON.stringify(before) === JSON.stringify(await server.run(activity))
    })
    await fixture.sql(`UPDATE resources SET name = 'awake'`)
    await until(() => recorder.name(id) === 'awake', 500)
    expect(recorder.snapshots).toBe(1)
  })

  test('a full read on request delivers all rows, also changes that do not notify', async () => {
    const fixture = await StoreFixture.create(server)
    const id = await fixture.insert('db')
    const recorder = await listening(fixture)
    await fixture.sql(`UPDATE teams SET name = 'Renamed'`)
    recorder.feed.requestFullRead()
    await until(() => recorder.rows.get(id)?.teamName === 'Renamed')
    expect(recorder.snapshots).toBe(2)
  })

  test.each(['stop', 'kill'] as const)('changes are delivered after a %s and start of the server', async (manner) => {
    const fixture = await StoreFixture.create(server)
    const id = await fixture.insert('db')
    const recorder = await listening(fixture)
    await server.halt(manner)
    await until(() => !recorder.feed.isListening && !recorder.database.isUp)
    await server.start()
    await server.run(`UPDATE resources SET name = 'while away'`, fixture.address)
    await until(() => recorder.name(id) === 'while away' && recorder.feed.isListening)
    await server.run(`UPDATE resources SET name = 'back'`, fixture.address)
    await until(() => recorder.name(id) === 'back', 1_000)
    expect(recorder.database.reconnects).toBeGreaterThan(0)
  })

  test('killed connections are replaced, and changes meanwhile are delivered', async () => {
    const fixture = await StoreFixture.create(server)
    const id = await fixture.insert('db')
    const recorder = await listening(fixture)
    for (let round = 0; round < 3; round++) {
      await server.terminateConnections(fixture.address)
      await server.run(`UPDATE resources SET name = 'round ${round}'`, fixture.address)
      await until(() => recorder.name(id) === `round ${round}`)
    }
    await until(() => recorder.feed.isListening)
    expect(recorder.database.reconnects).toBeGreaterThanOrEqual(1)
  })

  test('a restored older copy is migrated and read again', async () => {
    const fixture = await StoreFixture.create(server)
    const id = await fixture.insert('db')
    const recorder = await listening(fixture)
    await server.run(
      `DROP TABLE tenure_migrations; DROP TRIGGER zz_tenure_inserted ON resources; DROP TRIGGER zz_tenure_updated ON resources;
       ALTER TABLE resources DROP COLUMN change_xid; UPDATE resources SET name = 'older'`,
      fixture.address,
    )
    await server.terminateConnections(fixture.address)
    await until(() => recorder.name(id) === 'older' && recorder.feed.isListening)
    await server.run(`UPDATE resources SET name = 'newer'`, fixture.address)
    await until(() => recorder.name(id) === 'newer')
    expect(recorder.rows.get(id)?.generation).toBe('2')
  })

  test.runIf(hasPgbouncer)('behind a pooler in transaction mode it polls and says so once', async () => {
    const fixture = await StoreFixture.create(server)
    const id = await fixture.insert('db')
    const recorder = new RecordingFeed(await server.pgbouncer(fixture.address))
    await until(() => recorder.warnings.length > 0)
    expect(recorder.feed.isListening).toBe(false)
    for (const name of ['one', 'two']) {
      await fixture.sql('UPDATE resources SET name = $1', [name])
      await until(() => recorder.name(id) === name, 3_000)
    }
    expect(recorder.warnings).toEqual(['notifications of the database do not arrive, polling instead'])
    expect(recorder.snapshots).toBe(1)
    const store = new ResourceStore(recorder.database, silentLogger)
    await store.prepare()
    const report = await store.report(await fixture.read(id), { status: 'active' })
    expect(report).toMatchObject({ row: { status: 'active' } })
  })
})
