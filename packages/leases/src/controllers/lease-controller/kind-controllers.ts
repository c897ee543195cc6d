import { asError, type Clock, jitter, type Kind, type Random, type Timer } from '@tenure/kube'
import type { Component, Logger } from '@tenure/runtime'
import type { LeaseSettings } from '../../api/types.ts'
import type { KindController, KindControllerOptions } from '../lease/kind-controller.ts'
import type { LeaseReport } from './report.ts'

/** The request of a LeaseController to manage a kind inside the operator. */
export interface KindClaim {
  /** Name of the LeaseController. It has at most one claim. */
  readonly claimant: string
  /** Of several claims on a kind, the settings of the lowest rank count. */
  readonly rank: string
  readonly kind: Kind
  readonly settings: LeaseSettings
}

/** State of the controller for a claim. */
export interface SharedControllerState extends LeaseReport {
  readonly isStarted: boolean
  /** The claimant whose settings count. */
  readonly decidedBy: string
}

export type CreateKindController = (options: KindControllerOptions) => KindController

export interface KindControllersOptions {
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

/** Grace period for a controller whose settings change or whose last claim is released. */
const STOP_GRACE_MS = 5_000
const MIN_RETRY_MS = 1_000
const MAX_RETRY_MS = 60_000

/**
 * The kind controllers inside the operator: one per resource, whatever the number and version of the claims; started,
 * restarted and stopped as claims change.
 */
export class KindControllers {
  readonly #options: KindControllersOptions
  readonly #slots = new Map<string, Slot>()
  /** The resource of each claimant. */
  readonly #resources = new Map<string, string>()
  #create: CreateKindController | undefined
  #isOpen = false

  constructor(options: KindControllersOptions) {
    this.#options = options
  }

  /** Begins a term of leadership without claims. The returned component runs the controllers of that term. */
  beginTerm(create: CreateKindController): Component {
    this.#slots.clear()
    this.#resources.clear()
    this.#create = create
    this.#isOpen = false
    return {
      name: 'kind controllers',
      start: () => {
        this.#isOpen = true
        for (const slot of this.#slots.values()) slot.open()
        return Promise.resolve()
      },
      stop: async (grace) => {
        this.#isOpen = false
        await Promise.all([...this.#slots.values()].map((slot) => slot.close(grace)))
      },
    }
  }

  claim(claim: KindClaim): void {
    const create = this.#create
    // Claims belong to a term.
    if (!create) return
    const resource = `${claim.kind.plural}.${claim.kind.group}`
    if (this.#resources.get(claim.claimant) !== resource) this.release(claim.claimant)
    this.#resources.set(claim.claimant, resource)
    let slot = this.#slots.get(resource)
    if (!slot) {
      slot = new Slot(create, this.#options)
      this.#slots.set(resource, slot)
      if (this.#isOpen) slot.open()
    }
    slot.claim(claim)
  }

  release(claimant: string): void {
    const resource = this.#resources.get(claimant)
    if (resource === undefined) return
    this.#resources.delete(claimant)
    this.#slots.get(resource)?.release(claimant)
  }

  /** Undefined if the claimant has no claim. */
  state(claimant: string): SharedControllerState | undefined {
    return this.#slots.get(this.#resources.get(claimant) ?? '')?.state()
  }
}

interface Running {
  readonly controller: KindController
  /** Kind and settings; undefined once it must be restarted. */
  purpose: string | undefined
  readonly ended: AbortController
  /** Never rejects. */
  starting: Promise<void>
  isStarted: boolean
  failure: Error | undefined
  retry: Timer | undefined
}

/** The controller of one resource, with its claims. */
class Slot {
  readonly #create: CreateKindController
  readonly #options: KindControllersOptions
  readonly #claims = new Map<string, KindClaim>()
  #running: Running | undefined
  #isOpen = false
  #grace = STOP_GRACE_MS
  #failures = 0
  #isSettling = false
  #settling: Promise<void> | undefined

  constructor(create: CreateKindController, options: KindControllersOptions) {
    this.#create = create
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

  claim(claim: KindClaim): void {
    this.#claims.set(claim.claimant, claim)
    this.#settle()
  }

  release(claimant: string): void {
    this.#claims.delete(claimant)
    this.#settle()
  }

  state(): SharedControllerState | undefined {
    const deciding = this.#decidingClaim()
    if (!deciding) return undefined
    const { controller, failure, isStarted = false } = this.#running ?? {}
    return {
      activeLeases: controller?.activeLeases ?? 0,
      nextExpiry: controller?.nextExpiry,
      problem: failure?.message ?? controller?.problem,
      isStarted,
      decidedBy: deciding.claimant,
    }
  }

  #decidingClaim(): KindClaim | undefined {
    let deciding: KindClaim | undefined
    for (const claim of this.#claims.values()) if (!deciding || claim.rank < deciding.rank) deciding = claim
    return deciding
  }

  /** One step at a time: changes during a step are handled after it. */
  #settle(): void {
    if (this.#isSettling) return
    this.#isSettling = true
    this.#settling = this.#approach()
  }

  async #approach(): Promise<void> {
    for (;;) {
      const wanted = this.#isOpen ? this.#decidingClaim() : undefined
      const purpose = wanted && JSON.stringify([wanted.kind, wanted.settings])
      if (this.#running && this.#running.purpose !== purpose) await this.#end(this.#running)
      else if (!this.#running && wanted) this.#begin(wanted, purpose)
      else break
    }
    // Synchronous with the last check, so that no change is missed.
    this.#isSettling = false
  }

  #begin({ kind, settings }: KindClaim, purpose: string | undefined): void {
    const { log } = this.#options
    const controller = this.#create({ kind, settings })
    const running: Running = {
      controller,
      purpose,
      ended: new AbortController(),
      starting: Promise.resolve(),
      isStarted: false,
      failure: undefined,
      retry: undefined,
    }
    this.#running = running
    // Not awaited: a controller may wait long for its kind or permissions, and must be stoppable meanwhile.
    running.starting = this.#start(running)
    log.info('kind controller started', { kind: kind.kind, group: kind.group, version: kind.version })
  }

  async #start(running: Running): Promise<void> {
    const { clock, random, log } = this.#options
    try {
      await running.controller.start(running.ended.signal)
      running.isStarted = true
      this.#failures = 0
    } catch (error) {
      if (running.ended.signal.aborted) return
      running.failure = asError(error)
      const delay = jitter(random, Math.min(MIN_RETRY_MS * 2 ** this.#failures++, MAX_RETRY_MS), 0.2)
      log.error('kind controller failed to start, retrying', { controller: running.controller.name, delay, error })
      running.retry = clock.setTimer(delay, () => {
        running.purpose = undefined
        this.#settle()
      })
    }
  }

  async #end(running: Running): Promise<void> {
    const { log } = this.#options
    running.retry?.cancel()
    running.ended.abort(new Error('The kind controller is stopped'))
    try {
      await running.controller.stop(this.#grace)
    } catch (error) {
      log.error('kind controller failed to stop cleanly', {
        controller: running.controller.name,
        error: asError(error),
      })
    }
    await running.starting
    this.#running = undefined
    log.info('kind controller stopped', { controller: running.controller.name })
  }
}
