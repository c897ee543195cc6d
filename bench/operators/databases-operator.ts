import { TestPostgres } from '@tenure/databases/testing'
import { freePorts } from '../../test/cluster/free-ports.ts'
import { OPERATOR_OPTIONS } from '../measurements.ts'
import { OperatorProcess } from './operator-process.ts'

export type Platform = Awaited<ReturnType<TestPostgres['connect']>>

export const DATABASES_AT_ONCE = 16

/** The databases operator as a process, with a PostgreSQL server of its own. */
export class DatabasesOperator {
  readonly postgres: TestPostgres
  readonly address: Awaited<ReturnType<TestPostgres['createDatabase']>>
  /** A connection of the platform. */
  readonly platform: Platform
  readonly #process: OperatorProcess

  private constructor(
    postgres: TestPostgres,
    address: DatabasesOperator['address'],
    platform: Platform,
    process: OperatorProcess,
  ) {
    this.postgres = postgres
    this.address = address
    this.platform = platform
    this.#process = process
  }

  static async start(kubeconfig: string): Promise<DatabasesOperator> {
    const postgres = await TestPostgres.start('system')
    const address = await postgres.createDatabase()
    const [metricsPort, healthPort] = await freePorts(2)
    const process = new OperatorProcess(
      ['databases'],
      {
        KUBECONFIG: kubeconfig,
        IN_CLUSTER: 'false',
        DB_HOST: address.host,
        DB_PORT: String(address.port),
        DB_USER: address.user,
        DB_PASSWORD: address.password?.reveal() ?? '',
        DB_NAME: address.database,
        WATCH_ALL_NAMESPACES: 'true',
        WORKER_COUNT: String(DATABASES_AT_ONCE),
        METRICS_PORT: String(metricsPort),
        HEALTH_CHECK_PORT: String(healthPort),
        ENABLE_LEADER_ELECTION: 'false',
      },
      OPERATOR_OPTIONS,
    )
    await process.ready(`http://127.0.0.1:${healthPort}/readyz`)
    const platform = await postgres.connect(address)
    await platform.query(`INSERT INTO teams (id, name) VALUES (1, 'bench')`)
    return new DatabasesOperator(postgres, address, platform, process)
  }

  get pid(): number {
    return this.#process.pid
  }

  /** Inserts rows of Redis databases without pods in one statement. */
  async insert(count: number, prefix: string, namespace: string, columns = ''): Promise<void> {
    await this.platform.query(
      `INSERT INTO resources (name, resource_type_id, team_id, k8s_namespace, config${columns && ', lifecycle_mode'})
       SELECT $1 || '-' || n, (SELECT id FROM resource_types WHERE name = 'redis'), 1, $2, '{"replicas": 0}'${columns}
       FROM generate_series(1, $3::integer) AS n`,
      [prefix, namespace, count],
    )
  }

  /** Waits until at least `count` rows of the namespace have a status. */
  async untilStatus(status: string, count: number, namespace: string): Promise<void> {
    for (;;) {
      const { rows } = await this.platform.query<{ count: string }>(
        'SELECT count(*) FROM resources WHERE status = $1 AND k8s_namespace = $2',
        [status, namespace],
      )
      if (Number(rows[0]?.count) >= count) return
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  async stop(): Promise<void> {
    await this.#process.stop()
    await this.platform.end()
    await this.postgres.stop()
  }
}
