import type { KubeApi, Random, Stored } from '@tenure/kube'
import { isAlreadyExists, isNotFound, keyOf, mergePatch, TenureError } from '@tenure/kube'
import { ConfigMap } from '@tenure/kube/kinds'
import { seededRandom } from '@tenure/kube/testing'

const WRITERS = 3
const NAMES_EACH = 5
/** Deletions per ten changes of an existing object. */
const DELETIONS = 2

/**
 * Writers that create, change and delete ConfigMaps continuously, even while the server fails. Each writer has its own
 * names.
 */
export class Churn {
  /** `namespace/name@resourceVersion` of every confirmed write. */
  readonly written: string[] = []
  /** Number of writes without a response or with an unexpected one. */
  failures = 0
  readonly #api: KubeApi
  readonly #namespace: string
  readonly #abort = new AbortController()
  readonly #random: Random = seededRandom(7)
  readonly #runs: readonly Promise<void>[]

  constructor(api: KubeApi, namespace: string) {
    this.#api = api
    this.#namespace = namespace
    this.#runs = Array.from({ length: WRITERS }, (_, index) => this.#run(`writer-${index}`))
  }

  async stop(): Promise<void> {
    this.#abort.abort()
    await Promise.all(this.#runs)
  }

  async #run(writer: string): Promise<void> {
    const existing = new Set<string>()
    for (let turn = 0; !this.#abort.signal.aborted; turn++) {
      const name = `${writer}-${Math.floor(this.#random.fraction() * NAMES_EACH)}`
      try {
        await this.#change(name, String(turn), existing)
      } catch (error) {
        if (this.#abort.signal.aborted) return
        if (!(error instanceof TenureError)) throw error
        if (isAlreadyExists(error)) existing.add(name)
        else if (isNotFound(error)) existing.delete(name)
        else this.failures++
      }
    }
  }

  async #change(name: string, turn: string, existing: Set<string>): Promise<void> {
    const { signal } = this.#abort
    const ref = { name, namespace: this.#namespace }
    if (!existing.has(name)) {
      this.#note(await this.#api.create(ConfigMap, { metadata: ref, data: { turn } }, { signal }))
      existing.add(name)
    } else if (this.#random.fraction() * 10 < DELETIONS) {
      await this.#api.delete(ConfigMap, ref, { signal })
      existing.delete(name)
    } else {
      this.#note(await this.#api.patch(ConfigMap, ref, mergePatch({ data: { turn } }), { signal }))
    }
  }

  #note({ metadata }: Stored<ConfigMap>): void {
    this.written.push(`${keyOf(metadata)}@${metadata.resourceVersion}`)
  }
}
