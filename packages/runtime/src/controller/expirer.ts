import { isNotFound, keyOf, type KubeObject, refOf, type Stored, TenureError, type Timer } from '@tenure/kube'
import { type Actions, remove } from '../actions/index.ts'
import { BatchedReads } from '../expiry/batched-reads.ts'
import { ClockJumps } from '../expiry/clock-jumps.ts'
import { DueTimes } from '../expiry/due-times.ts'
import type { ControllerDefinition } from './definition.ts'
import type { ObjectReconcile, ReconcilerContext } from './reconcile.ts'

/** Clocks that differ by less may well be equal: the server's time is in whole seconds and old when it arrives. */
const CLOCK_TOLERANCE_MS = 2_000
const MIN_RETRY_MS = 250

/** Knows when the objects of a controller expire, and decides what happens then. */
export class Expirer {
  readonly #context: ReconcilerContext
  readonly #expiresAt: NonNullable<ControllerDefinition['expiresAt']>
  readonly #expire: NonNullable<ControllerDefinition['expire']>
  readonly #reads: BatchedReads<KubeObject>
  readonly #dueTimes: DueTimes
  readonly #jumps: ClockJumps
  readonly #onDue: (key: string) => void
  /** Keys that are due by a wall clock that has jumped. */
  readonly #held = new Set<string>()
  /** Runs on the monotonic clock: the wall clock is the one in doubt. */
  #release: Timer | undefined

  constructor(
    definition: ControllerDefinition & Required<Pick<ControllerDefinition, 'expiresAt'>>,
    context: ReconcilerContext,
    onDue: (key: string) => void,
  ) {
    const { api, clock, kind, kinds, log } = context
    this.#context = context
    this.#expiresAt = (object) => definition.expiresAt(object)
    this.#expire = (reconcile) => definition.expire?.(reconcile) ?? [remove(kind, reconcile.object)]
    this.#jumps = ClockJumps.of(clock)
    this.#onDue = onDue
    const dueTimes = new DueTimes({ clock, onDue, onWake: () => this.#jumps.sample() })
    this.#dueTimes = dueTimes
    // Only a guess which objects are about to be read: `read` decides for each of them.
    const isExpired = ({ metadata }: Stored<KubeObject>): boolean => dueTimes.wasCalled(keyOf(metadata))
    this.#reads = new BatchedReads({ api, clock, log, kind, cache: kinds.primary.cache, isExpired })
  }

  /** Objects that have an expiry. */
  get size(): number {
    return this.#dueTimes.size
  }

  /** When the next object expires, in milliseconds since 1970; undefined if none does. */
  get next(): number | undefined {
    return this.#dueTimes.next()?.due
  }

  start(): void {
    this.#dueTimes.start()
  }

  stop(): void {
    this.#dueTimes.stop()
    this.#release?.cancel()
    this.#release = undefined
    this.#held.clear()
  }

  /** The object is new or changed. */
  observe(key: string, object: Stored<KubeObject>): void {
    const at = object.metadata.deletionTimestamp === undefined ? this.#expiresAt(object) : undefined
    if (at === undefined) this.#dueTimes.delete(key)
    else this.#dueTimes.set(key, at)
  }

  forget(key: string): void {
    this.#dueTimes.delete(key)
  }

  /** Whether the object, as cached, has expired by the process's clock. */
  isDue({ key, now, object }: ObjectReconcile): boolean {
    const at = this.#expiresAt(object)
    if (at === undefined) return false
    if (at <= now) return true
    this.#dueTimes.rearm(key, at)
    return false
  }

  /** Whether there is something to do for an expired object, as far as the cache shows. Asked before it is read. */
  hasWork(reconcile: ObjectReconcile): boolean {
    return this.#expire(reconcile).some(Boolean)
  }

  /**
   * Reads the object, and returns what to do if it has expired by both clocks. Undefined: nothing. If it changed, the
   * watch brings the change; if only the server's clock says that it is early, the reconcile is repeated.
   */
  async read(reconcile: ObjectReconcile): Promise<Actions | undefined> {
    const { clock } = this.#context
    const { key, signal } = reconcile
    if (this.#isHeld(key)) return undefined
    try {
      const { object, serverTime } = await this.#reads.read(refOf(key), { signal })
      const now = clock.now()
      const at = object.metadata.deletionTimestamp === undefined ? this.#expiresAt(object) : undefined
      if (at === undefined || at > now) return undefined
      if (serverTime === undefined) throw missingServerTime(this.#context.kind.kind, key)
      if (at > serverTime) {
        reconcile.requeueAfter(untilDue(at, serverTime, now))
        return undefined
      }
      // The clock may have jumped during the read.
      if (this.#isHeld(key)) return undefined
      reconcile.useLive(object, serverTime)
      return this.#expire(reconcile)
    } catch (error) {
      if (isNotFound(error)) return undefined
      throw error
    }
  }

  /** Whether an expiry waits because the wall clock has jumped. It is repeated once the clock is trusted again. */
  #isHeld(key: string): boolean {
    const time = this.#jumps.heldFor()
    if (time === 0) return false
    if (this.#held.size === 0)
      this.#context.log.warn('the clock has jumped, holding deletions', { milliseconds: Math.round(time) })
    this.#held.add(key)
    this.#release ??= this.#context.clock.setTimer(time, () => this.#releaseHeld())
    return true
  }

  #releaseHeld(): void {
    this.#release = undefined
    const keys = [...this.#held]
    this.#held.clear()
    // A key whose time has not come by now is armed again by its reconcile.
    for (const key of keys) this.#onDue(key)
  }
}

/** Milliseconds until the server's clock says due, too. */
function untilDue(at: number, serverTime: number, now: number): number {
  if (now - serverTime >= CLOCK_TOLERANCE_MS) return at - serverTime
  // The Date header says so at the next full second; our clock may be slightly ahead, so the read comes shortly after.
  return Math.max(Math.ceil(at / 1_000) * 1_000 - now, MIN_RETRY_MS)
}

function missingServerTime(kind: string, key: string): TenureError {
  return new TenureError(
    'TENURE_EXPIRY_NO_SERVER_TIME',
    `${kind} ${key} has expired by this process's clock, but the API server's answer has no Date header to confirm it. ` +
      'Let the proxy in front of it pass that header on.',
    { fate: 'retry' },
  )
}
