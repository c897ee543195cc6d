/** Runs the container of a Deployment as a process: its arguments, variables and files, and its ServiceAccount. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'

import type { ConfigMap, Deployment, Pod, Secret } from '@tenure/kube/kinds'

import type { ClusterAccess } from '../access.ts'
import { freePorts } from '../free-ports.ts'
import { Child, ROOT } from '../programs-under-test/child.ts'
import { writeAccountKubeconfig } from './account.ts'
import { until } from './until.ts'

const LAUNCHER = path.join(ROOT, 'scripts/launch.mjs')
const END_WITH_PARENT = path.join(import.meta.dirname, '../programs-under-test/end-with-parent.ts')

type Template = NonNullable<NonNullable<Deployment['spec']>['template']['spec']>
type Container = Template['containers'][number]
type Variable = NonNullable<Container['env']>[number]

/** The variables with the addresses of each command, by the names of its ports. A pod has all ports for itself. */
const ADDRESSES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  applications: { http: 'PORT', webhooks: 'WEBHOOK_PORT' },
  'lease-controllers': {
    metrics: 'METRICS_BIND_ADDRESS',
    probes: 'HEALTH_PROBE_BIND_ADDRESS',
    webhooks: 'WEBHOOK_PORT',
  },
  claims: { api: 'API_ADDR', metrics: 'METRICS_ADDR', probes: 'PROBE_ADDR' },
  databases: { health: 'HEALTH_CHECK_PORT', metrics: 'METRICS_PORT' },
}

export interface DeploymentRef {
  readonly namespace: string
  readonly name: string
}

export class DeployedProcess {
  readonly child: Child
  readonly #directory: string
  readonly #ports: ReadonlyMap<string, number>
  readonly #probe: string

  private constructor(child: Child, directory: string, ports: ReadonlyMap<string, number>, probe: string) {
    this.child = child
    this.#directory = directory
    this.#ports = ports
    this.#probe = probe
  }

  /** Starts the first container with the name and the account of the first pod. */
  static async start(cluster: ClusterAccess, ref: DeploymentRef): Promise<DeployedProcess> {
    const { namespace, name } = ref
    const deployment = await read<Deployment>(cluster, namespace, ['deployment', name])
    const template = deployment.spec?.template.spec
    const container = template?.containers[0]
    if (!template || !container) throw new Error(`The Deployment ${name} has no container`)
    const directory = await mkdtemp(path.join(tmpdir(), 'tenure-deployed-'))
    const account = { namespace, name: template.serviceAccountName ?? 'default' }
    const kubeconfig = await writeAccountKubeconfig(cluster, account, path.join(directory, 'kubeconfig'))
    const folders = await mountFiles(cluster, namespace, template, directory)
    const podName = await podOf(cluster, namespace, deployment)
    const env: Record<string, string> = {}
    for (const variable of container.env ?? []) {
      const value = await valueOf(cluster, variable, { namespace, podName })
      env[variable.name] = folders.reduce((text, { mount, folder }) => text.replaceAll(mount, folder), value)
    }
    const ports = await portsOf(container)
    const child = new Child(process.execPath, {
      args: ['--import', END_WITH_PARENT, LAUNCHER, 'packages/tenure/src/main.ts', ...argumentsOf(container)],
      // Only the paths and addresses of a pod differ. A pod's namespace is the default of the last variable.
      env: { ...env, ...addressesOf(container, ports), KUBECONFIG: kubeconfig, WEBHOOK_SERVICE_NAMESPACE: namespace },
    })
    return new DeployedProcess(child, directory, ports, String(container.readinessProbe?.httpGet?.port ?? ''))
  }

  /** The port of this machine that stands for a port of the container. */
  port(name: string): number {
    const port = this.#ports.get(name)
    if (port === undefined) throw new Error(`There is no port ${name}`)
    return port
  }

  fetch(portName: string, route: string, init: RequestInit = {}): Promise<Response> {
    return fetch(`http://127.0.0.1:${this.port(portName)}${route}`, { signal: AbortSignal.timeout(60_000), ...init })
  }

