import { systemClock, systemRandom } from '@tenure/kube'
import { type Logger, silentLogger } from '@tenure/runtime'
import type pg from 'pg'
import { onTestFinished } from 'vitest'
import type { ResourceRow } from '../api/rows.ts'
import { connectDatabase } from '../postgres/connection.ts'
import type { Database, DatabaseAddress } from '../postgres/database.ts'
import { ResourceStore } from '../postgres/resource-store.ts'
import type { TestPostgres } from './postgres.ts'
import { PLATFORM_SCHEMAS, type PlatformSchema } from './schemas.ts'

export function openDatabase(address: DatabaseAddress, log: Logger = silentLogger): Database {
  const database = connectDatabase({ address, clock: systemClock, random: systemRandom, log })
  onTestFinished(() => database.close())
  return database
}

/** A migrated database with a team, seen by the operator (`store`) and by the platform (`platform`). */
export class StoreFixture {
  readonly server: TestPostgres
  readonly address: DatabaseAddress
  readonly database: Database
  readonly store: ResourceStore
  readonly platform: pg.Client

  private constructor(server: TestPostgres, address: DatabaseAddress, database: Database, platform: pg.Client) {
    this.server = server
    this.address = address
    this.database = database
    this.platform = platform
    this.store = new ResourceStore(database, silentLogger)
  }

  static async create(server: TestPostgres, schema: PlatformSchema = 'empty'): Promise<StoreFixture> {
    const address = await server.createDatabase(PLATFORM_SCHEMAS[schema])
    const platform = await server.connect(address)
    onTestFinished(() => platform.end())
    const fixture = new StoreFixture(server, address, openDatabase(address), platform)
    await fixture.store.prepare()
    await fixture.sql(`INSERT INTO teams (name) VALUES ('Team One')`)
    return fixture
  }

  /** Another controller on the same database. */
  async secondStore(): Promise<ResourceStore> {
    const store = new ResourceStore(openDatabase(this.address), silentLogger)
    await store.prepare()
    return store
  }

  /** Runs a statement as the platform. */
  async sql(text: string, values: readonly unknown[] = []): Promise<readonly Record<string, unknown>[]> {
    return (await this.platform.query<Record<string, unknown>>(text, [...values])).rows
  }

  /** Inserts a row as the platform, and returns its id. */
  async insert(name: string, columns: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const row = { name, resource_type_id: 1, team_id: 1, ...columns }
    const names = Object.keys(row)
    const values = names.map((_, index) => `$${index + 1}`)
    const rows = await this.sql(
      `INSERT INTO resources (${names.join(', ')}) VALUES (${values.join(', ')}) RETURNING id::text AS id`,
      Object.values(row),
    )
    return String(rows[0]?.['id'])
  }

  async read(id: string): Promise<ResourceRow> {
    const row = await this.store.readOne(id)
    if (row === undefined) throw new Error(`There is no row ${id}`)
    return row
  }

  jobs(): Promise<readonly Record<string, unknown>[]> {
    return this.sql('SELECT * FROM provisioning_jobs ORDER BY id')
  }

  audits(): Promise<readonly Record<string, unknown>[]> {
    return this.sql('SELECT * FROM audit_logs ORDER BY id')
  }
}
