/** The Applications operator as processes, with only the permissions that its manifest grants. */
import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'

import { loadAll } from 'js-yaml'

import { type ClusterAccess, openCluster } from '../access.ts'
import { freePorts } from '../free-ports.ts'
import { tokenOf, writeAccountKubeconfig } from '../support/account.ts'
import { until } from '../support/until.ts'
import { Child, ROOT } from './child.ts'

const MANIFEST = path.join(ROOT, 'deploy/applications.yaml')
const LAUNCHER = path.join(ROOT, 'scripts/launch.mjs')
const END_WITH_PARENT = path.join(import.meta.dirname, 'end-with-parent.ts')
const CRD = 'applications.cloudnative.elide.dev'
const OPERATOR = 'elide-operator'
const MANIFEST_NAMESPACE = 'elide-system'

export interface Application {
  readonly metadata: {
    readonly name: string
    readonly uid: string
    readonly generation: number
    readonly finalizers?: readonly string[]
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly spec: Readonly<Record<string, unknown>>
  readonly status?: {
    readonly phase?: string
    readonly readyReplicas?: number
    readonly conditions?: readonly Readonly<Record<string, unknown>>[]
  }
}

/** Simulated nodes would make its pods ready, but no process would serve. */
const isNoDeployment = (kind: string): boolean => kind !== 'Deployment'

/** One process of the operator. */
export class Replica {
  readonly child: Child
  readonly url: string

  readonly #token: string | undefined

  constructor(port: number, env: Readonly<Record<string, string>>, token: string | undefined) {
    this.url = `http://127.0.0.1:${port}`
    this.#token = token
    this.child = new Child(process.execPath, {
      args: ['--import', END_WITH_PARENT, LAUNCHER, 'packages/tenure/src/main.ts', 'applications'],
      env: { PORT: String(port), LOG_FORMAT: 'text', ...env },
    })
  }

  fetch(route: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers)
    if (this.#token !== undefined && !headers.has('authorization')) {
      headers.set('authorization', `Bearer ${this.#token}`)
    }
    return fetch(this.url + route, { signal: AbortSignal.timeout(60_000), ...init, headers })
  }

  /** Sends an object as JSON. */
  send(method: string, route: string, body: object): Promise<Response> {
    const headers = { 'content-type': 'application/json' }
    return this.fetch(route, { method, headers, body: JSON.stringify(body) })
  }

  /** Returns `undefined` while the server does not respond. */
  async json(route: string): Promise<Readonly<Record<string, unknown>> | undefined> {
    try {
      return (await (await this.fetch(route)).json()) as Readonly<Record<string, unknown>>
    } catch {
      return undefined
    }
  }

  async isReady(): Promise<boolean> {
    try {
      return (await this.fetch('/readyz')).status === 200
    } catch {
      return false
    }
  }

  async whenReady(): Promise<void> {
    await until(
      () => `the operator is ready: ${this.child.output}`,
      async () => {
        if (this.child.hasEnded) throw new Error(`The operator exited: ${this.child.output}`)
        return await this.isReady()
      },
    )
  }

  /** Unexpected log lines: errors, and responses about missing permissions. */
  get complaints(): readonly string[] {
    return this.child.output.split('\n').filter((line) => / ERROR |[Ff]orbidden/.test(line))
  }

  async metrics(): Promise<string> {
    return await (await this.fetch('/metrics')).text()
  }

  /** Resident memory, in bytes. */
  async memory(): Promise<number> {
    const line = /^process_resident_memory_bytes (.+)$/m.exec(await this.metrics())
    return Number(line?.[1])
  }
}

export class ApplicationsFixture {
  readonly cluster: ClusterAccess
  /** The namespace of the test's objects. */
  readonly namespace: string
  /** The operator's namespace, a new one per run, because the previous one may still be terminating. */
  readonly home: string
  readonly #directory: string
  readonly #replicas: Replica[] = []

  private constructor(cluster: ClusterAccess, directory: string) {
    this.cluster = cluster
    const id = randomBytes(3).toString('hex')
    this.namespace = `applications-${id}`
    this.home = `${MANIFEST_NAMESPACE}-${id}`
    this.#directory = directory
  }

  /** Removes leftovers of other runs and grants the operator its permissions. */
  static async open(kubeconfig: string): Promise<ApplicationsFixture> {
    const cluster = await openCluster(kubeconfig)
    const fixture = new ApplicationsFixture(cluster, await mkdtemp(path.join(tmpdir(), 'tenure-applications-')))
    await fixture.#forget()
    await cluster.kubectl(['apply', '-f', '-'], { stdin: await fixture.deployed(isNoDeployment) })
    await cluster.kubectl(['create', 'namespace', fixture.namespace])
    await fixture.writeKubeconfig(OPERATOR)
    return fixture
  }

