/** The claims operator as processes, with only the permissions of its Role. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'

import { claimRules, type ClaimsRbacOptions } from '@tenure/claims'
import { Lease, Role, RoleBinding, ServiceAccount } from '@tenure/kube/kinds'
import type { PolicyRule } from '@tenure/runtime'

import { type ClusterAccess, openCluster } from '../access.ts'
import { freePorts } from '../free-ports.ts'
import { writeAccountKubeconfig } from '../support/account.ts'
import { connect, type Connected } from '../support/connect.ts'
import { createNamespace, type TestNamespace } from '../support/namespace.ts'
import { until } from '../support/until.ts'
import { Child, ROOT } from './child.ts'

const LAUNCHER = path.join(ROOT, 'scripts/launch.mjs')
const END_WITH_PARENT = path.join(import.meta.dirname, 'end-with-parent.ts')
const OPERATOR = 'claim-controller'
const LEASE = 'claim-controller-leader'

/** A Pod and a Service. The Service needs no address of the small service network and makes no Endpoints. */
export const TEMPLATE = `apiVersion: v1
kind: Pod
metadata:
  name: {{ .Release.Name }}
spec:
  nodeSelector: {{ .Values.nodeSelector | default dict | toJson }}
  containers: [{name: main, image: {{ .Values.image | default "nginx" }}}]
---
apiVersion: v1
kind: Service
metadata:
  name: {{ .Release.Name }}
  annotations:
    claim.controller/return: fqdn={{ .Release.Name }}.{{ .Release.Namespace }}.svc.cluster.local
spec:
  clusterIP: None
  ports: [{port: 80}]
`

/** Values of the template above for pods that no node can run: they stay pending. */
export const UNSCHEDULABLE = 'nodeSelector: {example.com/missing: "true"}\n'

/** A response of the HTTP API. */
export interface Answer {
  readonly status: number
  readonly text: string
  /** Milliseconds since 1970: when the response was complete. */
  readonly at: number
}

/** The body of a 201. */
export interface Taken {
  readonly id: string
  readonly expiresAt: string
  readonly preProvisioned: boolean
  readonly data: Readonly<Record<string, string>>
}

export interface CallOptions {
  readonly key?: string | undefined
  readonly signal?: AbortSignal | undefined
}

export interface StartOptions {
  /** Default: none. */
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** The ports of a process. */
export interface Ports {
  readonly api: number
  readonly metrics: number
  readonly probes: number
}

/** One process of the operator. */
export class ClaimsProcess {
  readonly name: string
  readonly child: Child
  readonly ports: Ports

  constructor(name: string, ports: Ports, { args = [], env = {} }: StartOptions) {
    this.name = name
    this.ports = ports
    this.child = new Child(process.execPath, {
      args: ['--import', END_WITH_PARENT, LAUNCHER, 'packages/tenure/src/main.ts', 'claims', ...args],
      env: { LOG_FORMAT: 'text', ...env },
    })
  }

  fetch(route: string, init: RequestInit = {}, port = this.ports.api): Promise<Response> {
    return fetch(`http://127.0.0.1:${port}${route}`, { signal: AbortSignal.timeout(100_000), ...init })
  }

  async post(route: string, body?: object, { key, signal }: CallOptions = {}): Promise<Answer> {
    const response = await this.fetch(route, {
      method: 'POST',
      ...(key !== undefined && { headers: { 'idempotency-key': key } }),
      ...(body && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    })
    return { status: response.status, text: await response.text(), at: Date.now() }
  }

  /** Takes a claim; throws unless it gets one. */
  async take(body?: object, options?: CallOptions): Promise<Taken> {
    return takenFrom(await this.post('/claim', body, options))
  }

  renew(id: string, ttl: string): Promise<Answer> {
    return this.post(`/renew/${id}`, { ttl })
  }

  release(id: string): Promise<Answer> {
    return this.post(`/release/${id}`)
  }

  /** The samples of /metrics by name and labels, as they are printed. */
  async metrics(): Promise<ReadonlyMap<string, number>> {
    const text = await (await this.fetch('/metrics', {}, this.ports.metrics)).text()
    const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
    return new Map(
      lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
    )
  }

  async isReady(): Promise<boolean> {
    try {
      return (await this.fetch('/readyz', {}, this.ports.probes)).status === 200
    } catch {
      return false
    }
  }

  async whenReady(): Promise<void> {
    await until(
      () => `${this.name} is ready: ${this.child.output}`,
      async () => {
        if (this.child.hasEnded) throw new Error(`${this.name} exited: ${this.child.output}`)
        return await this.isReady()
      },
    )
  }

  /** Log lines that no test expects: errors, and responses about missing permissions. */
  get complaints(): readonly string[] {
    return this.child.output.split('\n').filter((line) => / ERROR |[Ff]orbidden/.test(line))
  }

  /** Stops with SIGTERM, as a cluster does; throws unless the process exits with 0. */
  async stop(): Promise<void> {
    this.child.signal('SIGTERM')
    const { code } = await this.child.ended
    if (code !== 0) throw new Error(`${this.name} exited with ${code}: ${this.child.output}`)
  }
}

export function takenFrom({ status, text }: Answer): Taken {
  if (status !== 201) throw new Error(`POST /claim was answered with ${status}: ${text}`)
  return JSON.parse(text) as Taken
}

export interface ClaimsFixtureOptions extends ClaimsRbacOptions {
  /** Default: the rules of `claimRules` for the kinds above. */
  readonly rules?: readonly PolicyRule[]
}

/** A namespace with an operator's account, its files and its processes. */
export class ClaimsFixture {
  readonly cluster: ClusterAccess
  readonly admin: Connected
  readonly #home: TestNamespace
  readonly #directory: string
  readonly #processes: ClaimsProcess[] = []

