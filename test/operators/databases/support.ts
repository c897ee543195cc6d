import { setTimeout as delay } from 'node:timers/promises'
import { databases, type DatabasesSettings } from '@tenure/databases'
import { postgresFlavors, TestPostgres } from '@tenure/databases/testing'
import { ownServers } from '@tenure/http'
import { isNotFound, type Kind, type Stored } from '@tenure/kube'
import { Namespace, PersistentVolumeClaim, Pod, StatefulSet } from '@tenure/kube/kinds'
import { configure, createMetrics, type Metrics, type StepHook } from '@tenure/runtime'
import { defaultValues } from '@tenure/runtime/configuration'
import { afterAll, beforeAll, describe } from 'vitest'
import { type Floor, onEveryFloor, type Running } from '../../floors/index.ts'
import { createStorageClass, removeVolumes, startProvisioner, TEST_CLASS } from './volumes.ts'

/** Real milliseconds that a test waits for a state. */
const MAX_WAIT_MS = 120_000
/** The database answers in real time, so virtual time must not run ahead of it by far. */
const LOOK_INTERVAL_MS = 10

export interface RowText {
  readonly [column: string]: unknown
}

export interface RunDatabasesOptions {
  readonly settings?: Partial<DatabasesSettings>
  /** Statements that make the tables of a platform. Default: the operator makes them. */
  readonly schema?: string
  readonly onStep?: StepHook
  /** Whether the operator takes part in an election. Default false. */
  readonly isElected?: boolean
  /** Gives the address at which the operator reaches the database. Default: the server's own. */
  readonly through?: (address: RunningDatabases['address']) => Promise<RunningDatabases['address']>
  /** Runs the operator with these settings. Default: in this process, on the floor. */
  readonly runOperator?: (settings: DatabasesSettings) => Promise<Running>
}

export interface DatabasesTests {
  readonly floor: () => Floor
  /** The operator that all tests of the block share. */
  readonly operator: () => RunningDatabases
}

export interface DatabasesTestsOptions {
  readonly start?: RunDatabasesOptions
  /** Called once the operator runs. */
  readonly prepare?: (operator: RunningDatabases) => Promise<unknown>
}

/** Runs the tests on every available floor, each with a PostgreSQL server and an operator. */
export function onEveryFloorWithDatabases(
  name: string,
  tests: (context: DatabasesTests) => void,
  { prepare, start }: DatabasesTestsOptions = {},
): void {
  const [flavor] = postgresFlavors
  describe.skipIf(flavor === undefined)('databases', () => {
    onEveryFloor(name, (floor) => {
      let postgres: TestPostgres | undefined
      let operator: RunningDatabases | undefined

      beforeAll(async () => {
        postgres = await TestPostgres.start(flavor ?? 'system')
        operator = await RunningDatabases.start(floor(), postgres, start)
        await prepare?.(operator)
      }, 120_000)
      afterAll(async () => {
        await operator?.stop()
        await postgres?.stop()
      }, 120_000)

      tests({
        floor,
        operator: () => {
          if (!operator) throw new Error('The operator exists only while tests run')
          return operator
        },
      })
    })
  })
}

/** The databases operator with a database of its own, on a floor. Rows are written as the platform would. */
export class RunningDatabases {
  readonly #floor: Floor
  readonly #settings: DatabasesSettings
  readonly postgres: TestPostgres
  readonly address: Awaited<ReturnType<TestPostgres['createDatabase']>>
  /** The namespace of team 1. */
  readonly namespace: string
  metrics: Metrics
  #running: Running | undefined
  #stopProvisioner: (() => Promise<void>) | undefined
  #isElected = false
  #runOperator: RunDatabasesOptions['runOperator']

  private constructor(
    floor: Floor,
    postgres: TestPostgres,
    address: RunningDatabases['address'],
    settings: DatabasesSettings,
    metrics: Metrics,
  ) {
    this.#floor = floor
    this.postgres = postgres
    this.address = address
    this.#settings = settings
    this.metrics = metrics
    this.namespace = `${settings.namespacePrefix}1`
  }

