/** Callers that take, renew and release claims of several replicas, and what they were promised. */
import { asError } from '@tenure/kube'

import { type Answer, type ClaimsProcess, type Taken, takenFrom } from '../programs-under-test/claims.ts'
import { type ClaimHistory, isPodReady, stateOf, versionAt } from './claim-history.ts'
import { until } from './until.ts'

/** TTL of claims that their callers leave to expire. */
const SHORT_TTL = '3s'
/** TTL of claims that their callers release. */
const LONG_TTL = '90s'
/** New TTL of renewed claims. */
const RENEWED_TTL = '6s'

/** Milliseconds by which this process may read a watch later than a response. */
const WATCH_DELAY_MS = 20_000

/** A claim that a caller got. */
export interface Held {
  readonly id: string
  readonly key: string | undefined
  /** The responses that promised the claim, with the expiry that each gave: milliseconds since 1970. */
  readonly promised: number[]
  /** It was ready, with all its children, when the response arrived. */
  readonly wasReady: boolean
  /** The state of the API server after the release. */
  releasedIn: number | undefined
}

/** A group of callers that behave in the same way. */
interface Behaviour {
  readonly isKeyed: boolean
  readonly ttl: string
  readonly action: 'release' | 'renew' | 'expire'
}

const BEHAVIOURS: readonly Behaviour[] = [
  { isKeyed: true, ttl: LONG_TTL, action: 'release' },
  { isKeyed: false, ttl: SHORT_TTL, action: 'expire' },
  { isKeyed: true, ttl: LONG_TTL, action: 'release' },
  { isKeyed: true, ttl: SHORT_TTL, action: 'renew' },
]

export class ClaimLoad {
  readonly held: Held[] = []
  /** Calls whose connection broke. */
  broken = 0
  /** Calls with a key that were repeated at another replica. */
  repeated = 0
  /** Claims that expired while their callers waited. */
  expiredEarly = 0
  /** A replica that stands still for a while. It may answer that it has failed, and its callers try again. */
  paused: ClaimsProcess | undefined
  /** Such answers. */
  failed = 0
  readonly unexpected: string[] = []
  readonly #replicas: readonly ClaimsProcess[]
  readonly #history: ClaimHistory
  #next = 0

  constructor(replicas: readonly ClaimsProcess[], history: ClaimHistory) {
    this.#replicas = replicas
    this.#history = history
  }

  /** Runs all callers, `concurrency` at a time. Calls `onProgress` with the number of callers that have begun. */
  async run(callers: number, concurrency: number, onProgress: (begun: number) => void): Promise<void> {
    const work = async (): Promise<void> => {
      while (this.#next < callers) {
        const caller = this.#next++
        onProgress(caller)
        await this.#call(caller)
      }
    }
    await Promise.all(Array.from({ length: concurrency }, work))
  }

  /** A replica that runs; another one for each `turn`. */
  replica(turn: number): ClaimsProcess {
    const running = this.#replicas.filter(({ child }) => !child.hasEnded)
    const chosen = running[turn % running.length]
    if (!chosen) throw new Error('No replica runs')
    return chosen
  }

  async #call(caller: number): Promise<void> {
    const behaviour = BEHAVIOURS[caller % BEHAVIOURS.length]
    if (!behaviour) return
    const key = behaviour.isKeyed ? `caller-${caller}` : undefined
    const taken = await this.#take(caller, behaviour.ttl, key)
    const promised = [Date.parse(taken.expiresAt)]
    const wasReady = await this.#isReady(taken.id)
    const held: Held = { id: taken.id, key, promised, wasReady, releasedIn: undefined }
    this.held.push(held)
    if (behaviour.action === 'release') await this.#release(caller, held)
    if (behaviour.action === 'renew') await this.#renew(caller, held)
  }

  /** Calls until it gets a claim, after a broken connection at another replica and with the same key. */
  async #take(caller: number, ttl: string, key: string | undefined): Promise<Taken> {
    for (let turn = caller; ; turn++) {
      const answer = await this.#attempt(turn, (replica) => replica.post('/claim', { ttl }, { key }))
      if (answer?.status === 201) return takenFrom(answer)
      if (answer === undefined) {
        if (key !== undefined) this.repeated++
      } else if (answer.status === 500 && answer.text.includes('has expired')) this.expiredEarly++
      else this.unexpected.push(`claim: ${answer.status} ${answer.text.trim()}`)
    }
  }

  async #release(caller: number, held: Held): Promise<void> {
    for (let turn = caller + 1; ; turn++) {
      const answer = await this.#attempt(turn, (replica) => replica.release(held.id))
      // 404: the response to an earlier attempt was lost.
      if (answer?.status === 204 || (answer?.status === 404 && turn > caller + 1)) {
        held.releasedIn = await this.#history.revision()
        return
      }
      if (answer) return void this.unexpected.push(`release: ${answer.status} ${answer.text.trim()}`)
    }
  }

  async #renew(caller: number, held: Held): Promise<void> {
    const answer = await this.#attempt(caller + 1, (replica) => replica.renew(held.id, RENEWED_TTL))
    if (answer?.status === 200) {
      held.promised.push(Date.parse((JSON.parse(answer.text) as { readonly expiresAt: string }).expiresAt))
    } else if (answer?.status !== 404 && answer !== undefined) {
      this.unexpected.push(`renew: ${answer.status} ${answer.text.trim()}`)
    } else if (answer && Date.now() < Math.max(...held.promised)) {
      this.unexpected.push(`renew: ${held.id} was gone before its expiry`)
    }
  }

  /** Undefined if the connection broke, or the replica stood still and has failed. */
  async #attempt(turn: number, call: (replica: ClaimsProcess) => Promise<Answer>): Promise<Answer | undefined> {
    const replica = this.replica(turn)
    try {
      const answer = await call(replica)
      const isExcused = answer.status >= 500 && replica === this.paused && !answer.text.includes('has expired')
      if (isExcused) this.failed++
      return isExcused ? undefined : answer
    } catch (error) {
      if (asError(error).name !== 'TypeError') throw error
      this.broken++
      return undefined
    }
  }

  /**
   * Whether the claim was ready, with a pod that is ready and a service, in the state of the API server after the response,
   * or in its last state if it has ended since. This process may read the watch later than the response, so the versions
   * of the objects decide.
   */
  async #isReady(id: string): Promise<boolean> {
    const revision = await this.#history.revision()
    const isReady = (): boolean => {
      const { deletedIn = Infinity } = this.#history.claim(id) ?? {}
      return this.#isReadyAt(id, Math.min(revision, deletedIn - 1))
    }
    try {
      await until('the watch shows the claim', isReady, WATCH_DELAY_MS)
    } catch {
      // It was not ready.
    }
    return isReady()
  }

  #isReadyAt(id: string, revision: number): boolean {
    const claim = this.#history.claim(id)
    const state = claim && versionAt(claim, revision)
    if (!claim || !state || stateOf(state).isIdle || stateOf(state).status !== 'ready') return false
    const children = this.#history.childrenOf(claim)
    const pod = children.find(({ kind }) => kind === 'Pod')
    const service = children.find(({ kind }) => kind === 'Service')
    return (
      pod !== undefined &&
      isPodReady(versionAt(pod, revision)) &&
      service !== undefined &&
      versionAt(service, revision) !== undefined
    )
  }
}
