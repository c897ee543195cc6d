import { probeRoutes } from '@tenure/http'
import { type ComponentDefinition, defineOperator, type OperatorContext } from '@tenure/runtime'
import { LEADER_LEASE, OPERATOR } from './api/names.ts'
import { databasesConfig } from './config.ts'
import { databaseController } from './controllers/database/controller.ts'
import { LeaderRows } from './controllers/database/leader-rows.ts'
import { DatabaseView } from './controllers/database/view.ts'
import { databaseRoutes } from './http/routes.ts'
import { databasesView } from './http/views/databases-view.ts'
import { DatabaseMetrics } from './metrics.ts'
import { connectDatabase } from './postgres/connection.ts'
import type { Database } from './postgres/database.ts'
import { serverAddress } from './postgres/server-address.ts'
import { databasesRbac } from './rbac.ts'

/** Keeps databases in Kubernetes as rows of PostgreSQL describe them, and writes the outcome back. */
export const databases = defineOperator({
  name: 'databases',
  summary: 'Run the databases operator: rows of PostgreSQL become databases that run in Kubernetes.',
  identity: { name: OPERATOR, leaderLease: LEADER_LEASE },
  config: databasesConfig,
  embedded: { dbHost: 'embedded', watchAllNamespaces: true, enableMetrics: false, enableHealthCheck: false },
  rbac: databasesRbac,
  setup(context) {
    const { settings } = context
    const database = connectDatabase({ ...context, address: serverAddress(settings) })
    const metrics = new DatabaseMetrics(context.metrics)
    const view = new DatabaseView(context.informers)
    const rows = new LeaderRows()
    const { namespacePrefix } = settings
    return {
      components: [
        connection(context, database),
        metrics.collector({
          database,
          rows: () => rows.values(),
          retrying: () => rows.leader?.retrying ?? 0,
          isListening: () => rows.leader?.isListening ?? false,
        }),
        databaseController(view, {
          database,
          metrics,
          settings,
          onLeading: (leader) => rows.lead(leader),
          onRowChange: (id) => rows.changed(id),
        }),
      ],
      queues: () => [{ name: 'database', informers: view.informers }],
      routes: databaseRoutes({ database, namespacePrefix }),
      views: [databasesView(rows, namespacePrefix)],
      servers: settings.enableHealthCheck
        ? [
            {
              name: 'databases health',
              setting: 'HEALTH_CHECK_PORT',
              address: `:${settings.healthCheckPort}`,
              authentication: 'none',
              info: { title: 'Tenure databases', version: '0.1.0' },
              // The words of the original.
              routes: probeRoutes(context, {
                readiness: 'the database, the API server and all watches are usable',
                readyText: 'ready',
              }),
            },
          ]
        : [],
    }
  },
})

/** Closes the connections with the process, and reports a server that does not answer. */
function connection({ probes }: Pick<OperatorContext, 'probes'>, database: Database): ComponentDefinition {
  let removeCheck: (() => void) | undefined
  return {
    stage: 'serve',
    create: () => ({
      name: 'database connection',
      start: () => {
        removeCheck = probes.add('ready', 'database', async () => {
          if (database.failure) throw database.failure
          // Replicas that do not lead connect only here.
          await database.query('SELECT 1')
        })
        return Promise.resolve()
      },
      stop: async () => {
        removeCheck?.()
        await database.close()
      },
    }),
  }
}
