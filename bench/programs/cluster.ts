import type { KubeObject } from '@tenure/kube'
import { Client, HttpTransport, defineKind, loadConfig } from '@tenure/kube'

export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
}

export const ConfigMap = defineKind<ConfigMap>({ apiVersion: 'v1', kind: 'ConfigMap' })

export interface Cluster {
  readonly transport: HttpTransport
  readonly client: Client
}

export async function connect(kubeconfig: string): Promise<Cluster> {
  const transport = new HttpTransport(await loadConfig({ kubeconfigPath: kubeconfig }))
  return { transport, client: new Client({ transport, fieldManager: 'bench' }) }
}

/** Calls `work` with 0 to count - 1, `concurrency` calls at a time. */
export async function inParallel(
  count: number,
  concurrency: number,
  work: (index: number) => Promise<unknown>,
): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) await work(index)
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
}