  /** The answer of the readiness probe; undefined while nothing listens. */
  async readiness(): Promise<{ readonly status: number; readonly text: string } | undefined> {
    try {
      const response = await this.fetch(this.#probe, '/readyz')
      return { status: response.status, text: await response.text() }
    } catch {
      return undefined
    }
  }

  async whenReady(): Promise<void> {
    await until(
      () => `the process is ready: ${this.child.output}`,
      async () => {
        if (this.child.hasEnded) throw new Error(`The process exited: ${this.child.output}`)
        return (await this.readiness())?.status === 200
      },
    )
  }

  /** Stops with SIGTERM, as a cluster does; throws unless the process exits with 0. */
  async stop(): Promise<void> {
    this.child.signal('SIGTERM')
    const { code } = await this.child.ended
    await rm(this.#directory, { recursive: true })
    if (code !== 0) throw new Error(`The process exited with ${code}: ${this.child.output}`)
  }

  /** Kills the process if it still runs. */
  async end(): Promise<void> {
    await this.child.end()
    await rm(this.#directory, { recursive: true, force: true })
  }
}

async function read<T>({ kubectl }: ClusterAccess, namespace: string, what: readonly string[]): Promise<T> {
  return JSON.parse(await kubectl(['-n', namespace, 'get', ...what, '-o', 'json'])) as T
}

/** The name of a pod of the Deployment. */
async function podOf(cluster: ClusterAccess, namespace: string, { metadata, spec }: Deployment): Promise<string> {
  const labels = Object.entries(spec?.selector.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`)
  const { items } = await read<{ readonly items: readonly Pod[] }>(cluster, namespace, ['pods', '-l', labels.join(',')])
  return items[0]?.metadata?.name ?? `${metadata?.name}-0`
}

async function valueOf(
  cluster: ClusterAccess,
  { value = '', valueFrom }: Variable,
  pod: { readonly namespace: string; readonly podName: string },
): Promise<string> {
  if (valueFrom?.fieldRef?.fieldPath === 'metadata.name') return pod.podName
  if (valueFrom?.fieldRef?.fieldPath === 'metadata.namespace') return pod.namespace
  if (valueFrom?.secretKeyRef) {
    const { key, name = '' } = valueFrom.secretKeyRef
    const { data } = await read<Secret>(cluster, pod.namespace, ['secret', name])
    return Buffer.from(data?.[key] ?? '', 'base64').toString()
  }
  return value
}

/** Writes the files of ConfigMaps that are mounted, and returns where. */
async function mountFiles(
  cluster: ClusterAccess,
  namespace: string,
  { containers, volumes = [] }: Template,
  directory: string,
): Promise<readonly { readonly mount: string; readonly folder: string }[]> {
  const folders = []
  for (const { mountPath, name } of containers[0]?.volumeMounts ?? []) {
    const configMap = volumes.find((volume) => volume.name === name)?.configMap?.name
    if (configMap === undefined) continue
    const { data = {} } = await read<ConfigMap>(cluster, namespace, ['configmap', configMap])
    const folder = path.join(directory, name)
    await mkdir(folder)
    for (const [file, text] of Object.entries(data)) await writeFile(path.join(folder, file), text)
    folders.push({ mount: mountPath, folder })
  }
  return folders
}

async function portsOf({ ports = [] }: Container): Promise<ReadonlyMap<string, number>> {
  const free = await freePorts(ports.length)
  return new Map(ports.map(({ name = '' }, index) => [name, free[index] ?? 0]))
}

function addressesOf({ args = [] }: Container, ports: ReadonlyMap<string, number>): Readonly<Record<string, string>> {
  const variables = ADDRESSES[args[0] ?? ''] ?? {}
  const addresses = [...ports].flatMap(([name, port]) => {
    const variable = variables[name]
    return variable === undefined ? [] : [[variable, variable.endsWith('PORT') ? String(port) : `:${port}`]]
  })
  return { DASHBOARD_ADDR: '127.0.0.1:0', ...(Object.fromEntries(addresses) as Record<string, string>) }
}

/** Dedicated lease controllers have their addresses as arguments. */
const argumentsOf = ({ args = [] }: Container): readonly string[] =>
  args.map((arg) => arg.replace(/(?<=-bind-address=).*$/, '127.0.0.1:0'))
