import { mergePatch } from '@tenure/kube'
import type { Client, Stored } from '@tenure/kube'
import { ConfigMap, inParallel } from '../programs/cluster.ts'

const CREATES_AT_ONCE = 16
const PREFIX = 'claim-controller.io'
/** Of all bare members. */
const LABELS = { bench: 'bare' }

export interface BareMembersOptions {
  readonly namespace: string
  /** Of the names. */
  readonly prefix: string
  readonly count: number
  /** A member of a pool, whose content is copied. Default: the first claim of the namespace. */
  readonly like?: Stored<ConfigMap>
}

/** ConfigMaps with the content of a claim in the pool, which no controller owns: for hand-outs without an operator. */
export class BareMembers {
  readonly #client: Client
  readonly #members: readonly Stored<ConfigMap>[]
  #next = 0

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
      members[index] = await client.create(ConfigMap, {
        metadata: { name, namespace, annotations, labels: LABELS },
        data,
      })
    })
    return new BareMembers(client, members)
  }

  /** The write of a hand-out: conditional, with the same annotations. The newest state is that of `view`, if it has one. */
  async handOut(index: number, view?: BareView): Promise<void> {
    const created = this.#members[index]
    const member = created && (view?.get(created.metadata.name) ?? created)
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
  handOutAll(concurrency: number): Promise<number> {
    return this.handOutNext(this.#members.length, concurrency)
  }

  /** Hands out the next `count`, `concurrency` at a time. Returns milliseconds. */
  async handOutNext(count: number, concurrency: number): Promise<number> {
    const first = this.#next
    this.#next += count
    const began = performance.now()
    await inParallel(count, concurrency, (index) => this.handOut(first + index))
    return performance.now() - began
  }
}

/** The newest state of each bare member, by name. */
export type BareView = ReadonlyMap<string, Stored<ConfigMap>>

/** Keeps the state of all bare members by a watch, until `signal` aborts: without it no program knows which are ready. */
export async function watchBareMembers(client: Client, namespace: string, signal: AbortSignal): Promise<BareView> {
  const view = new Map<string, Stored<ConfigMap>>()
  const labelSelector = Object.entries(LABELS)
    .map(([key, value]) => `${key}=${value}`)
    .join()
  const open = Promise.withResolvers<void>()
  const follow = async (): Promise<void> => {
    const watch = client.watch(ConfigMap, { namespace, labelSelector, signal, onOpen: () => open.resolve() })
    for await (const events of watch) {
      for (const event of events) {
        if (event.type === 'DELETED') view.delete(event.object.metadata.name)
        else if (event.type !== 'BOOKMARK') view.set(event.object.metadata.name, event.object)
      }
    }
  }
  follow().catch((error: unknown) => {
    if (!signal.aborted) console.error('The watch of the bare members has ended', error)
    open.reject(error)
  })
  await open.promise
  return view
}

/** The first claim of a namespace. */
export async function anyMember(client: Client, namespace: string): Promise<Stored<ConfigMap>> {
  const { items } = await client.list(ConfigMap, { namespace, labelSelector: `${PREFIX}/claim.id`, limit: 1 })
  const [member] = items
  if (!member) throw new Error(`There is no claim in ${namespace}`)
  return member
}
