import { TestPostgres } from '@tenure/databases/testing'
import { freePorts } from '../../test/cluster/free-ports.ts'
import { bundleOperators } from '../bundle.ts'
import { imageOptions } from '../image/options.ts'
import { OperatorProcess, pause } from './operator-process.ts'

export type Platform = Awaited<ReturnType<TestPostgres['connect']>>

/** Tells when a row gets a number of ready replicas. */
export interface ReadyReplicas {
  /** Resolves with the time of the next change to that number. */
  next(ready: number): Promise<number>
  end(): Promise<void>
}

export const DATABASES_AT_ONCE = 16

/** The databases operator as a bundled process, with a PostgreSQL server of its own. */
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
      imageOptions(),
      await bundleOperators(),
    )
    await process.ready(`http://127.0.0.1:${healthPort}/readyz`)
    const platform = await postgres.connect(address)
    // The leader creates the tables, which readiness does not wait for.
    await untilTable(platform, 'teams')
    await platform.query(`INSERT INTO teams (id, name) VALUES (1, 'bench')`)
    return new DatabasesOperator(postgres, address, platform, process)
  }

  get pid(): number {
    return this.#process.pid
  }

  /** Inserts rows of Redis databases in one statement. Default: without pods, and managed. */
  async insert(
    count: number,
    prefix: string,
    namespace: string,
    config: object = { replicas: 0 },
    lifecycleMode = 'full',
  ): Promise<void> {
    await this.platform.query(
      `INSERT INTO resources (name, resource_type_id, team_id, k8s_namespace, config, lifecycle_mode)
       SELECT $1 || '-' || n, (SELECT id FROM resource_types WHERE name = 'redis'), 1, $2, $4::jsonb, $5
       FROM generate_series(1, $3::integer) AS n`,
      [prefix, namespace, count, JSON.stringify(config), lifecycleMode],
    )
  }

  /** Tells when the row of a database gets a number of ready replicas, by a trigger of the benchmark's own. */
  async watchReadyReplicas(name: string): Promise<ReadyReplicas> {
    const reader = await this.postgres.connect(this.address)
    const waiting = new Map<number, (time: number) => void>()
    reader.on('notification', ({ payload }) => waiting.get(Number(payload))?.(performance.now()))
    await reader.query('LISTEN bench_ready')
    await reader.query(`
      CREATE FUNCTION bench_ready() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        PERFORM pg_notify('bench_ready', NEW.connection_info->>'ready_replicas');
        RETURN NULL;
      END $$;
      CREATE TRIGGER bench_ready AFTER UPDATE ON resources FOR EACH ROW
      WHEN (NEW.name = '${name}' AND
        OLD.connection_info->>'ready_replicas' IS DISTINCT FROM NEW.connection_info->>'ready_replicas')
      EXECUTE FUNCTION bench_ready()`)
    return {
      next: (ready) => new Promise((resolve) => waiting.set(ready, resolve)),
      end: async () => {
        await reader.query('DROP TRIGGER bench_ready ON resources')
        await reader.end()
      },
    }
  }

  /** Waits until at least `count` rows of the namespace have a status. */
  async untilStatus(status: string, count: number, namespace: string): Promise<void> {
    for (;;) {
      const { rows } = await this.platform.query<{ count: string }>(
        'SELECT count(*) FROM resources WHERE status = $1 AND k8s_namespace = $2',
        [status, namespace],
      )
      if (Number(rows[0]?.count) >= count) return
      await pause(50)
    }
  }

  async stop(): Promise<void> {
    await this.#process.stop()
    await this.platform.end()
    await this.postgres.stop()
  }
}

async function untilTable(platform: Platform, name: string): Promise<void> {
  for (;;) {
    const { rows } = await platform.query<{ readonly found: boolean }>('SELECT to_regclass($1) IS NOT NULL AS found', [
      name,
    ])
    if (rows[0]?.found) return
    await pause(50)
  }
}
