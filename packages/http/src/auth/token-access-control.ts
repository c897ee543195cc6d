import { createHash } from 'node:crypto'
import type { Clock, KubeApi } from '@tenure/kube'
import { withTimeout } from '@tenure/kube'
import { SubjectAccessReview, TokenReview } from '@tenure/kube/kinds'
import { describeAccess } from './access.ts'
import type { Access, PathAccess, ResourceAccess, AuthenticatedUser } from './access.ts'
import { ExpiringCache } from './expiring-cache.ts'
import { HttpError, unavailable } from '../errors/http-error.ts'
import { RequestRate } from './request-rate.ts'

/** Authenticates and authorizes callers. */
export interface AccessControl {
  /**
   * The user of an `Authorization` header. Rejects with a 401. `from` is the caller's address: many unknown tokens from one
   * address are a 429. Without an address there is no limit.
   */
  authenticate(authorization: string | undefined, from?: string): Promise<AuthenticatedUser | undefined>
  /** Rejects with a 403 unless the user has this access. */
  authorize(user: AuthenticatedUser | undefined, access: Access): Promise<void>
}

/** Allows every request without authentication. */
export const allowAll: AccessControl = {
  authenticate: () => Promise.resolve(undefined),
  authorize: () => Promise.resolve(),
}

export interface TokenAccessControlOptions {
  readonly api: KubeApi
  readonly clock: Clock
  /** Milliseconds for which results of the API server are cached. Default 10,000. */
  readonly lifetime?: number
  /** Maximum number of cached tokens. Default 1,000. */
  readonly maxTokens?: number
  /** Maximum number of cached access decisions. Default 5,000. */
  readonly maxDecisions?: number
  /**
   * Tokens per second, of one address, that the API server is asked about. Tokens whose result is cached do not count. After a
   * burst of twice as many callers get a 429. Default 50.
   */
  readonly reviewsPerSecond?: number
  /** The audiences of accepted tokens. Default: the API server, as for service account tokens. */
  readonly audiences?: readonly string[]
}

const REVIEW_TIMEOUT_MS = 10_000
const MAX_TOKEN_LENGTH = 16_384
const DEFAULT_REVIEWS_PER_SECOND = 50

/** Checks bearer tokens with TokenReview, and access with SubjectAccessReview. */
export class TokenAccessControl implements AccessControl {
  readonly #options: TokenAccessControlOptions
  readonly #users: ExpiringCache<AuthenticatedUser | undefined>
  readonly #decisions: ExpiringCache<boolean>
  readonly #reviews: RequestRate

  constructor(options: TokenAccessControlOptions) {
    const { clock, lifetime = 10_000, maxTokens = 1_000, maxDecisions = 5_000 } = options
    const { reviewsPerSecond = DEFAULT_REVIEWS_PER_SECOND } = options
    this.#options = options
    this.#users = new ExpiringCache({ clock, lifetime, maxEntries: maxTokens })
    this.#decisions = new ExpiringCache({ clock, lifetime, maxEntries: maxDecisions })
    this.#reviews = new RequestRate({ clock, perSecond: reviewsPerSecond, what: 'unknown bearer tokens' })
  }

  async authenticate(authorization: string | undefined, from?: string): Promise<AuthenticatedUser> {
    const token = /^bearer +([\w.~+/=-]+)$/i.exec(authorization ?? '')?.[1]
    if (token === undefined) throw unauthenticated('A bearer token is needed')
    if (token.length > MAX_TOKEN_LENGTH) throw unauthenticated('The bearer token is too long')
    // The cache holds hashes, so that memory contains no usable tokens.
    const key = createHash('sha256').update(token).digest('base64')
    const user = await this.#users.get(key, async () => {
      // Without this limit a caller could have the API server asked about random tokens as fast as it can send them.
      if (from !== undefined) this.#reviews.take(from)
      return this.#review(token)
    })
    if (!user) throw unauthenticated('The bearer token is not accepted')
    return user
  }

  async authorize(user: AuthenticatedUser | undefined, access: Access): Promise<void> {
    if (access === 'public') return
    if (!user) throw unauthenticated('A bearer token is needed')
    const allowed = await this.#decisions.get(keyOf(user, access), () => this.#reviewAccess(user, access))
    if (!allowed) {
      throw new HttpError('TENURE_HTTP_FORBIDDEN', 403, `User "${user.name}" may not ${describeAccess(access)}`)
    }
  }

  async #review(token: string): Promise<AuthenticatedUser | undefined> {
    const { audiences } = this.#options
    const { status } = await this.#withTimeout((signal) =>
      this.#options.api.create(TokenReview, { spec: { token, ...(audiences && { audiences }) } }, { signal }),
    )
    const name = status?.user?.username
    if (!status?.authenticated || !name) return undefined
    // A server without audience support omits them; the token may then be meant for another audience.
    if (audiences && !status.audiences?.some((each) => audiences.includes(each))) return undefined
    const { uid, groups = [], extra } = status.user ?? {}
    return { name, uid, groups, extra }
  }

  async #reviewAccess(user: AuthenticatedUser, access: ResourceAccess | PathAccess): Promise<boolean> {
    const { uid, extra } = user
    const spec = {
      user: user.name,
      groups: user.groups,
      ...(uid !== undefined && { uid }),
      ...(extra && { extra }),
      ...('path' in access ? { nonResourceAttributes: access } : { resourceAttributes: attributesOf(access) }),
    }
    const { status } = await this.#withTimeout((signal) =>
      this.#options.api.create(SubjectAccessReview, { spec }, { signal }),
    )
    return status?.allowed === true
  }

  async #withTimeout<T>(ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const limit = withTimeout(this.#options.clock, REVIEW_TIMEOUT_MS, () => new Error('The API server did not answer'))
    try {
      return await ask(limit.signal)
    } catch (cause) {
      throw unavailable('Authentication and authorization are not available now', cause)
    } finally {
      limit.dispose()
    }
  }
}

function attributesOf({ group, resource, verb, namespace, name }: ResourceAccess): Record<string, string> {
  return { group, resource, verb, ...(namespace && { namespace }), ...(name && { name }) }
}

function keyOf(user: AuthenticatedUser, access: ResourceAccess | PathAccess): string {
  const what =
    'path' in access
      ? [access.path, access.verb]
      : [access.group, access.resource, access.verb, access.namespace ?? '', access.name ?? '']
  return JSON.stringify([user.name, user.uid ?? '', user.groups, user.extra ?? {}, what])
}

function unauthenticated(message: string): HttpError {
  return new HttpError('TENURE_HTTP_UNAUTHENTICATED', 401, message, { headers: { 'www-authenticate': 'Bearer' } })
}
