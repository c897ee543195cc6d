import { createHash } from 'node:crypto'
import type { Clock, KubeApi } from '@tenure/kube'
import { withTimeout } from '@tenure/kube'
import { SubjectAccessReview, TokenReview } from '@tenure/kube/kinds'
import { describeAccess } from './access.ts'
import type { Access, PathAccess, ResourceAccess, AuthenticatedUser } from './access.ts'
import { ExpiringCache } from './expiring-cache.ts'
import { HttpError, unavailable } from '../errors/http-error.ts'

/** Decides who calls, and whether they may. */
export interface Gate {
  /** Who sent this `Authorization` header. Rejects with a 401. */
  authenticate(authorization: string | undefined): Promise<AuthenticatedUser | undefined>
  /** Rejects with a 403 unless this user may. */
  authorize(user: AuthenticatedUser | undefined, access: Access): Promise<void>
}

/** Everybody may do everything. */
export const openGate: Gate = {
  authenticate: () => Promise.resolve(undefined),
  authorize: () => Promise.resolve(),
}

export interface TokenGateOptions {
  readonly api: KubeApi
  readonly clock: Clock
  /** Milliseconds for which an answer of the API server is good. Default 10,000. */
  readonly lifetime?: number
  /** How many answers are remembered. Default 1,000 tokens and 5,000 rights. */
  readonly maxTokens?: number
  readonly maxRights?: number
  /** Whom tokens must be meant for. Default: the API server, as service account tokens are. */
  readonly audiences?: readonly string[]
}

const ASKING_TIMEOUT = 10_000
const LONGEST_TOKEN = 16_384

/** Bearer tokens, judged by the API server: TokenReview says who it is, SubjectAccessReview whether RBAC lets them. */
export class TokenGate implements Gate {
  readonly #options: TokenGateOptions
  readonly #users: ExpiringCache<AuthenticatedUser | undefined>
  readonly #rights: ExpiringCache<boolean>

  constructor(options: TokenGateOptions) {
    const { clock, lifetime = 10_000, maxTokens = 1_000, maxRights = 5_000 } = options
    this.#options = options
    this.#users = new ExpiringCache({ clock, lifetime, maxEntries: maxTokens })
    this.#rights = new ExpiringCache({ clock, lifetime, maxEntries: maxRights })
  }

  async authenticate(authorization: string | undefined): Promise<AuthenticatedUser> {
    const token = /^bearer +([\w.~+/=-]+)$/i.exec(authorization ?? '')?.[1]
    if (token === undefined) throw unauthenticated('A bearer token is needed')
    if (token.length > LONGEST_TOKEN) throw unauthenticated('The bearer token is too long')
    // Tokens are remembered by their hash: what is kept in memory must not be one that works.
    const key = createHash('sha256').update(token).digest('base64')
    const user = await this.#users.get(key, () => this.#review(token))
    if (!user) throw unauthenticated('The bearer token is not accepted')
    return user
  }

  async authorize(user: AuthenticatedUser | undefined, access: Access): Promise<void> {
    if (access === 'public') return
    if (!user) throw unauthenticated('A bearer token is needed')
    const allowed = await this.#rights.get(keyOf(user, access), () => this.#ask(user, access))
    if (!allowed) {
      throw new HttpError('TENURE_HTTP_FORBIDDEN', 403, `User "${user.name}" may not ${describeAccess(access)}`)
    }
  }

  async #review(token: string): Promise<AuthenticatedUser | undefined> {
    const { audiences } = this.#options
    const { status } = await this.#asking((signal) =>
      this.#options.api.create(TokenReview, { spec: { token, ...(audiences && { audiences }) } }, { signal }),
    )
    const name = status?.user?.username
    if (!status?.authenticated || !name) return undefined
    // A server that knows no audiences answers without them, and the token may be meant for anybody.
    if (audiences && !status.audiences?.some((each) => audiences.includes(each))) return undefined
    const { uid, groups = [], extra } = status.user ?? {}
    return { name, uid, groups, extra }
  }

  async #ask(user: AuthenticatedUser, access: ResourceAccess | PathAccess): Promise<boolean> {
    const { uid, extra } = user
    const spec = {
      user: user.name,
      groups: user.groups,
      ...(uid !== undefined && { uid }),
      ...(extra && { extra }),
      ...('path' in access ? { nonResourceAttributes: access } : { resourceAttributes: attributesOf(access) }),
    }
    const { status } = await this.#asking((signal) =>
      this.#options.api.create(SubjectAccessReview, { spec }, { signal }),
    )
    return status?.allowed === true
  }

  async #asking<T>(ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const limit = withTimeout(this.#options.clock, ASKING_TIMEOUT, () => new Error('the API server did not answer'))
    try {
      return await ask(limit.signal)
    } catch (cause) {
      throw unavailable('Who you are and what you may do cannot be checked now', cause)
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
