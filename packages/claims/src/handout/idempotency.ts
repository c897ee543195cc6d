import { createHash, createHmac } from 'node:crypto'
import {
  abortReason,
  isAlreadyExists,
  isConflict,
  isNotFound,
  type KubeApi,
  mergePatch,
  type Stored,
} from '@tenure/kube'
import { ConfigMap } from '@tenure/kube/kinds'
import { childLabels, ownerReference } from '../api/children.ts'
import { type Claim, claimOf, claimRef } from '../api/claim.ts'
import { claimName } from '../api/id.ts'
import { ANNOTATIONS } from '../api/names.ts'
import { ClaimFailure } from './errors.ts'
import { isUncertain, orUndefined } from './uncertain-writes.ts'

const RECORD_PREFIX = 'claim-key-'
/** 160 bits of the hash of a key. */
const HASH_LENGTH = 40

/** A key, and what it was used for. Neither the key nor the request can be read from it. */
export interface KeyedRequest {
  readonly hash: string
  /** Equal for equal requests. */
  readonly fingerprint: string
}

export function keyedRequest(key: string, request: string): KeyedRequest {
  return {
    hash: createHash('sha256').update(key).digest('hex').slice(0, HASH_LENGTH),
    fingerprint: createHmac('sha256', key).update(request).digest('hex').slice(0, HASH_LENGTH),
  }
}

/** The value of the claim's annotation. */
export function annotationOf({ hash, fingerprint }: KeyedRequest): string {
  return `${hash}.${fingerprint}`
}

/** Calls of this process with one key. They share one claim, which is given up when all callers have left. */
interface SharedCall<T> {
  readonly fingerprint: string
  readonly result: Promise<T>
  readonly abort: AbortController
  callers: number
}

/**
 * The same key gives the same claim, from any replica, while the claim lives. A ConfigMap named after the key, which the
 * claim owns, says which claim that is: of replicas that use the key at the same time, the first to create it decides.
 */
export class IdempotentCalls<T> {
  readonly #api: KubeApi
  readonly #namespace: string
  readonly #calls = new Map<string, SharedCall<T>>()

  constructor(api: KubeApi, namespace: string) {
    this.#api = api
    this.#namespace = namespace
  }

  /** Runs a call, or waits for the one with the same key that runs already. `work` gets the signal of all callers. */
  async share(key: KeyedRequest, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    let call = this.#calls.get(key.hash)
    if (call && call.fingerprint !== key.fingerprint) throw keyReused()
    if (!call) {
      const abort = new AbortController()
      call = { fingerprint: key.fingerprint, result: work(abort.signal), abort, callers: 0 }
      this.#calls.set(key.hash, call)
      const started = call
      const end = (): void => this.#end(key, started)
      call.result.then(end, end)
    }
    return await this.#join(key, call, signal)
  }

  #join(key: KeyedRequest, call: SharedCall<T>, signal: AbortSignal): Promise<T> {
    call.callers++
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        if (--call.callers === 0) {
          // The next call with this key must not wait for one that is being given up.
          this.#end(key, call)
          call.abort.abort(abortReason(signal))
        }
        reject(abortReason(signal))
      }
      if (signal.aborted) return onAbort()
      signal.addEventListener('abort', onAbort, { once: true })
      call.result.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
    })
  }

  #end({ hash }: KeyedRequest, call: SharedCall<T>): void {
    if (this.#calls.get(hash) === call) this.#calls.delete(hash)
  }

  /** The claim that was taken with this key before; undefined if there is none. Rejects with a 409 if the request differs. */
  async find(key: KeyedRequest, signal: AbortSignal): Promise<Claim | undefined> {
    const record = await orUndefined(this.#api.get(ConfigMap, this.#ref(key), { signal }))
    if (!record) return undefined
    const { id = '' } = record.data ?? {}
    const claim = id && (await orUndefined(this.#api.get(ConfigMap, claimRef(this.#namespace, id), { signal })))
    const found = claim ? claimOf(claim) : undefined
    if (found && !found.isTerminating && found.object.metadata.uid === ownerOf(record)) {
      if (found.idempotencyKey !== annotationOf(key)) throw keyReused()
      return found
    }
    // The claim is gone, and the garbage collector has not removed the record yet.
    await this.#removeRecord(record, signal)
    return undefined
  }

  async #removeRecord({ metadata }: Stored<ConfigMap>, signal: AbortSignal): Promise<void> {
    try {
      await this.#api.delete(ConfigMap, metadata, { preconditions: { uid: metadata.uid }, signal })
    } catch (error) {
      // A conflict: another call has made a record of this key already.
      if (!isNotFound(error) && !isConflict(error)) throw error
    }
  }

  /**
   * Takes over the claim of an earlier call by one conditional write: from then on that call does not remove it, if it is
   * being given up in this moment. Undefined: the claim has changed or is gone; find it again.
   */
  async takeOver({ object }: Claim, nonce: string, signal: AbortSignal): Promise<Stored<ConfigMap> | undefined> {
    const { resourceVersion, uid } = object.metadata
    const patch = mergePatch({ metadata: { uid, resourceVersion, annotations: { [ANNOTATIONS.handOut]: nonce } } })
    try {
      return await this.#api.patch(ConfigMap, object.metadata, patch, { signal })
    } catch (error) {
      if (isConflict(error) || isNotFound(error)) return undefined
      if (!isUncertain(error, signal)) throw error
      const stored = await orUndefined(this.#api.get(ConfigMap, object.metadata, { signal }))
      return stored && claimOf(stored)?.handOut === nonce ? stored : undefined
    }
  }

  /** Records the claim of a key. Resolves with false if another replica has recorded one. */
  async record(key: KeyedRequest, claim: Stored<ConfigMap>, id: string, signal: AbortSignal): Promise<boolean> {
    const labels = childLabels(claimName(id))
    const metadata = { ...this.#ref(key), labels, ownerReferences: [ownerReference(claim)] }
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#api.create(ConfigMap, { metadata, data: { id } }, { signal })
        return true
      } catch (error) {
        if (!isAlreadyExists(error) && !isUncertain(error, signal)) throw error
        const record = await orUndefined(this.#api.get(ConfigMap, this.#ref(key), { signal }))
        if (record) return ownerOf(record) === claim.metadata.uid
        if (attempt > 1) throw error
      }
    }
  }

  #ref({ hash }: KeyedRequest) {
    return { name: `${RECORD_PREFIX}${hash}`, namespace: this.#namespace }
  }
}

function ownerOf({ metadata }: Stored<ConfigMap>): string | undefined {
  return metadata.ownerReferences?.[0]?.uid
}

function keyReused(): ClaimFailure {
  return new ClaimFailure('TENURE_CLAIM_KEY_REUSED', 409, 'Idempotency-Key was used with another request')
}
