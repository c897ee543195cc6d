import { inspect } from 'node:util'
import { SecretValue, systemClock, systemRandom } from '@tenure/kube'
import { silentLogger } from '@tenure/runtime'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { postgresFlavors, TestPostgres, until } from '../testing/postgres.ts'
import { connectDatabase, tlsOptions } from './connection.ts'
import type { Database, DatabaseAddress } from './database.ts'

function open(address: DatabaseAddress, more: { statementTimeout?: number; maxConnections?: number } = {}): Database {
  const database = connectDatabase({ address, clock: systemClock, random: systemRandom, log: silentLogger, ...more })
  onTestFinished(() => database.close())
  return database
}

describe.each(postgresFlavors)('a connection to PostgreSQL (%s)', (flavor) => {
  let server: TestPostgres
  beforeAll(async () => {
    server = await TestPostgres.start(flavor)
  }, 60_000)
  afterAll(() => server.stop())

  test('values are parameters, and a transaction is rolled back when its function rejects', async () => {
    const database = open(await server.createDatabase('CREATE TABLE t (v text)'))
    expect(database.isUp).toBe(false)
    const hostile = `'; DROP TABLE t; --`
    await database.transaction((transaction) => transaction.query('INSERT INTO t VALUES ($1)', [hostile]))
    expect(database.isUp).toBe(true)
    const failed = database.transaction(async (transaction) => {
      await transaction.query('DELETE FROM t')
      throw new Error('changed my mind')
    })
    await expect(failed).rejects.toThrow('changed my mind')
    expect(await database.query('SELECT v FROM t')).toEqual({ rows: [{ v: hostile }], count: 1 })
  })

  test('writes of the controller are marked within their transaction only', async () => {
    const database = open(await server.createDatabase(), { maxConnections: 1 })
    const writer = `SELECT coalesce(current_setting('tenure.writer', true), '') AS writer`
    const inside = await database.transaction((transaction) => transaction.query(writer), { writer: 'controller' })
    expect(inside.rows).toEqual([{ writer: 'controller' }])
    expect((await database.query(writer)).rows).toEqual([{ writer: '' }])
    expect((await database.transaction((transaction) => transaction.query(writer))).rows).toEqual([{ writer: '' }])
  })

  test.each([
    ['SELECT * FROM missing', 'TENURE_DB_REJECTED', 'terminal'],
    [`SELECT 'x'::int`, 'TENURE_DB_REJECTED', 'terminal'],
    ['SELECT pg_terminate_backend(pg_backend_pid())', 'TENURE_DB_UNREACHABLE', 'retry'],
  ])('%s fails with %s', async (text, code, fate) => {
    const database = open(await server.createDatabase())
    await expect(database.query(text)).rejects.toMatchObject({ code, fate })
    await database.whenUp()
    expect((await database.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
  })

  test('a statement that takes too long is cancelled', async () => {
    const database = open(await server.createDatabase(), { statementTimeout: 50 })
    const slow = database.transaction((transaction) => transaction.query('SELECT pg_sleep(20)'))
    await expect(slow).rejects.toMatchObject({ code: 'TENURE_DB_TIMEOUT', fate: 'retry' })
    expect(database.isUp).toBe(true)
  })

  test('a wrong password is an error that can be retried and does not contain it', async () => {
    const address = await server.createDatabase()
    const database = open({ ...address, password: new SecretValue('hunter2-wrong') })
    const error: unknown = await database.query('SELECT 1').catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'TENURE_DB_AUTHENTICATION', fate: 'retry' })
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain('hunter2-wrong')
    expect(inspect(database, { depth: 9, showHidden: true })).not.toContain('hunter2-wrong')
  })

  test('a missing database is an error that names the setting', async () => {
    const address = await server.createDatabase()
    const database = open({ ...address, database: 'does_not_exist' })
    await expect(database.query('SELECT 1')).rejects.toMatchObject({ code: 'TENURE_DB_MISSING', fate: 'retry' })
  })

  test('an error does not quote rows that violate a constraint', async () => {
    const database = open(await server.createDatabase('CREATE TABLE t (v text CHECK (length(v) < 3))'))
    const error: unknown = await database
      .query('INSERT INTO t VALUES ($1)', ['top-secret-value'])
      .catch((thrown: unknown) => thrown)
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain('top-secret-value')
  })

  test.each(['stop', 'kill'] as const)(
    'the database is down after a %s of the server and up after its start',
    async (manner) => {
      const database = open(await server.createDatabase())
      const states: boolean[] = []
      database.onStateChange(() => states.push(database.isUp))
      await database.query('SELECT 1')
      await server.halt(manner)
      await until(() => !database.isUp)
      await expect(database.query('SELECT 1')).rejects.toMatchObject({ fate: 'retry' })
      await server.start()
      await database.whenUp()
      expect((await database.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
      expect(states).toEqual([true, false, true])
      expect(database.reconnects).toBe(1)
    },
  )

  test('killed connections are replaced', async () => {
    const address = await server.createDatabase()
    const database = open(address)
    await Promise.all([1, 2, 3].map(() => database.query('SELECT pg_sleep(0.01)')))
    await server.terminateConnections(address)
    // The ends of the three connections may be noticed one after the other.
    await until(() => database.reconnects >= 1 && database.isUp)
    const three = () => Promise.all([1, 2, 3].map(() => database.query('SELECT 1')))
    const results = await until(() => three().catch(() => undefined))
    expect(results?.map(({ count }) => count)).toEqual([1, 1, 1])
  })

  test('a session reports that its connection ended', async () => {
    const address = await server.createDatabase()
    const database = open(address)
    const ends: Error[] = []
    const session = await database.openSession({ notification: () => undefined, end: (error) => ends.push(error) })
    await session.query('SELECT 1')
    await server.terminateConnections(address)
    await until(() => ends.length > 0)
    expect(ends).toMatchObject([{ code: 'TENURE_DB_UNREACHABLE' }])
    await database.whenUp()
    const second = await database.openSession({ notification: () => undefined, end: (error) => ends.push(error) })
    await second.close()
    expect(ends).toHaveLength(1)
  })

  test('a server that is down at first is waited for', async () => {
    const address = await server.createDatabase()
    await server.halt()
    const database = open(address)
    const up = database.whenUp()
    await until(() => database.failure)
    await server.start()
    await up
    expect(database.reconnects).toBe(0)
    expect((await database.query('SELECT 1')).count).toBe(1)
  })

  test('closing ends a wait for a server that is down', async () => {
    const address = await server.createDatabase()
    const database = open({ ...address, port: 1 })
    const up = database.whenUp()
    await until(() => database.failure)
    await database.close()
    await expect(up).rejects.toMatchObject({ code: 'TENURE_DB_CLOSED' })
    await expect(database.query('SELECT 1')).rejects.toMatchObject({ code: 'TENURE_DB_CLOSED' })
  })

  test('an encrypted connection is refused if the server offers none', async () => {
    const database = open({ ...(await server.createDatabase()), sslMode: 'require' })
    await expect(database.query('SELECT 1')).rejects.toMatchObject({ code: 'TENURE_DB_UNREACHABLE' })
  })
})

test('the TLS options follow the modes of libpq', () => {
  const address = { host: '10.0.0.1', port: 5432, user: 'nest', password: undefined, database: 'nest' }
  expect(tlsOptions(address)).toBe(false)
  expect(tlsOptions({ ...address, sslMode: 'require', ca: 'pem' })).toEqual({ rejectUnauthorized: false })
  expect(tlsOptions({ ...address, sslMode: 'verify-ca', ca: 'pem' })).toMatchObject({
    rejectUnauthorized: true,
    ca: 'pem',
  })
  const full = tlsOptions({ ...address, sslMode: 'verify-full' })
  expect(full).toMatchObject({ rejectUnauthorized: true })
  const check = full === false ? undefined : full.checkServerIdentity
  const certificate = { subject: { CN: 'localhost' }, subjectaltname: 'DNS:localhost' } as never
  expect(check?.('localhost', certificate)?.message).toContain('10.0.0.1')
})
