import path from 'node:path'
import type { DatabasesSettings } from '@tenure/databases'
import { Child, ROOT } from '../../cluster/programs-under-test/child.ts'
import { freePorts } from '../../cluster/free-ports.ts'
import type { Floor, Running } from '../../floors/index.ts'
import { askProbe, type ProbeAnswer } from './probes.ts'

const LAUNCHER = path.join(ROOT, 'scripts/launch.mjs')
const END_WITH_PARENT = path.join(ROOT, 'test/cluster/programs-under-test/end-with-parent.ts')

/** `tenure databases` as a process, with its settings in the environment. */
export class OperatorProcess implements Running {
  readonly child: Child
  readonly #healthPort: number

  private constructor(child: Child, healthPort: number) {
    this.child = child
    this.#healthPort = healthPort
  }

  /** `env` is added to the variables that the settings give. */
  static async start(
    { kubeconfig = '' }: Pick<Floor, 'kubeconfig'>,
    settings: DatabasesSettings,
    env: Readonly<Record<string, string>> = {},
  ): Promise<OperatorProcess> {
    const [healthPort = 0] = await freePorts(1)
    const child = new Child(process.execPath, {
      args: ['--import', END_WITH_PARENT, LAUNCHER, 'packages/tenure/src/main.ts', 'databases'],
      env: {
        KUBECONFIG: kubeconfig,
        IN_CLUSTER: 'false',
        DB_HOST: settings.dbHost,
        DB_PORT: String(settings.dbPort),
        DB_USER: settings.dbUser,
        DB_PASSWORD: settings.dbPassword ?? '',
        DB_NAME: settings.dbName,
        DB_SSL_MODE: settings.dbSslMode,
        NAMESPACE_PREFIX: settings.namespacePrefix,
        LEADER_ELECTION_NAMESPACE: settings.leaderElectionNamespace ?? 'default',
        BACKOFF_BASE: `${settings.backoffBase}ms`,
        BACKOFF_MAX: `${settings.backoffMax}ms`,
        HEALTH_CHECK_PORT: String(healthPort),
        ENABLE_METRICS: 'false',
        DASHBOARD_ADDR: '0',
        LOG_FORMAT: 'text',
        ...env,
      },
    })
    return new OperatorProcess(child, healthPort)
  }

  ask(probe: '/healthz' | '/readyz'): Promise<ProbeAnswer | undefined> {
    return askProbe(this.#healthPort, probe)
  }

  /** Stops with SIGTERM, as a cluster does; throws unless the process exits with 0. */
  async stop(): Promise<void> {
    this.child.signal('SIGTERM')
    const { code } = await this.child.ended
    if (code !== 0) throw new Error(`The operator exited with ${code}: ${this.child.output}`)
  }
}