  static async start(
    floor: Floor,
    postgres: TestPostgres,
    options: RunDatabasesOptions = {},
  ): Promise<RunningDatabases> {
    if (floor.name === 'cluster') await createStorageClass(floor)
    const address = await postgres.createDatabase(options.schema ?? '')
    const reached = (await options.through?.(address)) ?? address
    const settings: DatabasesSettings = {
      ...defaultValues(databases.config),
      dbHost: reached.host,
      dbPort: reached.port,
      dbUser: address.user,
      dbPassword: address.password?.reveal(),
      dbName: address.database,
      namespacePrefix: `db-${Math.random().toString(36).slice(2, 8)}-`,
      enableMetrics: false,
      enableHealthCheck: false,
      backoffBase: 50,
      backoffMax: 500,
      ...options.settings,
    }
    const running = new RunningDatabases(floor, postgres, address, settings, await createMetrics())
    running.#isElected = options.isElected ?? false
    running.#runOperator = options.runOperator
    await running.run(options.onStep)
    return running
  }

  /** Starts the operator; again after `stop`. */
  async run(onStep?: StepHook): Promise<void> {
    if (this.#floor.name === 'cluster')
      this.#stopProvisioner ??= startProvisioner(this.#floor, this.#settings.namespacePrefix)
    this.metrics = await createMetrics()
    this.#running = await (this.#runOperator?.(this.#settings) ?? this.#runHere(onStep))
    await this.until('the tables exist', async () =>
      this.sql('SELECT 1 FROM resource_types').then(
        (rows) => rows.length > 0,
        () => false,
      ),
    )
  }

  #runHere(onStep: StepHook | undefined): Promise<Running> {
    return this.#floor.runOperators({
      operators: [configure(databases, this.#settings)],
      servers: [ownServers()],
      ...(!this.#isElected && { leaderElection: false }),
      metrics: this.metrics,
      ...(onStep && { onStep }),
    })
  }

  async stop(): Promise<void> {
    await this.#running?.stop()
    await this.#floor.api.delete(Namespace, { name: this.namespace }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error
    })
    await this.#stopProvisioner?.()
    if (this.#floor.name === 'cluster') await removeVolumes(this.#floor, this.#settings.namespacePrefix)
  }

