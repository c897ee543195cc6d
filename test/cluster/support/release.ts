/** A release of the chart whose pods run as processes of the test, behind its Services. */
import type { Deployment, Service } from '@tenure/kube/kinds'

import { CHART } from '../../chart/render.ts'
import type { ClusterAccess } from '../access.ts'
import type { Helm } from '../helm.ts'
import { DeployedProcess } from './deployed-process.ts'
import type { ServiceProxy } from './service-proxy.ts'

export interface ReleaseOptions {
  readonly cluster: ClusterAccess
  readonly helm: Helm
  readonly proxy: ServiceProxy
  readonly name: string
  readonly namespace: string
}

export class Release {
  readonly name: string
  readonly namespace: string
  readonly #cluster: ClusterAccess
  readonly #helm: Helm
  readonly #proxy: ServiceProxy
  /** By the names of their Deployments. */
  readonly #processes = new Map<string, DeployedProcess>()

  constructor({ cluster, helm, name, namespace, proxy }: ReleaseOptions) {
    this.name = name
    this.namespace = namespace
    this.#cluster = cluster
    this.#helm = helm
    this.#proxy = proxy
  }

  /** Runs a command of helm on the release: `install`, `upgrade`, `test`. Waits until its objects are ready. */
  run(command: string, args: readonly string[] = [], values: object = {}): Promise<string> {
    const chart = command === 'install' || command === 'upgrade' ? [CHART, '--wait', '--values', '-'] : []
    const where = ['--namespace', this.namespace, '--timeout', '90s']
    return this.#helm.helm([command, this.name, ...chart, ...where, ...args], JSON.stringify(values))
  }

  /** kubectl in the namespace of the release. */
  kubectl(...args: readonly string[]): Promise<string> {
    return this.#cluster.kubectl(['-n', this.namespace, ...args])
  }

  /** The name of an object of an operator: `prod-tenure-claims`. */
  nameOf(component: string): string {
    return this.name.includes('tenure') ? `${this.name}-${component}` : `${this.name}-tenure-${component}`
  }

  /** Runs a pod of a Deployment until `stop`, and waits until it is ready. */
  async start(deployment: string): Promise<DeployedProcess> {
    const process = await this.launch(deployment)
    await process.whenReady()
    return process
  }

  /** Runs a pod of a Deployment until `stop`. */
  async launch(deployment: string): Promise<DeployedProcess> {
    const process = await DeployedProcess.start(this.#cluster, { namespace: this.namespace, name: deployment })
    this.#processes.set(deployment, process)
    await this.#route(deployment, process)
    return process
  }

  /** The process that runs for a Deployment. */
  process(deployment: string): DeployedProcess {
    const process = this.#processes.get(deployment)
    if (!process) throw new Error(`No process runs for the Deployment ${deployment}`)
    return process
  }

  async stop(deployment: string): Promise<void> {
    await this.#processes.get(deployment)?.stop()
    this.#processes.delete(deployment)
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.#processes.keys()].map((deployment) => this.stop(deployment)))
  }

  /** Kills what still runs. */
  async endAll(): Promise<void> {
    await Promise.all([...this.#processes.values()].map((process) => process.end()))
    this.#processes.clear()
  }

  /** The address on this machine of a URL that names a Service. */
  async reachable(url: string): Promise<string> {
    const { hostname, pathname, port, protocol } = new URL(url)
    const service = JSON.parse(await this.kubectl('get', 'service', hostname, '-o', 'json')) as Service
    const found = service.spec?.ports?.find((each) => String(each.port) === (port || '80'))
    return `${protocol}//127.0.0.1:${this.process(hostname).port(String(found?.targetPort))}${pathname}`
  }

  /** Lets the API server reach the process through the Service of the same name. */
  async #route(name: string, process: DeployedProcess): Promise<void> {
    const text = await this.kubectl('get', 'service', name, '--ignore-not-found', '-o', 'json')
    if (text === '') return
    const { spec } = JSON.parse(text) as Service
    for (const { port, targetPort } of spec?.ports ?? []) {
      this.#proxy.route(`${spec?.clusterIP}:${port}`, process.port(String(targetPort)))
    }
  }
}

/** The Deployments of a release, as `kubectl get` prints them: `prod-tenure-claims 2/2`. */
export async function readyDeployments(release: Release): Promise<readonly string[]> {
  const { items } = JSON.parse(
    await release.kubectl('get', 'deployments', '-l', `app.kubernetes.io/instance=${release.name}`, '-o', 'json'),
  ) as { readonly items: readonly Deployment[] }
  return items.map(({ metadata, status }) => `${metadata?.name} ${status?.readyReplicas ?? 0}/${status?.replicas ?? 0}`)
}
