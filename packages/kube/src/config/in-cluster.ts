import { kubeconfigError } from './kubeconfig/kubeconfig-error.ts'
import { asError } from '../errors/errors.ts'
import type { ConnectionConfig } from './connection-config.ts'
import type { Files } from './files.ts'

/** The mount point of a pod's service account. */
export const SERVICE_ACCOUNT_DIRECTORY = '/var/run/secrets/kubernetes.io/serviceaccount'

/** True if the environment names the API server of a pod. */
export function isInCluster(env: Readonly<Record<string, string | undefined>>): boolean {
  return Boolean(env['KUBERNETES_SERVICE_HOST'] && env['KUBERNETES_SERVICE_PORT'])
}

/** The connection of a pod with its service account. Token and authority stay files, because they are rotated. */
export async function inClusterConfig(
  env: Readonly<Record<string, string | undefined>>,
  files: Files,
  directory = SERVICE_ACCOUNT_DIRECTORY,
): Promise<ConnectionConfig> {
  const host = env['KUBERNETES_SERVICE_HOST']
  const port = env['KUBERNETES_SERVICE_PORT']
  if (!host || !port) {
    throw kubeconfigError(
      'IN_CLUSTER',
      'This process does not run in a Kubernetes pod (KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set): give it a kubeconfig instead.',
    )
  }
  const tokenFile = `${directory}/token`
  const caFile = `${directory}/ca.crt`
  for (const file of [tokenFile, caFile]) {
    try {
      await files.stamp(file)
    } catch (error) {
      throw kubeconfigError(
        'IN_CLUSTER',
        `The pod's service account is not mounted (${asError(error).message}): set automountServiceAccountToken to true for the pod and its service account.`,
        error,
      )
    }
  }
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    tls: { ca: { file: caFile } },
    credential: { kind: 'token-file', path: tokenFile },
    namespace: await podNamespace(env, files, `${directory}/namespace`),
    origin: "the pod's service account",
  }
}

async function podNamespace(
  env: Readonly<Record<string, string | undefined>>,
  files: Files,
  file: string,
): Promise<string> {
  if (env['POD_NAMESPACE']) return env['POD_NAMESPACE']
  // Custom projected volumes often have no namespace file; kubectl then uses "default" too.
  const text = await files.read(file).catch(() => '')
  return text.trim() || 'default'
}
