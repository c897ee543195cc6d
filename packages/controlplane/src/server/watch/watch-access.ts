import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock, Timer } from '@tenure/kube'
import { asError } from '@tenure/kube'
import type { Logger } from '@tenure/runtime'
import { StatusError } from '../../errors.ts'
import type { User } from '../../registry/types.ts'
import type { Authenticator } from '../auth/authentication.ts'
import type { Authorizer } from '../auth/authorization.ts'
import { actingUser } from '../auth/impersonation.ts'
import type { WatchFeed } from './watch-feed.ts'

export interface WatchAccessOptions {
  readonly authenticator: Authenticator
  readonly authorizer: Authorizer
  readonly clock: Clock
  readonly log: Logger
}

/** A watch may go on for this time, in milliseconds, after its user has lost access. */
const CHECK_INTERVAL_MS = 30_000
/** Watches checked between turns of the event loop. */
const WATCHES_PER_TURN = 100

type Headers = Readonly<Record<string, string | undefined>>
type Check = (users: Map<string, User | 'refused' | undefined>) => boolean

/** Ends watches of users whose account or token has ended, or who may no longer watch. */
export class WatchAccess {
  readonly #options: WatchAccessOptions
  readonly #watches = new Map<WatchFeed, Check>()
  #timer: Timer | undefined

  constructor(options: WatchAccessOptions) {
    this.#options = options
  }

  /** `authorize` throws a 403 if the user may not watch. */
  follow(feed: WatchFeed, user: User | undefined, headers: Headers, authorize: (user: User) => void): void {
    // The administrator does not lose access.
    if (!user || user.groups.includes('system:masters')) return
    const { authorizer } = this.#options
    this.#watches.set(feed, (users) => {
      const current = this.#userOf(headers['authorization'], users) ?? user
      if (current === 'refused' || current.name !== user.name || current.uid !== user.uid) return false
      try {
        authorize(actingUser(current, headers, authorizer))
        return true
      } catch (error) {
        if (error instanceof StatusError) return false
        throw error
      }
    })
    feed.whenClosed(() => this.#forget(feed))
    this.#timer ??= this.#arm()
  }

  #forget(feed: WatchFeed): void {
    this.#watches.delete(feed)
    if (this.#watches.size > 0) return
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #arm(): Timer {
    return this.#options.clock.setTimer(CHECK_INTERVAL_MS, () => {
      this.#checkAll()
        .catch((error: unknown) => this.#options.log.error('checking watches failed', { error: asError(error) }))
        .finally(() => (this.#timer = this.#watches.size > 0 ? this.#arm() : undefined))
    })
  }

  async #checkAll(): Promise<void> {
    const users = new Map<string, User | 'refused' | undefined>()
    let checked = 0
    for (const [feed, isAllowed] of this.#watches) {
      if (!isAllowed(users)) feed.end()
      if (++checked % WATCHES_PER_TURN === 0) await nextTurn()
    }
  }

  /** A token is verified once for all its watches. */
  #userOf(
    authorization: string | undefined,
    users: Map<string, User | 'refused' | undefined>,
  ): User | 'refused' | undefined {
    if (authorization === undefined) return undefined
    if (!users.has(authorization)) users.set(authorization, this.#options.authenticator.byHeader(authorization))
    return users.get(authorization)
  }
}
