/** The command lines of the cluster's programs. */
import path from 'node:path'

import type { Binaries } from './binaries.ts'
import { SERVICE_RANGE, credentialFiles } from './credentials.ts'

/** The programs that run as long as the cluster, in the order of their start. */
export type Component = 'etcd' | 'kube-apiserver' | 'kube-controller-manager' | 'kube-scheduler' | 'kwok'

export interface ProgramSettings {
  readonly directory: string
  readonly etcdPort: number
  readonly apiServerPort: number
  /** True if etcd syncs every write to disk. */
  readonly durable: boolean
  /** Added to the API server's flags; the last of equal flags counts. */
  readonly apiServerArgs: readonly string[]
  readonly controllerManagerArgs: readonly string[]
  readonly stages: Binaries['stages']
}

export function schedulerConfigFile(directory: string): string {
  return path.join(directory, 'scheduler.json')
}

export function schedulerConfig(directory: string): string {
  return JSON.stringify({
    apiVersion: 'kubescheduler.config.k8s.io/v1',
    kind: 'KubeSchedulerConfiguration',
    clientConnection: { kubeconfig: credentialFiles(directory).scheduler, qps: 1_000, burst: 2_000 },
    leaderElection: { leaderElect: false },
    // A pod created before its node must not wait ten seconds for its next attempt.
    podInitialBackoffSeconds: 1,
    podMaxBackoffSeconds: 1,
  })
}

export function argumentsOf(component: Component, settings: ProgramSettings): readonly string[] {
  return ARGUMENTS[component](settings)
}

const ARGUMENTS: Readonly<Record<Component, (settings: ProgramSettings) => readonly string[]>> = {
  etcd,
  'kube-apiserver': apiServer,
  'kube-controller-manager': controllerManager,
  'kube-scheduler': ({ directory }) => [`--config=${schedulerConfigFile(directory)}`, '--secure-port=0'],
  kwok,
}

function etcd(settings: ProgramSettings): readonly string[] {
  const client = `http://127.0.0.1:${settings.etcdPort}`
  return [
    `--data-dir=${path.join(settings.directory, 'etcd')}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    // A single member has no peers, but etcd requires the address.
    '--listen-peer-urls=http://127.0.0.1:0',
    '--log-level=warn',
    ...(settings.durable ? [] : ['--unsafe-no-fsync']),
  ]
}

function apiServer(settings: ProgramSettings): readonly string[] {
  const files = credentialFiles(settings.directory)
  return [
    `--etcd-servers=http://127.0.0.1:${settings.etcdPort}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    // The endpoints of the service "kubernetes" must not be loopback addresses, and nothing here needs them.
    '--endpoint-reconciler-type=none',
    `--secure-port=${settings.apiServerPort}`,
    `--tls-cert-file=${files.server}`,
    `--tls-private-key-file=${files.serverKey}`,
    `--client-ca-file=${files.authority}`,
    '--authorization-mode=Node,RBAC',
    '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
    `--service-account-key-file=${files.serviceAccountPublicKey}`,
    `--service-account-signing-key-file=${files.serviceAccountKey}`,
    `--service-cluster-ip-range=${SERVICE_RANGE}`,
    '--allow-privileged=true',
    '--profiling=false',
    // Shortens the shutdown to a second or two; by default open watches delay it by a minute.
    '--shutdown-send-retry-after=true',
    '--shutdown-watch-termination-grace-period=1s',
    ...settings.apiServerArgs,
  ]
}

function controllerManager(settings: ProgramSettings): readonly string[] {
  const files = credentialFiles(settings.directory)
  return [
    `--kubeconfig=${files.controllerManager}`,
    '--secure-port=0',
    '--leader-elect=false',
    '--use-service-account-credentials=true',
    `--service-account-private-key-file=${files.serviceAccountKey}`,
    `--root-ca-file=${files.authority}`,
    `--cluster-signing-cert-file=${files.authority}`,
    `--cluster-signing-key-file=${files.authorityKey}`,
    // The default of 20 requests per second per controller would only slow tests down.
    '--kube-api-qps=1000',
    '--kube-api-burst=2000',
    '--node-monitor-period=1s',
    ...settings.controllerManagerArgs,
  ]
}

function kwok(settings: ProgramSettings): readonly string[] {
  return [
    `--kubeconfig=${credentialFiles(settings.directory).kwok}`,
    ...settings.stages.map((file) => `--config=${file}`),
    '--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake',
    '--node-ip=127.0.0.1',
    '--cidr=10.1.0.0/16',
    // Without a lease the node and its pods would be considered dead after a minute.
    '--node-lease-duration-seconds=40',
  ]
}
