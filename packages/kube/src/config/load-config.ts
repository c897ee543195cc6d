import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { TenureError } from '../errors/errors.ts'
import { chooseContext } from './kubeconfig/choose-context.ts'
import { systemFiles } from './files.ts'
import { inClusterConfig, isInCluster } from './in-cluster.ts'
import { type KubeconfigPaths, kubeconfigPaths, readKubeconfigs } from './kubeconfig/kubeconfig.ts'
import { kubeconfigError, type KubeconfigProblem } from './kubeconfig/kubeconfig-error.ts'
import { proxyFromEnvironment } from './proxy-url.ts'
import { SecretValue } from './secret-value.ts'
import type { ConnectionConfig } from './connection-config.ts'
import type { Files } from './files.ts'

export interface LoadConfigOptions {
  /** Default: the environment of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** The directory of `.kube/config`. Default: the user's home directory. */
  readonly home?: string
  /** The only kubeconfig to read. */
  readonly kubeconfigPath?: string | undefined
  /** The context to use. Default: the kubeconfig's current-context. */
  readonly context?: string | undefined
  /** True: use only the pod's service account. False: never use it. Default: use it if no kubeconfig is named. */
  readonly inCluster?: boolean | undefined
  /** Default: the file system. */
  readonly files?: Files
  /** The folder in which `npm start` keeps its data, in the working directory. Default: TENURE_DATA, then `.tenure`. */
  readonly localDirectory?: string
  /** Told which kubeconfig is used although none is set. Default: prints a line to standard error. */
  readonly onLocal?: (message: string) => void
  /** The mount point of the service account. Default: that of Kubernetes. */
  readonly serviceAccountDirectory?: string
}

/**
 * Finds the API server. The first that applies: the requested kubeconfig, the list in `KUBECONFIG`, the pod's service
 * account, `~/.kube/config`. If that file is missing or names no cluster, the kubeconfig of `npm start` in the working
 * directory is used, and a message says so.
 */
export async function loadConfig(options: LoadConfigOptions = {}): Promise<ConnectionConfig> {
  const env = options.env ?? process.env
  const files = options.files ?? systemFiles
  const named = Boolean(options.kubeconfigPath || options.context || env['KUBECONFIG'])
  if (options.inCluster ?? (!named && isInCluster(env))) {
    return inClusterConfig(env, files, options.serviceAccountDirectory)
  }
  const where = kubeconfigPaths(env, options.home ?? homedir(), options.kubeconfigPath)
  try {
    return await loadKubeconfigs(where, options)
  } catch (error) {
    const local = named || !namesNothing(error) ? undefined : await findLocal(options)
    if (local === undefined) throw error
    const config = await loadKubeconfigs({ paths: [local], required: true }, options)
    const { onLocal = sayOnStandardError } = options
    onLocal(`No kubeconfig is set: using ${local}, which npm start wrote.`)
    return config
  }
}

async function loadKubeconfigs(where: KubeconfigPaths, options: LoadConfigOptions): Promise<ConnectionConfig> {
  const { env = process.env, files = systemFiles } = options
  const config = await readKubeconfigs(files, where)
  if (!config) {
    throw kubeconfigError(
      'NOT_FOUND',
      `There is no kubeconfig at ${where.paths.join(' or ')}: create one, or point KUBECONFIG at it.`,
    )
  }
  const chosen = await chooseContext(config, { files, env, context: options.context, paths: where.paths })
  if (chosen.proxyUrl) return chosen
  const proxy = proxyFromEnvironment(env, chosen.server)
  return proxy === undefined ? chosen : { ...chosen, proxyUrl: new SecretValue(proxy) }
}

/** No kubeconfig exists, or its current context leads to no cluster. A damaged file is reported instead. */
function namesNothing(error: unknown): boolean {
  return error instanceof TenureError && NOTHING_NAMED.has(error.code)
}

const NOTHING_NAMED: ReadonlySet<string> = new Set(
  (['NOT_FOUND', 'CONTEXT', 'CLUSTER'] satisfies KubeconfigProblem[]).map((problem) => `TENURE_KUBECONFIG_${problem}`),
)

/** The kubeconfig of `npm start` in the working directory, if there is one. */
async function findLocal(options: LoadConfigOptions): Promise<string | undefined> {
  const { env = process.env, files = systemFiles } = options
  const path = resolve(options.localDirectory ?? (env['TENURE_DATA'] || '.tenure'), 'kubeconfig')
  return files.stamp(path).then(
    () => path,
    () => undefined,
  )
}

function sayOnStandardError(message: string): void {
  process.stderr.write(`${message}\n`)
}
