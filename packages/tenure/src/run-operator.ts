import type { DashboardSettings, HttpSettings } from '@tenure/http'
import { httpServerSettings } from '@tenure/http/config'
import {
  type Component,
  type ConfiguredOperator,
  configure,
  createLogger,
  createMetrics,
  type Operator,
  type OperatorServer,
  type RunOperatorsOptions,
  runOperators,
} from '@tenure/runtime'
import {
  type Configuration,
  defineConfiguration,
  type StandardSettings,
  type Table,
  type Values,
} from '@tenure/runtime/configuration'

/** The settings of `tenure <name>`. */
export function operatorConfiguration(operator: Operator): Configuration<Table> {
  return defineConfiguration({
    program: `tenure ${operator.name}`,
    summary: operator.summary,
    options: operator.config,
    configEnvironment: configVariables([operator]),
  })
}

/** The environment variables that name the settings file of a process with these operators. */
export function configVariables(operators: readonly Operator[]): readonly string[] {
  return [...new Set(['CONFIG_FILE', ...operators.flatMap(({ configEnvironment }) => configEnvironment ?? [])])]
}

/** Runs an operator against the cluster of the kubeconfig, or the one it runs in, until `signal` aborts. */
export async function runOperator(operator: Operator, settings: Values<Table>, signal: AbortSignal): Promise<void> {
  const process = { configuration: operatorConfiguration(operator), settings }
  await runOnCluster([configure(operator, settings)], process, signal)
}

/** The settings of a process with operators, and their table. */
export interface ProcessSettings {
  readonly configuration: Configuration<Table>
  readonly settings: Values<Table>
}

/** Runs operators against the cluster of the kubeconfig, or the one it runs in, until `signal` aborts. */
export async function runOnCluster(
  operators: readonly ConfiguredOperator[],
  { configuration, settings }: ProcessSettings,
  signal: AbortSignal,
): Promise<void> {
  const { logLevel = 'info', logFormat, ...standard }: StandardSettings = settings
  await runOperators(
    {
      operators,
      servers: [...(await sharedServers(settings)), lazyOwnServers],
      inCluster: standard.inCluster,
      probes: standard.healthProbeBindAddress,
      metricsAddress: standard.metricsBindAddress ?? metricsPort(standard),
      addressSettings: addressSettings(configuration),
      log: await createLogger({ level: logLevel, format: logFormat }),
      metrics: await createMetrics(),
    },
    signal,
  )
}

/** The variables with the addresses of probes and metrics, for messages. */
function addressSettings({ rows }: Configuration<Table>): NonNullable<RunOperatorsOptions['addressSettings']> {
  const nameOf = (key: string): string | undefined => rows.find((row) => row.key === key)?.environment
  return { probes: nameOf('healthProbeBindAddress'), metrics: nameOf('metricsBindAddress') ?? nameOf('metricsPort') }
}

/** The server with the routes, views and dashboard of the operator, if its settings have one. */
async function sharedServers(settings: Values<Table>): Promise<readonly OperatorServer[]> {
  const options = isHttp(settings)
    ? { ...httpServerSettings(settings), address: `${settings.host}:${settings.port}` }
    : hasDashboard(settings) && {
        // AUTH of claims is for their API alone: the dashboard has actions of all kinds.
        ...httpServerSettings({ ...settings, auth: 'auto' }),
        name: 'dashboard',
        setting: 'DASHBOARD_ADDR',
        address: settings.dashboardAddr,
        // Operators on one machine each have one.
        whenTaken: 'next' as const,
      }
  if (!options || options.address === '0') return []
  const [{ dashboard, page }, { httpServer }] = await Promise.all([import('@tenure/dashboard'), import('@tenure/http')])
  return [httpServer({ ...options, page, extend: dashboard })]
}

/** The servers of the operator alone. HTTP is loaded only if it has one: a process without is 25 MB smaller. */
const lazyOwnServers: OperatorServer = {
  create(operators, context) {
    let servers: Component | undefined
    return {
      name: 'servers of operators',
      start: async (signal) => {
        if (!operators.some(({ parts }) => (parts.servers ?? []).length > 0)) return
        const { ownServers } = await import('@tenure/http')
        servers = ownServers().create(operators, context)
        await servers.start(signal)
      },
      stop: async (grace) => {
        await servers?.stop(grace)
      },
    }
  },
}

function hasDashboard(settings: object): settings is DashboardSettings {
  return 'dashboardAddr' in settings
}

function metricsPort({ enableMetrics = false, metricsPort: port }: StandardSettings): string | undefined {
  return enableMetrics && port !== undefined ? `:${port}` : undefined
}

/** The operator's table includes the settings of an HTTP server. */
function isHttp(settings: object): settings is HttpSettings {
  return 'port' in settings && 'host' in settings
}