  /** Another replica of the operator. */
  runReplica(onStep?: StepHook): Promise<Running> {
    const operators = [configure(databases, this.#settings)]
    return this.#floor.runOperators({ operators, ...(onStep && { onStep }) })
  }

  /** Ends the operator only. */
  async stopOperator(): Promise<void> {
    await this.#running?.stop()
  }

  sql(text: string): Promise<readonly RowText[]> {
    return this.postgres.run(text, this.address)
  }

  /** Inserts a row as the platform does; returns its id. */
  async insert(
    name: string,
    type: string,
    config: object = {},
    columns: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    await this.sql(`INSERT INTO teams (id, name) VALUES (1, 'payments') ON CONFLICT DO NOTHING`)
    const placed = this.#floor.name === 'cluster' ? { storage_class: TEST_CLASS, ...config } : config
    const extra = Object.entries(columns)
    const [row] = await this.sql(
      `INSERT INTO resources (name, resource_type_id, team_id, config${extra.map(([column]) => `, ${column}`).join('')})
       VALUES (${quoted(name)}, (SELECT id FROM resource_types WHERE name = ${quoted(type)}), 1, ${quoted(JSON.stringify(placed))}${extra
         .map(([, value]) => `, ${value}`)
         .join('')})
       RETURNING id::text AS id`,
    )
    return String(row?.['id'])
  }

  async row(id: string): Promise<RowText> {
    const [row] = await this.sql(`SELECT * FROM resources WHERE id = ${id}`)
    if (!row) throw new Error(`The row ${id} does not exist`)
    return row
  }

  jobs(id: string): Promise<readonly RowText[]> {
    return this.sql(
      `SELECT job_type, status, error_message, logs, details FROM provisioning_jobs WHERE resource_id = ${id} ORDER BY id`,
    )
  }

  audit(id: string): Promise<readonly RowText[]> {
    return this.sql(
      `SELECT action, resource_type, team_id, details FROM audit_logs WHERE resource_id = ${id} ORDER BY id`,
    )
  }

  /** The jobs of a row, as `type status`. */
  async jobList(id: string): Promise<readonly string[]> {
    return (await this.jobs(id)).map((job) => `${String(job['job_type'])} ${String(job['status'])}`)
  }

  async actions(id: string): Promise<readonly unknown[]> {
    return (await this.audit(id)).map(({ action }) => action)
  }

  /** Changes columns as the platform does: SQL expressions by column. */
  async update(id: string, columns: Readonly<Record<string, string>>): Promise<void> {
    const assignments = Object.entries(columns).map(([column, value]) => `${column} = ${value}`)
    await this.sql(`UPDATE resources SET ${assignments.join(', ')} WHERE id = ${id}`)
  }

  /** Replaces the config of a row. */
  configure(id: string, config: object): Promise<void> {
    return this.update(id, { config: quoted(JSON.stringify(config)) })
  }

  /** Waits until the row is an error with a reason that contains the text. */
  untilError(id: string, reason: string): Promise<RowText> {
    return this.until(`row ${id} is an error: ${reason}`, async () => {
      const row = await this.row(id)
      const { error } = (row['connection_info'] ?? {}) as { readonly error?: unknown }
      return row['status'] === 'error' && typeof error === 'string' && error.includes(reason) ? row : undefined
    })
  }

  untilStatus(id: string, status: string): Promise<RowText> {
    return this.until(`row ${id} is ${status}`, async () => {
      const row = await this.row(id)
      return row['status'] === status && row['observed_generation'] === row['generation'] ? row : undefined
    })
  }

  statefulSet(name: string) {
    return this.#floor.api.get(StatefulSet, { name, namespace: this.namespace })
  }

  /** The pods of a database, in the order of their names. */
  async pods(name: string): Promise<readonly Stored<Pod>[]> {
    const { items } = await this.#floor.api.list(Pod, { namespace: this.namespace, labelSelector: `app=${name}` })
    return items.toSorted((a, b) => a.metadata.name.localeCompare(b.metadata.name))
  }

  /** The volume claims of a database, in the order of their names. */
  async claims(name: string): Promise<readonly Stored<PersistentVolumeClaim>[]> {
    const { namespace } = this
    const { items } = await this.#floor.api.list(PersistentVolumeClaim, { namespace, labelSelector: `app=${name}` })
    return items.toSorted((a, b) => a.metadata.name.localeCompare(b.metadata.name))
  }

  /** Whether an object of that name exists. */
  async exists(kind: Kind, name: string): Promise<boolean> {
    const { items } = await this.#floor.api.list(kind, { namespace: this.namespace })
    return items.some(({ metadata }) => metadata.name === name)
  }

  /** A StatefulSet as another program makes it, with or without a volume for its data. */
  async createStatefulSet(name: string, { hasVolume = true, image = 'redis:7.0-alpine' } = {}): Promise<void> {
    const { api } = this.#floor
    const { namespace } = this
    const labels = { app: name }
    const data = { name: 'data', mountPath: '/data' }
    await api.create(StatefulSet, {
      metadata: { name, namespace, labels },
      spec: {
        serviceName: `${name}-legacy`,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            containers: [
              { name: 'redis', image, ports: [{ containerPort: 6379 }], ...(hasVolume && { volumeMounts: [data] }) },
            ],
          },
        },
        ...(hasVolume && {
          volumeClaimTemplates: [
            {
              metadata: { name: 'data' },
              spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
            },
          ],
        }),
      },
    })
    await this.until('its pod is ready', async () => (await this.statefulSet(name)).status?.readyReplicas === 1)
  }

  /** Waits until all rows were read that many times more, and everything that followed is done. */
  async untilPasses(passes: number): Promise<void> {
    const { clock } = this.#floor
    const end = clock.monotonic() + (passes + 0.5) * this.#settings.reconcileInterval
    await this.until('the passes are over', () => clock.monotonic() > end)
  }

  /** Waits in real time, in which the database answers; virtual time goes on meanwhile. */
  async until<R>(what: string, look: () => R | Promise<R>): Promise<Exclude<R, undefined | null | false>> {
    const end = Date.now() + MAX_WAIT_MS
    for (;;) {
      const seen = await look()
      if (seen !== undefined && seen !== null && seen !== false) return seen as Exclude<R, undefined | null | false>
      if (Date.now() > end) throw new Error(`${this.#floor.name}: Not reached within ${MAX_WAIT_MS / 1_000} s: ${what}`)
      await delay(LOOK_INTERVAL_MS)
      if (this.#floor.name === 'in process') await this.#floor.pass(2 * LOOK_INTERVAL_MS)
    }
  }
}

export function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
