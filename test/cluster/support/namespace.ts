import type { KubeApi } from '@tenure/kube'
import { Namespace } from '@tenure/kube/kinds'

export interface TestNamespace {
  readonly name: string
  /** Does not wait until it is gone: that takes the namespace controller a while. */
  remove(): Promise<void>
}

/** A namespace of its own for each run: the last run's may still be on its way out. */
export async function createNamespace(api: KubeApi, prefix: string): Promise<TestNamespace> {
  const { metadata } = await api.create(Namespace, { metadata: { generateName: `${prefix}-` } })
  return {
    name: metadata.name,
    async remove() {
      await api.delete(Namespace, { name: metadata.name })
    },
  }
}
