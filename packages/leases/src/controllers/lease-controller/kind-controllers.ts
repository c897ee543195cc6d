import { asError, type Clock, jitter, type Kind, type Random, type Timer } from '@tenure/kube'
import type { Component, Logger } from '@tenure/runtime'
import type { LeaseSettings } from '../../api/types.ts'
import type { KindController, KindControllerOptions } from '../lease/kind-controller.ts'
import type { LeaseReport } from './report.ts'

/** Somebody's wish that the leases of a kind be kept in this process. */
export interface Claim {
  /** Who wishes: the name of a LeaseController. It has one wish at a time. */
  readonly claimant: string
  /** Of several who wish for the same kind, the one with the lowest decides how it is done. */
  readonly rank: string
  readonly kind: Kind
  readonly settings: LeaseSettings
}

/** How a claimant's wish is being met. */
export interface Kept extends LeaseReport {
  readonly isStarted: boolean
  /** Whose settings count. */
  readonly decidedBy: string
}

export interface KindControllersOptions {
  readonly create: (options: KindControllerOptions) => KindController
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

/** Milliseconds that a keeper gets to finish what runs when its settings change or nobody wants it any more. */
const GRACE = 5_000
const FIRST_RETRY = 1_000
const LAST_RETRY = 60_000

/**
 * The keepers of this process: one per resource, however many ask for it and in whichever version, started, changed
 * and stopped as the wishes change.
 */
export class KindControllers implements Component {
  readonly name = 'lease keepers'
  readonly #options: KindControllersOptions
  readonly #slots = new Map<string, Slot>()
  /** By claimant: which slot has its claim. */
  readonly #places = new Map<string, string>()
  #isOpen = false

  constructor(options: KindControllersOptions) {
    this.#options = options
  }

  start(): Promise<void> {
    this.#isOpen = true
    for (const slot of this.#slots.values()) slot.open()
    return Promise.resolve()
  }

  async stop(grace: number): Promise<void> {
    this.#isOpen = false
    await Promise.all([...this.#slots.values()].map((slot) => slot.close(grace)))
  }

  claim(claim: Claim): void {
    const place = `${claim.kind.plural}.${claim.kind.group}`
    if (this.#places.get(claim.claimant) !== place) this.release(claim.claimant)
    this.#places.set(claim.claimant, place)
    let slot = this.#slots.get(place)
    if (!slot) {
      slot = new Slot(this.#options)
      this.#slots.set(place, slot)
      if (this.#isOpen) slot.open()
    }
    slot.claim(claim)
  }

  release(claimant: string): void {
    const place = this.#places.get(claimant)
    if (place === undefined) return
    this.#places.delete(claimant)
    this.#slots.get(place)?.release(claimant)
  }

  /** Undefined: it has no wish here. */
  kept(claimant: string): Kept | undefined {
    return this.#slots.get(this.#places.get(claimant) ?? '')?.kept()
  }
}

interface Running {
  readonly keeper: KindController
  /** What it was made for; undefined once it is to be made anew. */
  purpose: string | undefined
  readonly ended: AbortController
  /** Never rejects. */
  starting: Promise<void>
  isStarted: boolean
  failure: Error | undefined
  retry: Timer | undefined
}

/** The keeper of one resource, and who wants it. */
class Slot {
  readonly #options: KindControllersOptions
  readonly #claims = new Map<string, Claim>()
  #running: Running | undefined
  #isOpen = false
  #grace = GRACE
  #failures = 0
  #isSettling = false
  #settling: Promise<void> | undefined

  constructor(options: KindControllersOptions) {
    this.#options = options
  }

  open(): void {
    this.#isOpen = true
    this.#settle()
  }

  async close(grace: number): Promise<void> {
    this.#isOpen = false
    this.#grace = grace
    this.#settle()
    await this.#settling
  }

  claim(claim: Claim): void {
    this.#claims.set(claim.claimant, claim)
    this.#settle()
  }

  release(claimant: string): void {
    this.#claims.delete(claimant)
    this.#settle()
  }

  kept(): Kept | undefined {
    const decider = this.#decider()
    if (!decider) return undefined
    const { keeper, failure, isStarted = false } = this.#running ?? {}
    return {
      activeLeases: keeper?.activeLeases ?? 0,
      nextExpiry: keeper?.nextExpiry,
      problem: failure?.message ?? keeper?.problem,
      isStarted,
      decidedBy: decider.claimant,
    }
  }

  #decider(): Claim | undefined {
    let decider: Claim | undefined
    for (const claim of this.#claims.values()) if (!decider || claim.rank < decider.rank) decider = claim
    return decider
  }

  /** One at a time: what changes meanwhile is seen when the step that runs is over. */
  #settle(): void {
    if (this.#isSettling) return
    this.#isSettling = true
    this.#settling = this.#approach()
  }

  async #approach(): Promise<void> {
    for (;;) {
      const wanted = this.#isOpen ? this.#decider() : undefined
      const purpose = wanted && JSON.stringify([wanted.kind, wanted.settings])
      if (this.#running && this.#running.purpose !== purpose) await this.#end(this.#running)
      else if (!this.#running && wanted) this.#begin(wanted, purpose)
      else break
    }
    // In the same breath as the last look, so that no change falls between the two.
    this.#isSettling = false
  }

  #begin({ kind, settings }: Claim, purpose: string | undefined): void {
    const { create, log } = this.#options
    const keeper = create({ kind, settings })
    const running: Running = {
      keeper,
      purpose,
      ended: new AbortController(),
      starting: Promise.resolve(),
      isStarted: false,
      failure: undefined,
      retry: undefined,
    }
    this.#running = running
    // Not awaited: a keeper may wait long for its kind or its rights, and must be stoppable meanwhile.
    running.starting = this.#start(running)
    log.info('lease keeper started', { kind: kind.kind, group: kind.group, version: kind.version })
  }

  async #start(running: Running): Promise<void> {
    const { clock, random, log } = this.#options
    try {
      await running.keeper.start(running.ended.signal)
      running.isStarted = true
      this.#failures = 0
    } catch (error) {
      if (running.ended.signal.aborted) return
      running.failure = asError(error)
      const delay = jitter(random, Math.min(FIRST_RETRY * 2 ** this.#failures++, LAST_RETRY), 0.2)
      log.error('lease keeper could not start, trying again', { keeper: running.keeper.name, delay, error })
      running.retry = clock.setTimer(delay, () => {
        running.purpose = undefined
        this.#settle()
      })
    }
  }

  async #end(running: Running): Promise<void> {
    const { log } = this.#options
    running.retry?.cancel()
    running.ended.abort(new Error('the keeper is stopped'))
    try {
      await running.keeper.stop(this.#grace)
    } catch (error) {
      log.error('lease keeper did not stop cleanly', { keeper: running.keeper.name, error: asError(error) })
    }
    await running.starting
    this.#running = undefined
    log.info('lease keeper stopped', { keeper: running.keeper.name })
  }
}
