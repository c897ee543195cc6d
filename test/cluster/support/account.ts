/** Kubeconfigs of ServiceAccounts: programs of a test use the API server as their pods would. */
import { writeFile } from 'node:fs/promises'

import type { ClusterAccess } from '../access.ts'

export interface Account {
  readonly namespace: string
  readonly name: string
}

/** Asks the API server for a token of a ServiceAccount. */
export async function tokenOf({ kubectl }: Pick<ClusterAccess, 'kubectl'>, account: Account): Promise<string> {
  return (await kubectl(['-n', account.namespace, 'create', 'token', account.name, '--duration=1h'])).trim()
}

/** Writes a kubeconfig with a token of a ServiceAccount and its namespace, and returns its path. */
export async function writeAccountKubeconfig(
  cluster: Pick<ClusterAccess, 'kubectl'>,
  account: Account,
  file: string,
): Promise<string> {
  const view = await cluster.kubectl(['config', 'view', '--raw', '--minify', '--flatten', '-o', 'json'])
  const { clusters } = JSON.parse(view) as { readonly clusters: readonly { readonly name: string }[] }
  const { name, namespace } = account
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters,
    users: [{ name, user: { token: await tokenOf(cluster, account) } }],
    contexts: [{ name, context: { cluster: clusters[0]?.name, user: name, namespace } }],
    'current-context': name,
  }
  await writeFile(file, JSON.stringify(config), { mode: 0o600 })
  return file
}
