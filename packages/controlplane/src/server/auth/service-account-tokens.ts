import { createHash, createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import type { Clock, Random } from '@tenure/kube'
import { newUid } from '../../registry/verbs/prepare.ts'
import type { User } from '../../registry/types.ts'
import type { Storage } from '../../storage/types.ts'

const ISSUER = 'https://kubernetes.default.svc.cluster.local'
/** Minimum lifetime of a token in seconds. */
const MIN_LIFETIME_SECONDS = 600
const HOUR = 3600

interface Claims {
  readonly aud?: readonly string[]
  readonly exp?: number
  readonly iss?: string
  readonly sub?: string
  readonly nbf?: number
  readonly 'kubernetes.io'?: {
    readonly namespace?: string
    readonly serviceaccount?: { readonly name?: string; readonly uid?: string }
    readonly pod?: { readonly name?: string; readonly uid?: string }
  }
}

export interface TokenOrder {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly audiences: readonly string[]
  readonly expirationSeconds: number | undefined
  readonly pod?: { readonly name: string; readonly uid: string } | undefined
}

/** Issues and verifies tokens of service accounts: JSON Web Tokens, valid while the account exists. */
export class ServiceAccountTokens {
  readonly #privateKey: KeyObject
  readonly #publicKey: KeyObject
  readonly #keyId: string
  readonly #storage: Storage
  readonly #clock: Clock
  readonly #random: Random

  /** `key` is an EC private key (P-256), PEM. */
  constructor(key: string, storage: Storage, clock: Clock, random: Random) {
    this.#privateKey = createPrivateKey(key)
    this.#publicKey = createPublicKey(this.#privateKey)
    this.#keyId = createHash('sha256')
      .update(this.#publicKey.export({ format: 'der', type: 'spki' }))
      .digest('base64url')
    this.#storage = storage
    this.#clock = clock
    this.#random = random
  }

  issue(order: TokenOrder): {
    readonly token: string
    readonly audiences: readonly string[]
    readonly expires: number
  } {
    const now = Math.floor(this.#clock.now() / 1000)
    const expires = now + Math.max(order.expirationSeconds ?? HOUR, MIN_LIFETIME_SECONDS)
    const audiences = order.audiences.length > 0 ? order.audiences : [ISSUER]
    const { namespace, name, uid, pod } = order
    const head = part({ alg: 'ES256', kid: this.#keyId })
    const claims = part({
      aud: audiences,
      exp: expires,
      iat: now,
      iss: ISSUER,
      jti: newUid(this.#random),
      'kubernetes.io': { namespace, ...(pod && { pod }), serviceaccount: { name, uid } },
      nbf: now,
      sub: `system:serviceaccount:${namespace}:${name}`,
    })
    const signature = sign('sha256', Buffer.from(`${head}.${claims}`), {
      key: this.#privateKey,
      dsaEncoding: 'ieee-p1363',
    })
    return { token: `${head}.${claims}.${signature.toString('base64url')}`, audiences, expires: expires * 1000 }
  }

  /** The user of a token; undefined if it is invalid or not for these audiences. */
  check(token: string, audiences: readonly string[] = []): User | undefined {
    const [head, body, signature, ...more] = token.split('.')
    if (!head || !body || !signature || more.length > 0) return undefined
    const key = { key: this.#publicKey, dsaEncoding: 'ieee-p1363' } as const
    if (!verify('sha256', Buffer.from(`${head}.${body}`), key, Buffer.from(signature, 'base64url'))) return undefined
    // The signature proves that the claims were written here.
    const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as Claims
    const wanted = audiences.length > 0 ? audiences : [ISSUER]
    if (!claims.aud?.some((audience) => wanted.includes(audience))) return undefined
    const now = this.#clock.now() / 1000
    if ((claims.exp ?? 0) <= now || (claims.nbf ?? 0) > now + 60) return undefined
    const { namespace = '', serviceaccount, pod } = claims['kubernetes.io'] ?? {}
    const account = this.#storage.get('serviceaccounts', `${namespace}/${serviceaccount?.name}`)
    if (!account || account.object.metadata.uid !== serviceaccount?.uid) return undefined
    return {
      name: claims.sub ?? '',
      uid: account.object.metadata.uid,
      groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
      ...(pod?.name && {
        extra: {
          'authentication.kubernetes.io/pod-name': [pod.name],
          'authentication.kubernetes.io/pod-uid': [pod.uid ?? ''],
        },
      }),
    }
  }
}

function part(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
