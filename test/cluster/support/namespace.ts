import type { KubeApi } from '@tenure/kube'
import { Namespace } from '@tenure/kube/kinds'

export interface TestNamespace {
  readonly name: string
  /** Does not wait for the end of the deletion, which takes the namespace controller a while. */
  remove(): Promise<void>
}

/** Creates a namespace with a new name per run, because the previous one may still be terminating. */
export async function createNamespace(api: KubeApi, prefix: string): Promise<TestNamespace> {
  const { metadata } = await api.create(Namespace, { metadata: { generateName: `${prefix}-` } })
  return {
    name: metadata.name,
    async remove() {
      await api.delete(Namespace, { name: metadata.name })
    },
  }
}
