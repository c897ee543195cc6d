import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { databases, type DatabasesSettings } from '@tenure/databases'
import { postgresFlavors, TestPostgres } from '@tenure/databases/testing'
import { systemClock, systemRandom } from '@tenure/kube'
import { silentLogger } from '@tenure/runtime'
import { createAuthority } from '@tenure/runtime/certificates'
import { defaultValues } from '@tenure/runtime/configuration'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { connectDatabase } from '../../../packages/databases/src/postgres/connection.ts'
import type { Database, DatabaseAddress } from '../../../packages/databases/src/postgres/database.ts'
import { HttpsFloor } from '../../floors/index.ts'
import { OperatorProcess } from './operator-process.ts'

const POLL_OPTIONS = { timeout: 60_000, interval: 50 }

const authority = createAuthority({ commonName: 'tenure test authority' })
const stranger = createAuthority({ commonName: 'another authority' })
/** A certificate for the name of the host, not for its address. */
const tls = authority.issue({ commonName: 'postgres', usage: 'server', dnsNames: ['localhost'] })

describe.each(postgresFlavors)('TLS to PostgreSQL (%s)', { timeout: 120_000 }, (flavor) => {
  let postgres: TestPostgres
  let address: DatabaseAddress

  beforeAll(async () => {
    postgres = await TestPostgres.start(flavor, { tls })
    address = await postgres.createDatabase()
  }, 120_000)
  afterAll(() => postgres.stop())

  function open(options: Partial<DatabaseAddress>): Database {
    const database = connectDatabase({
      address: { ...address, ...options },
      clock: systemClock,
      random: systemRandom,
      log: silentLogger,
    })
    onTestFinished(() => database.close())
    return database
  }

  const ENCRYPTED = 'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()'
  const known = { ca: authority.certificate }
  const unknown = { ca: stranger.certificate }

  test.each([
    ['disable', {}, false],
    ['require', {}, true],
    ['require', unknown, true],
    ['verify-ca', known, true],
    ['verify-full', { ...known, host: 'localhost' }, true],
  ] as const)('%s with %o connects', async (sslMode, options, ssl) => {
    expect((await open({ sslMode, ...options }).query(ENCRYPTED)).rows).toEqual([{ ssl }])
  })

  test.each([
    ['verify-ca', {}],
    ['verify-ca', unknown],
    ['verify-full', { host: 'localhost' }],
    ['verify-full', { ...unknown, host: 'localhost' }],
    // The certificate does not name the address.
    ['verify-full', known],
  ] as const)('%s with %o refuses the server', async (sslMode, options) => {
    await expect(open({ sslMode, ...options }).query(ENCRYPTED)).rejects.toMatchObject({
      code: 'TENURE_DB_UNREACHABLE',
      message: expect.stringMatching(/certificate/),
    })
  })
})

const [flavor] = postgresFlavors

describe.skipIf(flavor === undefined)('tenure databases with DB_SSL_MODE=verify-full', { timeout: 120_000 }, () => {
  let postgres: TestPostgres
  let floor: HttpsFloor
  let directory: string
  let settings: DatabasesSettings

  beforeAll(async () => {
    postgres = await TestPostgres.start(flavor ?? 'system', { tls })
    floor = await HttpsFloor.embedded()
    directory = await mkdtemp(path.join(tmpdir(), 'tenure-authority-'))
    await writeFile(path.join(directory, 'ca.crt'), authority.certificate)
    const { database, password, port, user } = await postgres.createDatabase()
    settings = {
      ...defaultValues(databases.config),
      dbHost: 'localhost',
      dbPort: port,
      dbUser: user,
      dbPassword: password?.reveal(),
      dbName: database,
      dbSslMode: 'verify-full',
    }
  }, 120_000)
  afterAll(async () => {
    await floor.leave()
    await postgres.stop()
    await rm(directory, { recursive: true })
  }, 120_000)

  async function start(env: Readonly<Record<string, string>>): Promise<OperatorProcess> {
    const process = await OperatorProcess.start(floor, settings, env)
    onTestFinished(() => process.stop())
    return process
  }

  test('the server is trusted with the authority in NODE_EXTRA_CA_CERTS', async () => {
    const process = await start({ NODE_EXTRA_CA_CERTS: path.join(directory, 'ca.crt') })
    const ready = { status: 200, text: 'ready' }
    await expect.poll(() => process.ask('/readyz'), POLL_OPTIONS).toEqual(ready)
    const encrypted = await postgres.run(
      `SELECT DISTINCT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'nest-controller'`,
    )
    expect(encrypted).toEqual([{ ssl: true }])
  })

  test('the server of an unknown authority is refused, and the readiness probe says why', async () => {
    const process = await start({ NODE_EXTRA_CA_CERTS: '' })
    const refused = { status: 503, text: expect.stringMatching(/^database: .*certificate/) }
    await expect.poll(() => process.ask('/readyz'), POLL_OPTIONS).toMatchObject(refused)
    expect(await process.ask('/healthz')).toMatchObject({ status: 200 })
  })
})
