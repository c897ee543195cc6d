import { createHash } from 'node:crypto'
import type { Clock } from '@tenure/kube'
import type { ClaimView } from './claim-view.ts'
import { ClaimFailure } from './errors.ts'

/** Length of the hash that labels carry: 80 bits tell callers apart, and a label has at most 63 characters. */
const HASH_LENGTH = 20

/** Limits the claims of each caller, over all pools. */
export class Callers {
  readonly #view: ClaimView
  readonly #clock: Clock
  /** 0: no limit. */
  readonly #max: number
  /** Claims that are being acquired, by caller: the view does not show them yet. */
  readonly #inFlight = new Map<string, number>()

  constructor(view: ClaimView, clock: Clock, max: number) {
    this.#view = view
    this.#clock = clock
    this.#max = max
  }

  /** The value of the label that claims of the caller carry; undefined without a limit. */
  labelOf(caller: string): string | undefined {
    if (this.#max === 0) return undefined
    return createHash('sha256').update(caller).digest('hex').slice(0, HASH_LENGTH)
  }

  /**
   * Acquires a claim for a caller. `acquire` calls `onShown` when the view shows the claim: from then on the view counts
   * it. Rejects with a 429 if the caller has as many claims as it may have.
   */
  async run<T>(label: string | undefined, acquire: (onShown: () => void) => Promise<T>): Promise<T> {
    if (label === undefined) return await acquire(() => undefined)
    const inFlight = this.#inFlight.get(label) ?? 0
    const held = this.#view.ofCaller(label)
    if (held.length + inFlight >= this.#max) throw this.#tooMany(held.flatMap(({ expiresAt }) => expiresAt ?? []))
    this.#inFlight.set(label, inFlight + 1)
    let isCounted = true
    const end = (): void => {
      if (isCounted) this.#end(label)
      isCounted = false
    }
    try {
      return await acquire(end)
    } finally {
      end()
    }
  }

  #end(label: string): void {
    const left = (this.#inFlight.get(label) ?? 1) - 1
    if (left > 0) this.#inFlight.set(label, left)
    else this.#inFlight.delete(label)
  }

  #tooMany(expiries: readonly number[]): ClaimFailure {
    const next = Math.min(...expiries)
    const seconds = Number.isFinite(next) ? Math.ceil((next - this.#clock.now()) / 1_000) : 1
    return new ClaimFailure('TENURE_CLAIM_TOO_MANY', 429, `too many claims: at most ${this.#max} per caller`, {
      retryAfter: Math.max(seconds, 1),
    })
  }
}
