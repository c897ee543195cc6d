/** The members of a pool, as the API server shows them. */
import type { KubeApi, Stored } from '@tenure/kube'
import { ConfigMap, Pod } from '@tenure/kube/kinds'

import { stateOf } from './claim-history.ts'
import { until } from './until.ts'

export class PoolMembers {
  readonly #api: KubeApi
  readonly #namespace: string
  readonly #pool: string

  constructor(api: KubeApi, namespace: string, pool: string) {
    this.#api = api
    this.#namespace = namespace
    this.#pool = pool
  }

  /** All claims of the pool, claimed ones too. */
  async claims(): Promise<readonly Stored<ConfigMap>[]> {
    const labelSelector = `claim-controller.io/pool=${this.#pool}`
    const { items } = await this.#api.list(ConfigMap, { namespace: this.#namespace, labelSelector })
    return items
  }

  /** Waits until the pool has exactly this many idle members and all of them are ready; returns their names. */
  async whenFull(count: number, isRight: (pod: Pod) => boolean = () => true): Promise<readonly string[]> {
    let names: readonly string[] = []
    const isFull = async (): Promise<boolean> => {
      const idle = (await this.claims()).filter((claim) => stateOf(claim).isIdle)
      if (idle.length !== count || !idle.every((claim) => stateOf(claim).status === 'ready')) return false
      names = idle.map(({ metadata }) => metadata.name)
      const pods = await Promise.all(names.map((name) => this.pod(name)))
      return pods.every((pod) => pod !== undefined && isRight(pod))
    }
    await until(`the pool ${this.#pool} has ${count} members`, isFull)
    return names
  }

  /** The pod of a claim; undefined if there is none, or it is being deleted. */
  async pod(name: string): Promise<Stored<Pod> | undefined> {
    const fieldSelector = `metadata.name=${name}`
    const { items } = await this.#api.list(Pod, { namespace: this.#namespace, fieldSelector })
    return items.find(({ metadata }) => metadata.deletionTimestamp === undefined)
  }
}