  private constructor(cluster: ClusterAccess, admin: Connected, home: TestNamespace, directory: string) {
    this.cluster = cluster
    this.admin = admin
    this.#home = home
    this.#directory = directory
  }

  static async open(kubeconfig: string, options: ClaimsFixtureOptions = {}): Promise<ClaimsFixture> {
    const cluster = await openCluster(kubeconfig)
    const admin = await connect(kubeconfig)
    const home = await createNamespace(admin.client, 'claims')
    const directory = await mkdtemp(path.join(tmpdir(), 'tenure-claims-'))
    const fixture = new ClaimsFixture(cluster, admin, home, directory)
    await fixture.#grant(options.rules ?? claimRules(options))
    await fixture.write('template.yaml', TEMPLATE)
    await fixture.write('values.yaml', '')
    return fixture
  }

  get namespace(): string {
    return this.#home.name
  }

  get processes(): readonly ClaimsProcess[] {
    return this.#processes
  }

  /** The path of a file of this fixture. */
  file(name: string): string {
    return path.join(this.#directory, name)
  }

  /** Writes a file and returns its path. */
  async write(name: string, content: string | object): Promise<string> {
    const text = typeof content === 'string' ? content : JSON.stringify(content)
    await writeFile(this.file(name), text, { mode: 0o600 })
    return this.file(name)
  }

  /** Starts a process that uses the files `template.yaml` and `values.yaml`, unless `env` says otherwise. */
  async start(name: string, options: StartOptions = {}): Promise<ClaimsProcess> {
    const [api = 0, metrics = 0, probes = 0] = await freePorts(3)
    const env = {
      ...this.connection(name),
      NAMESPACE: this.namespace,
      TEMPLATE_PATH: this.file('template.yaml'),
      VALUES_PATH: this.file('values.yaml'),
      API_ADDR: `127.0.0.1:${api}`,
      METRICS_ADDR: `127.0.0.1:${metrics}`,
      PROBE_ADDR: `127.0.0.1:${probes}`,
      AUTH: 'none',
      ...options.env,
    }
    return this.run(name, { api, metrics, probes }, { ...options, env })
  }

  /** The variables of a process that connect it to the cluster. */
  connection(name: string): Readonly<Record<string, string>> {
    return { KUBECONFIG: this.file('kubeconfig'), POD_NAME: name }
  }

  /** Starts a process with nothing but the given settings. */
  run(name: string, ports: Ports, options: StartOptions): ClaimsProcess {
    const started = new ClaimsProcess(name, ports, options)
    this.#processes.push(started)
    return started
  }

  kubectl(...args: readonly string[]): Promise<string> {
    return this.cluster.kubectl(['-n', this.namespace, ...args])
  }

  /** The process that leads; undefined if the Lease is free. */
  async leader(): Promise<string | undefined> {
    const { spec } = await this.admin.client.get(Lease, { name: LEASE, namespace: this.namespace })
    return spec?.holderIdentity === '' ? undefined : (spec?.holderIdentity ?? undefined)
  }

  /** The reasons and notes of the Events in the namespace: `Expired: Claim expired and resources were deleted`. */
  async events(): Promise<readonly string[]> {
    const columns = 'custom-columns=:.reason,:.note,:.regarding.name'
    const text = await this.kubectl('get', 'events.events.k8s.io', '--no-headers', '-o', columns)
    return text.split('\n').map((line) => line.replaceAll(/ {2,}/g, ' ').trim())
  }

  /** Replaces the rules of the operator's Role. */
  async setRules(rules: readonly PolicyRule[]): Promise<void> {
    await this.admin.client.update(Role, { metadata: { name: OPERATOR, namespace: this.namespace }, rules })
  }

  async close(): Promise<void> {
    await Promise.all(this.#processes.map(({ child }) => child.end()))
    await this.#home.remove()
    await this.admin.close()
    await rm(this.#directory, { recursive: true })
  }

  async #grant(rules: readonly PolicyRule[]): Promise<void> {
    const { client } = this.admin
    const metadata = { name: OPERATOR, namespace: this.namespace }
    await client.create(ServiceAccount, { metadata })
    await client.create(Role, { metadata, rules })
    await client.create(RoleBinding, {
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: OPERATOR },
      subjects: [{ kind: 'ServiceAccount', ...metadata }],
    })
    await writeAccountKubeconfig(this.cluster, metadata, this.file('kubeconfig'))
  }
}
