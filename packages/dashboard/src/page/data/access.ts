import type { PageClock } from '../browser.ts'
import type { DashboardApi } from './api.ts'

/** A right that an action needs. */
export interface ActionAccess {
  readonly group: string
  readonly resource: string
  readonly verb: string
  readonly namespace?: string | undefined
}

/** `unknown` while the server is asked. */
export type AccessState = 'allowed' | 'denied' | 'unknown'

/** Checks in one request, as the API limits them. */
const MAX_CHECKS = 100

/** Asks the server what the user may do, in one request for all checks of a view, and remembers the decisions. */
export class AccessDecisions {
  readonly #api: Pick<DashboardApi, 'json'>
  readonly #clock: PageClock
  readonly #decisions = new Map<string, boolean>()
  readonly #asking = new Map<string, ActionAccess>()
  readonly #listeners = new Set<() => void>()
  #isScheduled = false
  #generation = 0
  /** Without authentication everything is allowed. */
  isOpen = false
  user: string | undefined

  constructor(api: Pick<DashboardApi, 'json'>, clock: PageClock) {
    this.#api = api
    this.#clock = clock
  }

  decide(check: ActionAccess): AccessState {
    if (this.isOpen) return 'allowed'
    const decision = this.#decisions.get(keyOf(check))
    if (decision !== undefined) return decision ? 'allowed' : 'denied'
    if (!this.#asking.has(keyOf(check))) {
      this.#asking.set(keyOf(check), check)
      this.#schedule()
    }
    return 'unknown'
  }

  /** Forgets all decisions, for another user. */
  clear(): void {
    this.#generation++
    this.#decisions.clear()
    this.#asking.clear()
    this.user = undefined
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    // All buttons of a view ask within one frame.
    this.#clock.nextFrame(() => {
      this.#isScheduled = false
      void this.#ask()
    })
  }

  async #ask(): Promise<void> {
    const generation = this.#generation
    const batch = [...this.#asking].filter(([key]) => !this.#decisions.has(key)).slice(0, MAX_CHECKS)
    if (batch.length === 0) return
    let allowed: readonly boolean[] = []
    try {
      const body = { checks: batch.map(([, check]) => check) }
      const decided = await this.#api.json<{ user?: string; allowed: readonly boolean[] }>('./api/v1/access', {
        method: 'POST',
        body,
      })
      allowed = decided.allowed
      if (generation === this.#generation) this.user = decided.user
    } catch {
      // The server decides again when the action is taken, so a button that may be allowed stays usable.
      allowed = batch.map(() => true)
    }
    if (generation !== this.#generation) return
    batch.forEach(([key], index) => {
      this.#decisions.set(key, allowed[index] === true)
      this.#asking.delete(key)
    })
    for (const listener of this.#listeners) listener()
    if (this.#asking.size > 0) this.#schedule()
  }
}

/** The text of a disabled button: `needs: update claims.claim-controller.io`. */
export function neededAccess({ group, resource, verb, namespace }: ActionAccess): string {
  const name = group === '' ? resource : `${resource}.${group}`
  return `needs: ${verb} ${name}${namespace ? ` in ${namespace}` : ''}`
}

function keyOf({ group, resource, verb, namespace = '' }: ActionAccess): string {
  return `${group}/${resource}/${verb}/${namespace}`
}
