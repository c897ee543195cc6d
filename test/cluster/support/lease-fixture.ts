/** A fixture for lease tests: two namespaces, an operator with exactly its documented permissions, and kubectl. */
import { randomBytes } from 'node:crypto'

import { type ConnectionConfig, HttpTransport, loadConfig, type Transport } from '@tenure/kube'
import {
  LEASE_CONTROLLER_GROUP,
  leaseControllerDefinition,
  leaseControllers,
  type LeaseControllersSettings,
  leaseOperatorRules,
  type LeaseOperatorRulesOptions,
} from '@tenure/leases'
import {
  configure,
  type ConfiguredOperator,
  type Operator,
  runOperators,
  type RunOperatorsOptions,
} from '@tenure/runtime'
import { defaultValues } from '@tenure/runtime/configuration'

import { type ClusterAccess, openCluster } from '../access.ts'
import { connect, type Connected } from './connect.ts'
import { until } from './until.ts'

export interface Running {
  /** All requests except reads so far: `PATCH /api/v1/…`. */
  readonly writes: readonly string[]
  stop(): Promise<void>
}

export class LeaseFixture {
  readonly cluster: ClusterAccess
  readonly admin: Connected
  readonly id: string
  /** The operator's namespace. */
  readonly namespace: string
  /** Another namespace. */
  readonly elsewhere: string
  readonly #operator: ConnectionConfig
  readonly #stops: (() => Promise<void>)[] = []

  private constructor(cluster: ClusterAccess, admin: Connected, operator: ConnectionConfig, id: string) {
    this.cluster = cluster
    this.admin = admin
    this.#operator = operator
    this.id = id
    this.namespace = `leases-${id}`
    this.elsewhere = `elsewhere-${id}`
  }

  /** The operator may handle leases of the `shared` kinds itself. */
  static async open(
    kubeconfig: string,
    shared: NonNullable<LeaseOperatorRulesOptions['shared']>,
  ): Promise<LeaseFixture> {
    const cluster = await openCluster(kubeconfig)
    const id = randomBytes(3).toString('hex')
    const operator = await grantOperator(cluster, `lease-operator-${id}`, { shared })
    const fixture = new LeaseFixture(cluster, await connect(kubeconfig), operator, id)
    for (const name of [fixture.namespace, fixture.elsewhere]) await cluster.kubectl(['create', 'namespace', name])
    return fixture
  }

  /** Stops all operators and deletes the LeaseControllers. */
  async clear(): Promise<void> {
    await Promise.all(this.#stops.splice(0).map((stop) => stop()))
    await this.cluster.runKubectl(['delete', 'leasecontrollers', '--all', '--wait=false'])
  }

  async close(): Promise<void> {
    const { kubectl } = this.cluster
    const crd = leaseControllerDefinition.metadata?.name ?? ''
    await kubectl(['delete', 'crd', crd, '--wait=false', '--ignore-not-found'])
    await kubectl(['delete', 'clusterrole,clusterrolebinding', `lease-operator-${this.id}`])
    await kubectl(['delete', 'namespace', this.namespace, this.elsewhere, '--wait=false'])
    await this.admin.close()
  }

  /** Runs an operator in its own manager. */
  run(
    operator: Operator | ConfiguredOperator,
    config: ConnectionConfig,
    leaderElection: RunOperatorsOptions['leaderElection'] = false,
  ): Running {
    const end = new AbortController()
    const http = new HttpTransport(config)
    const writes: string[] = []
    const transport: Transport = {
      request(request) {
        if (request.method !== 'GET') writes.push(`${request.method} ${request.path.split('?', 1)[0]}`)
        return http.request(request)
      },
      close: () => http.close(),
    }
    const options = { operators: [operator], transport, namespace: this.namespace, leaderElection }
    const running = runOperators(options, end.signal)
    // `stop` returns the error; without this handler Node would report an unhandled rejection before.
    running.catch(() => undefined)
    const stop = async (): Promise<void> => {
      end.abort(new Error('The test is over'))
      await running
      await http.close()
    }
    this.#stops.push(stop)
    return { writes, stop }
  }

  /** Starts the operator with the permissions of its documented role only. */
  async startOperator(settings: Partial<LeaseControllersSettings> = {}): Promise<Running> {
    const defaults = { ...defaultValues(leaseControllers.config), leaseControllerImage: 'tenure:test' }
    const running = this.run(configure(leaseControllers, { ...defaults, ...settings }), this.#operator)
    await until(
      'the operator installs its CRD',
      async () => (await this.cluster.runKubectl(['get', 'leasecontrollers'])).code === 0,
    )
    return running
  }

  kubectl(...args: readonly string[]): Promise<string> {
    return this.cluster.kubectl(['-n', this.namespace, ...args])
  }

  async apply(stdin: object | string): Promise<void> {
    await this.cluster.kubectl(['apply', '-f', '-'], { stdin })
  }

  async applyController(name: string, spec: object): Promise<void> {
    await this.apply({
      apiVersion: `${LEASE_CONTROLLER_GROUP}/v1alpha1`,
      kind: 'LeaseController',
      metadata: { name },
      spec,
    })
  }

  async waitForReady(...names: readonly string[]): Promise<void> {
    const targets = names.map((name) => `leasecontroller/${name}`)
    await this.cluster.kubectl(['wait', '--for=condition=Ready', '--timeout=90s', ...targets])
  }

  /** Returns status and reason: `False KindNotServed`. */
  async ready(name: string): Promise<string> {
    const condition = '{.status.conditions[?(@.type=="Ready")]'
    const columns = `jsonpath=${condition}.status} ${condition}.reason}`
    return await this.cluster.kubectl(['get', 'leasecontroller', name, '-o', columns])
  }
}

async function grantOperator(
  cluster: ClusterAccess,
  name: string,
  rights: LeaseOperatorRulesOptions,
): Promise<ConnectionConfig> {
  const apiVersion = 'rbac.authorization.k8s.io/v1'
  const apiGroup = 'rbac.authorization.k8s.io'
  const items = [
    { apiVersion, kind: 'ClusterRole', metadata: { name }, rules: leaseOperatorRules(rights) },
    {
      apiVersion,
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup, kind: 'ClusterRole', name },
      subjects: [{ apiGroup, kind: 'User', name }],
    },
  ]
  await cluster.kubectl(['apply', '-f', '-'], { stdin: { apiVersion: 'v1', kind: 'List', items } })
  return await loadConfig({ kubeconfigPath: await cluster.userKubeconfig(name), env: {} })
}
