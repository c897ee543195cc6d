import { createHash, createHmac } from 'node:crypto'
import { abortReason, isAlreadyExists, isNotFound, type KubeApi, type Stored } from '@tenure/kube'
import { ConfigMap } from '@tenure/kube/kinds'
import { childLabels, type Claim, claimOf, claimRef } from '../api/claim.ts'
import { claimName } from '../api/id.ts'
import type { ClaimView } from './claim-view.ts'
import { ClaimFailure } from './errors.ts'

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

export interface IdempotencyContext {
  readonly api: KubeApi
  readonly view: ClaimView
  readonly namespace: string
}

/** Calls of this process with one key. They share one claim, which is given up when all callers have left. */
interface SharedCall<T> {
  readonly fingerprint: string
  readonly result: Promise<T>
  readonly abort: AbortController
  callers: number
}

/**
 * The same key gives the same claim, from any replica, while the claim lives. The claim carries the key; a ConfigMap named
 * after the key, which the claim owns, decides between replicas that used the key at the same time.
 */
export class IdempotentCalls<T> {
  readonly #context: IdempotencyContext
  readonly #calls = new Map<string, SharedCall<T>>()

  constructor(context: IdempotencyContext) {
    this.#context = context
  }

  /** Runs a call, or waits for the one with the same key that runs already. `work` gets the signal of all callers. */
  async share(key: KeyedRequest, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    let call = this.#calls.get(key.hash)
    if (call && call.fingerprint !== key.fingerprint) throw keyReused()
    if (!call) {
      const abort = new AbortController()
      call = { fingerprint: key.fingerprint, result: work(abort.signal), abort, callers: 0 }
      this.#calls.set(key.hash, call)
      const end = (): void => void this.#calls.delete(key.hash)
      call.result.then(end, end)
    }
    return await this.#join(call, signal)
  }

  #join(call: SharedCall<T>, signal: AbortSignal): Promise<T> {
    call.callers++
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        if (--call.callers === 0) call.abort.abort(abortReason(signal))
        reject(abortReason(signal))
      }
      if (signal.aborted) return onAbort()
      signal.addEventListener('abort', onAbort, { once: true })
      call.result.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
    })
  }

  /** The claim that was taken with this key before; undefined if there is none. Rejects with a 409 if the request differs. */
  async find(key: KeyedRequest, signal: AbortSignal): Promise<Claim | undefined> {
    const { api, namespace, view } = this.#context
    const shown = view.withIdempotencyKey(key.hash)
    if (shown) return checked(shown, key)
    const record = await orUndefined(api.get(ConfigMap, this.#ref(key), { signal }))
    if (!record) return undefined
    const { id = '' } = record.data ?? {}
    const claim = id && (await orUndefined(api.get(ConfigMap, claimRef(namespace, id), { signal })))
    const found = claim ? claimOf(claim) : undefined
    if (found && !found.isTerminating && found.object.metadata.uid === ownerOf(record)) return checked(found, key)
    // The claim is gone, and the garbage collector has not removed the record yet.
    const { uid } = record.metadata
    await orUndefined(api.delete(ConfigMap, this.#ref(key), { preconditions: { uid }, signal }))
    return undefined
  }

  /** Records the claim of a key. Resolves with false if another replica has recorded one. */
  async record(key: KeyedRequest, claim: Stored<ConfigMap>, id: string, signal: AbortSignal): Promise<boolean> {
    const { api } = this.#context
    const { name, uid } = claim.metadata
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name, uid, controller: true, blockOwnerDeletion: true }
    try {
      await api.create(
        ConfigMap,
        {
          metadata: { ...this.#ref(key), labels: childLabels(claimName(id)), ownerReferences: [owner] },
          data: { id, fingerprint: key.fingerprint },
        },
        { signal },
      )
      return true
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
      const record = await orUndefined(api.get(ConfigMap, this.#ref(key), { signal }))
      return record !== undefined && ownerOf(record) === uid
    }
  }

  #ref({ hash }: KeyedRequest) {
    return { name: `${RECORD_PREFIX}${hash}`, namespace: this.#context.namespace }
  }
}

function checked(claim: Claim, key: KeyedRequest): Claim {
  if (claim.idempotencyKey !== annotationOf(key)) throw keyReused()
  return claim
}

function ownerOf({ metadata }: Stored<ConfigMap>): string | undefined {
  return metadata.ownerReferences?.[0]?.uid
}

function keyReused(): ClaimFailure {
  return new ClaimFailure('TENURE_CLAIM_KEY_REUSED', 409, 'Idempotency-Key was used with another request')
}

async function orUndefined<R>(request: Promise<R>): Promise<R | undefined> {
  try {
    return await request
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}
