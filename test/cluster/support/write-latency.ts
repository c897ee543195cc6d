import { setTimeout as pause } from 'node:timers/promises'

import { type KubeApi, mergePatch } from '@tenure/kube'
import { ConfigMap } from '@tenure/kube/kinds'

const INTERVAL_MS = 100

/** Measures how long bare writes take, so that a test can tell a slow operator from a slow machine. */
export class WriteLatency {
  /** Milliseconds of the slowest write so far. */
  max = 0
  readonly #end = new AbortController()
  readonly #work: Promise<void>

  private constructor(api: KubeApi, namespace: string) {
    this.#work = this.#measure(api, { name: 'write-latency', namespace })
  }

  static async open(api: KubeApi, namespace: string): Promise<WriteLatency> {
    await api.create(ConfigMap, { metadata: { name: 'write-latency', namespace } })
    return new WriteLatency(api, namespace)
  }

  async close(): Promise<void> {
    this.#end.abort()
    await this.#work
  }

  async #measure(api: KubeApi, ref: { readonly name: string; readonly namespace: string }): Promise<void> {
    for (let turn = 0; !this.#end.signal.aborted; turn++) {
      const started = performance.now()
      await api.patch(ConfigMap, ref, mergePatch({ data: { turn: String(turn) } }))
      this.max = Math.max(this.max, performance.now() - started)
      await pause(INTERVAL_MS)
    }
  }
}
