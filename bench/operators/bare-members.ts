import { mergePatch } from '@tenure/kube'
import type { Client, Stored } from '@tenure/kube'
import { ConfigMap, inParallel } from '../programs/cluster.ts'

const CREATES_AT_ONCE = 16
const PREFIX = 'claim-controller.io'

export interface BareMembersOptions {
  readonly namespace: string
  /** Of the names. */
  readonly prefix: string
  readonly count: number
  /** A member of a pool, whose content is copied. Default: the first claim of the namespace. */
  readonly like?: Stored<ConfigMap>
}

/** ConfigMaps with the content of a claim in the pool, which no controller watches: for hand-outs without an operator. */
export class BareMembers {
  readonly #client: Client
  readonly #members: readonly Stored<ConfigMap>[]

  private constructor(client: Client, members: readonly Stored<ConfigMap>[]) {
    this.#client = client
    this.#members = members
  }

  static async create(client: Client, options: BareMembersOptions): Promise<BareMembers> {
    const { namespace, prefix, count } = options
    const { data = {}, metadata } = options.like ?? (await anyMember(client, namespace))
    const members: Stored<ConfigMap>[] = []
    await inParallel(count, CREATES_AT_ONCE, async (index) => {
      const name = `${prefix}-${index}`
      const annotations = metadata.annotations ?? {}
      members[index] = await client.create(ConfigMap, { metadata: { name, namespace, annotations }, data })
    })
    return new BareMembers(client, members)
  }

  /** The write of a hand-out: conditional, with the same annotations. */
  async handOut(index: number): Promise<void> {
    const member = this.#members[index]
    if (!member) throw new Error(`There is no bare member ${index}`)
    const { uid, resourceVersion } = member.metadata
    const now = new Date().toISOString()
    const annotations = {
      [`${PREFIX}/claimed-at`]: now,
      [`${PREFIX}/expires-at`]: now,
      [`${PREFIX}/hand-out`]: 'abcdefghijklmnop',
    }
    await this.#client.patch(
      ConfigMap,
      member.metadata,
      mergePatch({ metadata: { uid, resourceVersion, annotations } }),
    )
  }

  /** Hands all out, `concurrency` at a time. Returns milliseconds. */
  async handOutAll(concurrency: number): Promise<number> {
    const began = performance.now()
    await inParallel(this.#members.length, concurrency, (index) => this.handOut(index))
    return performance.now() - began
  }
}

/** The first claim of a namespace. */
export async function anyMember(client: Client, namespace: string): Promise<Stored<ConfigMap>> {
  const { items } = await client.list(ConfigMap, { namespace, labelSelector: `${PREFIX}/claim.id`, limit: 1 })
  const [member] = items
  if (!member) throw new Error(`There is no claim in ${namespace}`)
  return member
}