  /** The kubeconfig of the operator's ServiceAccount. */
  get kubeconfig(): string {
    return path.join(this.#directory, OPERATOR)
  }

  get replicas(): readonly Replica[] {
    return this.#replicas
  }

  /** Starts the operator, without webhooks unless `env` enables them. `token` authenticates the test's requests. */
  async start(podName: string, env: Readonly<Record<string, string>> = {}, token?: string): Promise<Replica> {
    const [port = 0] = await freePorts(1)
    const settings = { KUBECONFIG: this.kubeconfig, POD_NAME: podName, WEBHOOKS: 'false', ...env }
    const replica = new Replica(port, settings, token)
    this.#replicas.push(replica)
    return replica
  }

  /** Stops a process with SIGTERM, as a cluster does. */
  async stop({ child }: Replica): Promise<void> {
    child.signal('SIGTERM')
    const { code } = await child.ended
    if (code !== 0) throw new Error(`The operator exited with ${code}: ${child.output}`)
  }

  /** Kills the remaining processes. */
  async endAll(): Promise<void> {
    await Promise.all(this.#replicas.splice(0).map(({ child }) => child.end()))
  }

  async close(): Promise<void> {
    await this.endAll()
    await this.#forget()
    const { kubectl } = this.cluster
    await kubectl(['delete', '-f', '-', '--ignore-not-found', '--wait=false'], {
      stdin: await this.deployed(isNoDeployment),
    })
    await kubectl(['delete', 'namespace', this.namespace, '--wait=false'])
    await rm(this.#directory, { recursive: true })
  }

  kubectl(...args: readonly string[]): Promise<string> {
    return this.cluster.kubectl(['-n', this.namespace, ...args])
  }

  /** Returns the error that kubectl prints; throws if it succeeds. */
  async refusal(args: readonly string[], stdin: object = {}): Promise<string> {
    const { code, stdout, stderr } = await this.cluster.runKubectl(['-n', this.namespace, ...args], { stdin })
    if (code === 0) throw new Error(`Not rejected: kubectl ${args.join(' ')}: ${stdout}`)
    return stderr
  }

  manifest(name: string, spec: object): object {
    const metadata = { name, namespace: this.namespace }
    return { apiVersion: 'cloudnative.elide.dev/v1', kind: 'Application', metadata, spec }
  }

  async apply(name: string, spec: object): Promise<void> {
    await this.cluster.kubectl(['apply', '-f', '-'], { stdin: this.manifest(name, spec) })
  }

  async get(name: string): Promise<Application> {
    return JSON.parse(await this.kubectl('get', 'application', name, '-o', 'json')) as Application
  }

  async whenReady(...names: readonly string[]): Promise<void> {
    const targets = names.map((name) => `application/${name}`)
    await this.kubectl('wait', '--for=condition=Ready', '--timeout=90s', ...targets)
  }

  /** Returns the objects of the manifest, moved to the test's namespace. */
  async deployed(kinds: (kind: string) => boolean): Promise<object> {
    const text = (await readFile(MANIFEST, 'utf8')).replaceAll(`: ${MANIFEST_NAMESPACE}\n`, `: ${this.home}\n`)
    const all = loadAll(text) as readonly { readonly kind: string }[]
    return { apiVersion: 'v1', kind: 'List', items: all.filter(({ kind }) => kinds(kind)) }
  }

  /** Creates a token for a ServiceAccount of the operator's namespace. */
  token(account: string): Promise<string> {
    return tokenOf(this.cluster, { namespace: this.home, name: account })
  }

  /** Returns the path. */
  writeKubeconfig(account: string): Promise<string> {
    const ref = { namespace: this.home, name: account }
    return writeAccountKubeconfig(this.cluster, ref, path.join(this.#directory, account))
  }

  /** Removes webhooks without a server and the CustomResourceDefinition, as in a new cluster. */
  async #forget(): Promise<void> {
    const { kubectl, runKubectl } = this.cluster
    const configurations = ['validatingwebhookconfiguration', 'mutatingwebhookconfiguration']
    for (const kind of configurations) await kubectl(['delete', kind, OPERATOR, '--ignore-not-found'])
    const { stdout } = await runKubectl(['get', 'applications', '-A', '-o', 'json'])
    const { items } = JSON.parse(stdout || '{"items":[]}') as {
      readonly items: readonly { readonly metadata: { readonly name: string; readonly namespace: string } }[]
    }
    for (const { metadata } of items) {
      const free = ['--type=merge', '-p', '{"metadata":{"finalizers":null}}']
      await runKubectl(['-n', metadata.namespace, 'patch', 'application', metadata.name, ...free])
    }
    await kubectl(['delete', 'crd', CRD, '--ignore-not-found', '--timeout=60s'])
  }
}
