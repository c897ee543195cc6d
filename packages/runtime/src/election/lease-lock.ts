import type { Clock, KubeApi, ObjectRef, Stored } from '@tenure/kube'
import { abortReason, isConflict, isNotFound } from '@tenure/kube'
import { microTime } from '../time/micro-time.ts'
import type { ElectionLease, LeaseSpec } from './lease.ts'
import { electionLease, renewTimeAfter } from './lease.ts'

export interface LeaseLockOptions {
  readonly api: KubeApi
  readonly clock: Clock
  readonly ref: ObjectRef
  readonly identity: string
  /** Milliseconds. */
  readonly leaseDuration: number
  /** Whether the process of an identity has ended, and certainly not only lost its connection. */
  readonly isEnded: (identity: string) => boolean
  /** Called when an optimistic renewal failed and the lease is read first. */
  readonly onSlowPath: (error: unknown) => void
  readonly onHolder: (identity: string) => void
}

/** The Lease as one candidate observes and writes it. All decisions use this process' own monotonic clock. */
export class LeaseLock {
  readonly #options: LeaseLockOptions
  #lease: Stored<ElectionLease> | undefined
  /** Monotonic time at which the current version of the lease was first observed. */
  #observedAt = 0
  /** A write was sent and its response was lost. */
  #unsure = false

  constructor(options: LeaseLockOptions) {
    this.#options = options
  }

  /** As last observed. */
  get spec(): LeaseSpec | undefined {
    return this.#lease?.spec
  }

  /** The holder as last observed; undefined if there is none. */
  get holder(): string | undefined {
    return this.#lease?.spec?.holderIdentity || undefined
  }

  get heldByOther(): boolean {
    return this.holder !== undefined && this.holder !== this.#options.identity
  }

  /** Milliseconds until the lease as last observed expires; negative if it has. */
  get untilExpiry(): number {
    const seconds = this.#lease?.spec?.leaseDurationSeconds
    // A holder without a duration gets the duration that this process would use.
    const duration = seconds ? seconds * 1_000 : this.#options.leaseDuration
    return this.#observedAt + duration - this.#options.clock.monotonic()
  }

  /** Acquires the lease, or renews it if this process holds it; false if another does. `leading`: a term is running. */
  async hold(leading: boolean, signal: AbortSignal): Promise<boolean> {
    if (leading && this.#lease && this.holder === this.#options.identity) {
      // The leader knows what it wrote last and does not need to read it again.
      try {
        await this.#update(this.#lease, this.#held(this.#lease.spec), signal)
        return true
      } catch (error) {
        if (signal.aborted) throw error
        this.#options.onSlowPath(error)
      }
    }
    const stored = await this.#read(signal)
    // Deleting the lease does not end its holder's term: the last observed version counts. A leader that finds another
    // holder does not take the lease back within the same term.
    if (this.heldByOther && (leading || (this.untilExpiry > 0 && !this.#options.isEnded(this.holder ?? ''))))
      return false
    if (stored) await this.#update(stored, this.#held(stored.spec), signal)
    else await this.#create(signal)
    return true
  }

  /** Clears the holder if it is this process. */
  async release(signal: AbortSignal): Promise<void> {
    if (this.#unsure) await this.#read(signal)
    for (let attempt = 1; this.#lease && this.holder === this.#options.identity; attempt++) {
      const now = microTime(this.#options.clock.now())
      const spec = {
        ...this.#lease.spec,
        holderIdentity: '',
        leaseDurationSeconds: 1,
        acquireTime: now,
        renewTime: now,
      }
      try {
        await this.#update(this.#lease, spec, signal)
      } catch (error) {
        if (!isConflict(error) || attempt === 3) throw error
        // A renewal that seemed to fail was carried out after all.
        await this.#read(signal)
      }
    }
  }

  /** The spec of a lease held by this process and renewed now. */
  #held(before: LeaseSpec | undefined): LeaseSpec {
    const { clock, identity, leaseDuration } = this.#options
    const now = renewTimeAfter(before?.renewTime, clock.now())
    const ours = before?.holderIdentity === identity
    return {
      ...before,
      holderIdentity: identity,
      leaseDurationSeconds: leaseDuration / 1_000,
      acquireTime: ours && before.acquireTime ? before.acquireTime : now,
      renewTime: now,
      leaseTransitions: before ? (before.leaseTransitions ?? 0) + (ours ? 0 : 1) : 0,
    }
  }

  async #read(signal: AbortSignal): Promise<Stored<ElectionLease> | undefined> {
    try {
      const stored = await within(this.#options.api.get(electionLease, this.#options.ref, { signal }), signal)
      this.#unsure = false
      this.#observe(stored)
      return stored
    } catch (error) {
      if (!isNotFound(error)) throw error
      return undefined
    }
  }

  async #update(stored: Stored<ElectionLease>, spec: LeaseSpec, signal: AbortSignal): Promise<void> {
    // The resourceVersion of the last read turns a concurrent write into a 409.
    await this.#write(this.#options.api.update(electionLease, { ...stored, spec }, { signal }), signal)
  }

  async #create(signal: AbortSignal): Promise<void> {
    const { api, ref } = this.#options
    const metadata = { name: ref.name, ...(ref.namespace && { namespace: ref.namespace }) }
    await this.#write(api.create(electionLease, { metadata, spec: this.#held(undefined) }, { signal }), signal)
  }

  async #write(request: Promise<Stored<ElectionLease>>, signal: AbortSignal): Promise<void> {
    this.#unsure = true
    const stored = await within(request, signal)
    this.#unsure = false
    this.#observe(stored)
  }

  #observe(lease: Stored<ElectionLease>): void {
    const before = this.#lease
    const holder = this.holder
    this.#lease = lease
    // Any write counts as a sign of life. Comparing the times in the spec would trust the holder's wall clock.
    const { uid, resourceVersion } = lease.metadata
    if (before?.metadata.uid === uid && before.metadata.resourceVersion === resourceVersion) return
    this.#observedAt = this.#options.clock.monotonic()
    if (this.holder !== undefined && this.holder !== holder) this.#options.onHolder(this.holder)
  }
}

/** The promise's outcome, or the signal's reason as soon as it aborts, even if the callee ignores the signal. */
function within<R>(promise: Promise<R>, signal: AbortSignal): Promise<R> {
  return new Promise<R>((resolve, reject) => {
    const onAbort = (): void => reject(abortReason(signal))
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    // oxlint-disable-next-line promise/prefer-await-to-then -- the late outcome of an abandoned call must be handled and dropped
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}
