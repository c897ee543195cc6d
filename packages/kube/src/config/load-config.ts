import { homedir } from 'node:os'
import { chooseContext } from './kubeconfig/choose-context.ts'
import { systemFiles } from './files.ts'
import { inClusterConfig, isInCluster } from './in-cluster.ts'
import { kubeconfigPaths, readKubeconfigs } from './kubeconfig/kubeconfig.ts'
import { kubeconfigError } from './kubeconfig/kubeconfig-error.ts'
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
  /** The mount point of the service account. Default: that of Kubernetes. */
  readonly serviceAccountDirectory?: string
}

/**
 * Finds the API server. The first that applies: the requested kubeconfig, the list in `KUBECONFIG`, the pod's service
 * account, `~/.kube/config`.
 */
export async function loadConfig(options: LoadConfigOptions = {}): Promise<ConnectionConfig> {
  const env = options.env ?? process.env
  const files = options.files ?? systemFiles
  const named = Boolean(options.kubeconfigPath || options.context || env['KUBECONFIG'])
  if (options.inCluster ?? (!named && isInCluster(env))) {
    return inClusterConfig(env, files, options.serviceAccountDirectory)
  }
  const where = kubeconfigPaths(env, options.home ?? homedir(), options.kubeconfigPath)
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
