import { isConflict, isNotFound, type Stored } from '@tenure/kube'
import { ConfigMap } from '@tenure/kube/kinds'
import { type Component, type OperatorContext, QueueWorker } from '@tenure/runtime'
import { claimRef } from '../api/claim.ts'
import { ANNOTATIONS } from '../api/names.ts'

/** A claim that no caller will get. */
interface Abandoned {
  readonly id: string
  /** Known if the response of the write arrived. */
  readonly uid: string | undefined
  /** Of the hand-out: the write may have failed, and then the claim is another's. */
  readonly nonce: string
}

/**
 * Removes claims that no caller will get: the caller has disconnected, the wait was too long, or a write has no known
 * outcome. It tries until the claim is gone; the claim's own expiry is the last resort.
 */
export class AbandonedClaims implements Component {
  readonly name = 'abandoned claims'
  readonly #context: Pick<OperatorContext, 'api'>
  readonly #namespace: string
  readonly #worker: QueueWorker
  readonly #claims = new Map<string, Abandoned>()

  constructor(context: OperatorContext, namespace: string) {
    const { clock, log, metrics } = context
    this.#context = context
    this.#namespace = namespace
    this.#worker = new QueueWorker({
      name: 'abandoned-claims',
      clock,
      log,
      metrics,
      work: (key, { signal }) => this.#remove(key, signal),
    })
  }

  start(): Promise<void> {
    return this.#worker.start()
  }

  stop(grace: number): Promise<void> {
    return this.#worker.stop(grace)
  }

  /** A claim that was created or handed out for a caller that has left. */
  add(id: string, object: Stored<ConfigMap>, nonce: string): void {
    this.#add({ id, uid: object.metadata.uid, nonce })
  }

  /** A claim whose creation or hand-out has no known outcome. */
  addUncertain(id: string, nonce: string): void {
    this.#add({ id, uid: undefined, nonce })
  }

  #add(abandoned: Abandoned): void {
    this.#claims.set(abandoned.nonce, abandoned)
    this.#worker.add(abandoned.nonce)
  }

  async #remove(key: string, signal: AbortSignal): Promise<void> {
    const abandoned = this.#claims.get(key)
    if (!abandoned) return
    const ref = claimRef(this.#namespace, abandoned.id)
    const { api } = this.#context
    try {
      let { uid } = abandoned
      if (uid === undefined) {
        const { metadata } = await api.get(ConfigMap, ref, { signal })
        // The hand-out did not happen: the claim sits in the pool, or another caller has it.
        if (metadata.annotations?.[ANNOTATIONS.handOut] !== abandoned.nonce) return void this.#claims.delete(key)
        uid = metadata.uid
      }
      await api.delete(ConfigMap, ref, { preconditions: { uid }, propagation: 'Background', signal })
    } catch (error) {
      // A conflict: another object has the name now.
      if (!isNotFound(error) && !isConflict(error)) throw error
    }
    this.#claims.delete(key)
  }
}
