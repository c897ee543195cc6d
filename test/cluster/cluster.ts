/**
 * A real Kubernetes on loopback: etcd, the API server, the controller manager, the scheduler, and kwok, which simulates
 * nodes whose pods become ready without containers. The command line and the tests both use startCluster.
 */
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'

import { TenureError } from '@tenure/kube'

import { type ClusterAccess, clusterAccess } from './access.ts'
import { type ApiRequest, apiRequests } from './api-request.ts'
import { type Binaries, findBinaries } from './binaries.ts'
import { type Credentials, writeCredentials } from './credentials.ts'
import { freePorts, isFree, isListening } from './free-ports.ts'
import { Launcher, type RunningProgram, end } from './launcher.ts'
import { createNode, isSchedulable } from './node.ts'
import { signal } from './process-identity.ts'
import { type Component, type ProgramSettings, argumentsOf, schedulerConfig, schedulerConfigFile } from './programs.ts'
import { type Progress, stderrProgress } from './progress.ts'
import { assertEmpty, removeFolder, writeState } from './state.ts'

export interface ClusterOptions {
  /** Folder for credentials, logs and data; new or empty, and deleted at the end. Default: a temporary folder. */
  readonly directory?: string
  /** True if etcd syncs every write to disk, as in production. Default false, because test data may be lost. */
  readonly durable?: boolean
  /** Number of nodes. Default 1. */
  readonly nodes?: number
  /** Further flags for the API server, such as `--audit-log-path=…`. Default: none. */
  readonly apiServerArgs?: readonly string[]
  /** Further flags for the controller manager, which override the built-in ones. Default: none. */
  readonly controllerManagerArgs?: readonly string[]
  /** Receives progress lines. Default: standard error. */
  readonly progress?: Progress
}

export type EndSignal = 'SIGTERM' | 'SIGKILL'

export interface Cluster extends ClusterAccess {
  /** URL of the API server; a restart keeps it. */
  readonly server: string
  readonly directory: string
  /** PEM. */
  readonly certificateAuthority: string
  /** PEM, of a member of system:masters. */
  readonly admin: Credentials['admin']
  readonly apiServer: {
    /** Freezes the API server: connections stay open and get no response. */
    pause(): void
    resume(): void
  }
  /** Stops the API server: by default with SIGKILL, like a crash; SIGTERM lets it close its watches first. */
  stopApiServer(how?: EndSignal): Promise<void>
  /** Starts the API server at the same address and waits until it is ready. */
  startApiServer(): Promise<void>
  restartApiServer(how?: EndSignal): Promise<void>
  /** The running programs. */
  programs(): readonly RunningProgram[]
  /** Lets the cluster outlive this process. */
  release(): Promise<void>
  /** Stops every program and deletes the folder. */
  stop(): Promise<void>
}

const START_ATTEMPTS = 3

/** Starts a cluster that stops with this process at the latest, even if the process is killed. */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const binaries = await findBinaries(options.progress ?? stderrProgress)
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOnce(binaries, options)
    } catch (error) {
      // A free port can be taken before its program listens on it.
      const lostPort = error instanceof TenureError && error.message.includes('address already in use')
      if (!lostPort || attempt === START_ATTEMPTS) throw error
    }
  }
}

async function startOnce(binaries: Binaries, options: ClusterOptions): Promise<Cluster> {
  const directory = await clusterDirectory(options.directory)
  const launcher = new Launcher(path.join(directory, 'logs'), directory)
  const [etcdPort, apiServerPort] = (await freePorts(2)) as [number, number]
  const server = `https://127.0.0.1:${apiServerPort}`
  const credentials = await writeCredentials(directory, server)
  const ask = apiRequests(server, credentials.authority.certificate, credentials.admin)
  const cluster = new RunningCluster({
    binaries,
    launcher,
    server,
    credentials,
    ask,
    nodes: Array.from({ length: options.nodes ?? 1 }, (_, index) => `node-${index}`),
    settings: {
      directory,
      etcdPort,
      apiServerPort,
      durable: options.durable ?? false,
      apiServerArgs: options.apiServerArgs ?? [],
      controllerManagerArgs: options.controllerManagerArgs ?? [],
      stages: binaries.stages,
    },
  })
  try {
    await cluster.start()
    return cluster
  } catch (error) {
    await cluster.stop()
    throw error
  } finally {
    ask.close()
  }
}

async function clusterDirectory(wanted: string | undefined): Promise<string> {
  if (wanted === undefined) return mkdtemp(path.join(tmpdir(), 'tenure-cluster-'))
  await assertEmpty(wanted)
  await mkdir(wanted, { recursive: true, mode: 0o700 })
  return path.resolve(wanted)
}

