import { createHash, timingSafeEqual } from 'node:crypto'
import type { User } from '../../registry/types.ts'
import type { ServiceAccountTokens } from './service-account-tokens.ts'

export const ANONYMOUS: User = { name: 'system:anonymous', groups: ['system:unauthenticated'] }
export const ADMIN: User = { name: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] }

/** Finds the user of a token. */
export class Authenticator {
  readonly #tokens: readonly { readonly digest: Buffer; readonly user: User }[]
  readonly #accounts: ServiceAccountTokens

  constructor(tokens: ReadonlyMap<string, User>, accounts: ServiceAccountTokens) {
    this.#tokens = [...tokens].map(([token, user]) => ({ digest: digest(token), user }))
    this.#accounts = accounts
  }

  byToken(token: string, audiences?: readonly string[]): User | undefined {
    const given = digest(token)
    // Digests are compared in constant time.
    const known = this.#tokens.find((candidate) => timingSafeEqual(candidate.digest, given))
    return known?.user ?? this.#accounts.check(token, audiences)
  }

  /** The user of an Authorization header; `undefined` without one, `'refused'` for an invalid one. */
  byHeader(authorization: string | undefined): User | 'refused' | undefined {
    if (!authorization) return undefined
    const [, token] = /^bearer +(\S+)$/i.exec(authorization) ?? []
    return (token && this.byToken(token)) || 'refused'
  }
}

/** The user of a client certificate signed by the control plane's authority. */
export function certificateUser(
  subject: { readonly CN?: unknown; readonly O?: unknown },
  fingerprint: string,
): User | undefined {
  if (typeof subject.CN !== 'string' || subject.CN === '') return undefined
  const groups = (Array.isArray(subject.O) ? subject.O : [subject.O]).filter((group) => typeof group === 'string')
  return {
    name: subject.CN,
    groups: [...groups, 'system:authenticated'],
    extra: {
      'authentication.kubernetes.io/credential-id': [`X509SHA256=${fingerprint.replaceAll(':', '').toLowerCase()}`],
    },
  }
}

function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
