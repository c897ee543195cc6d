import { freePorts } from '../cluster/free-ports.ts'

/** How an operator of the image is run, and where it then answers. */
export interface OperatorRun {
  readonly args: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  /** Answers 200 when the operator is ready. */
  readonly readyUrl: string
  /** Ends with a slash. Undefined: the operator has no dashboard. */
  readonly dashboardUrl: string | undefined
}

/** The address of PostgreSQL, for the operator of its rows. */
export interface PostgresAddress {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly database: string
  readonly password: string
}

/** Free addresses on this machine. */
interface Addresses {
  readonly main: string
  readonly probes: string
  readonly metrics: string
  readonly api: string
}

type Environment = Readonly<Record<string, string>>

/** Each operator as on a cluster: elected, and with everything that it serves. */
const SETTINGS = {
  applications: ({ main }) => ({ PORT: portOf(main), WEBHOOK_URL: 'https://127.0.0.1:0', WEBHOOK_PORT: '0' }),
  claims: ({ main, probes, metrics, api }) => ({
    API_ADDR: api,
    METRICS_ADDR: metrics,
    PROBE_ADDR: probes,
    DASHBOARD_ADDR: main,
  }),
  databases: ({ main, probes, metrics }) => ({
    METRICS_PORT: portOf(metrics),
    HEALTH_CHECK_PORT: portOf(probes),
    DASHBOARD_ADDR: main,
  }),
  'lease-controllers': ({ main, probes, metrics }) => ({
    METRICS_BIND_ADDRESS: metrics,
    HEALTH_PROBE_BIND_ADDRESS: probes,
    DASHBOARD_ADDR: main,
  }),
  leases: ({ probes, metrics }) => ({
    LEASE_METRICS_BIND_ADDRESS: metrics,
    LEASE_HEALTH_PROBE_BIND_ADDRESS: probes,
  }),
} as const satisfies Readonly<Record<string, (addresses: Addresses) => Environment>>

export type OperatorName = keyof typeof SETTINGS

export const OPERATOR_NAMES = Object.keys(SETTINGS) as readonly OperatorName[]

/** A LeaseController gives its processes these arguments. */
const LEASE_ARGUMENTS = ['--version=v1', '--kind=ConfigMap', '--leader-elect', '--leader-elect-namespace=default']

export async function operatorRun(name: OperatorName, postgres?: PostgresAddress): Promise<OperatorRun> {
  const [main, probes, metrics, api] = (await freePorts(4)).map((port) => `127.0.0.1:${port}`)
  const addresses = { main: main ?? '', probes: probes ?? '', metrics: metrics ?? '', api: api ?? '' }
  return {
    args: [name, ...(name === 'leases' ? LEASE_ARGUMENTS : [])],
    environment: { ...SETTINGS[name](addresses), ...(postgres && databaseSettings(postgres)) },
    readyUrl: `http://${name === 'applications' ? main : probes}/readyz`,
    dashboardUrl: name === 'leases' ? undefined : `http://${main}/`,
  }
}

function databaseSettings({ host, port, user, database, password }: PostgresAddress): Environment {
  return { DB_HOST: host, DB_PORT: `${port}`, DB_USER: user, DB_NAME: database, DB_PASSWORD: password }
}

function portOf(address: string): string {
  return address.slice(address.indexOf(':') + 1)
}