interface ClusterParts {
  readonly binaries: Binaries
  readonly launcher: Launcher
  readonly server: string
  readonly credentials: Credentials
  readonly ask: ApiRequest
  readonly nodes: readonly string[]
  readonly settings: ProgramSettings
}

class RunningCluster implements Cluster {
  readonly server: string
  readonly directory: string
  readonly certificateAuthority: string
  readonly admin: Credentials['admin']
  readonly kubeconfig: string
  readonly runKubectl: ClusterAccess['runKubectl']
  readonly kubectl: ClusterAccess['kubectl']
  readonly userKubeconfig: ClusterAccess['userKubeconfig']
  readonly apiServer: Cluster['apiServer'] = {
    pause: () => this.#signalApiServer('SIGSTOP'),
    resume: () => this.#signalApiServer('SIGCONT'),
  }
  readonly #parts: ClusterParts
  readonly #running = new Map<Component, RunningProgram>()
  #isComplete = false

  constructor(parts: ClusterParts) {
    this.#parts = parts
    this.server = parts.server
    this.directory = parts.settings.directory
    this.certificateAuthority = parts.credentials.authority.certificate
    this.admin = parts.credentials.admin
    const access = clusterAccess(path.join(this.directory, 'kubeconfig'), parts.binaries.programs.kubectl)
    this.kubeconfig = access.kubeconfig
    this.runKubectl = access.runKubectl
    this.kubectl = access.kubectl
    this.userKubeconfig = access.userKubeconfig
  }

  async start(): Promise<void> {
    const { ask, launcher, nodes, settings } = this.#parts
    await writeFile(schedulerConfigFile(this.directory), schedulerConfig(this.directory))
    await this.#launch('etcd')
    await launcher.waitFor(this.programs(), 'etcd listens', () => isListening(settings.etcdPort))
    await this.startApiServer()
    await this.#launch('kube-controller-manager')
    await this.#launch('kube-scheduler')
    for (const name of nodes) await createNode(ask, name)
    await this.#launch('kwok')
    for (const name of nodes) {
      await launcher.waitFor(this.programs(), `${name} is ready`, () => isSchedulable(ask, name))
    }
    // A pod cannot be created before the ServiceAccount of its namespace.
    await launcher.waitFor(this.programs(), 'the namespace "default" has its service account', async () => {
      const answer = await ask('GET', '/api/v1/namespaces/default/serviceaccounts/default')
      return answer?.status === 200
    })
    this.#isComplete = true
    await this.#record()
  }

  async startApiServer(): Promise<void> {
    const { credentials, launcher, server } = this.#parts
    await this.#launch('kube-apiserver')
    const ask = apiRequests(server, this.certificateAuthority, credentials.admin)
    try {
      await launcher.waitFor(
        this.programs(),
        'the API server is ready',
        async () => (await ask('GET', '/readyz'))?.status === 200,
      )
    } finally {
      ask.close()
    }
  }

  async stopApiServer(how: EndSignal = 'SIGKILL'): Promise<void> {
    const program = this.#running.get('kube-apiserver')
    if (!program) return
    await end(program.identity, how)
    this.#running.delete('kube-apiserver')
    // The process is gone with its first thread, but its last thread releases the port a moment later.
    const { launcher, settings } = this.#parts
    await launcher.waitFor([], "the API server's port is free", () => isFree(settings.apiServerPort))
  }

  async restartApiServer(how: EndSignal = 'SIGKILL'): Promise<void> {
    await this.stopApiServer(how)
    await this.startApiServer()
  }

  programs(): readonly RunningProgram[] {
    return [...this.#running.values()]
  }

  release(): Promise<void> {
    return this.#parts.launcher.release()
  }

  async stop(): Promise<void> {
    // Kills the programs: nothing needs a clean shutdown, and the API server would take long for one.
    await Promise.all(this.programs().map(({ identity }) => end(identity, 'SIGKILL')))
    this.#running.clear()
    await removeFolder(this.directory)
    await this.#parts.launcher.release()
  }

  async #launch(component: Component): Promise<RunningProgram> {
    const { binaries, launcher, settings } = this.#parts
    const binary = binaries.programs[component]
    const program = await launcher.start(component, binary, argumentsOf(component, settings))
    this.#running.set(component, program)
    await this.#record()
    return program
  }

  /** Written after each started program: if everything is killed, the folder still lists the processes to stop. */
  #record(): Promise<void> {
    return writeState(this.directory, {
      server: this.server,
      kubeconfig: this.kubeconfig,
      durable: this.#parts.settings.durable,
      complete: this.#isComplete,
      programs: this.programs(),
    })
  }

  #signalApiServer(name: 'SIGSTOP' | 'SIGCONT'): void {
    const program = this.#running.get('kube-apiserver')
    if (!program || !signal(program.identity, name)) {
      throw new TenureError('TENURE_CLUSTER_PROGRAM_FAILED', 'The API server is not running.')
    }
  }
}
