import { createHash, createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import type { Clock, Random } from '@tenure/kube'
import { newUid } from '../../registry/verbs/prepare.ts'
import type { User } from '../../registry/types.ts'
import type { Storage } from '../../storage/types.ts'

/** Prefix of the names in a user's `extra`. */
const EXTRA = 'authentication.kubernetes.io'
const ISSUER = 'https://kubernetes.default.svc.cluster.local'
/** Milliseconds after its deletion for which an object that finalizers hold still authenticates. */
const DELETION_LEEWAY_MS = 60_000

interface Claims {
  readonly aud?: readonly string[]
  readonly exp?: number
  readonly iss?: string
  readonly sub?: string
  readonly jti?: string
  readonly nbf?: number
  readonly 'kubernetes.io'?: {
    readonly namespace?: string
    readonly serviceaccount?: { readonly name?: string; readonly uid?: string }
  } & BoundObjects
}

interface ObjectClaim {
  readonly name: string
  /** Absent for the node of a pod if there is no such Node. */
  readonly uid?: string
}

/** The objects that a token names. It is valid only while the first of them exists: the pod, the secret or the node. */
export interface BoundObjects {
  readonly pod?: ObjectClaim
  readonly secret?: ObjectClaim
  readonly node?: ObjectClaim
}

export interface TokenOrder {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly audiences: readonly string[]
  readonly expirationSeconds: number
  readonly bound: BoundObjects
}

/** Issues and verifies tokens of service accounts: JSON Web Tokens, valid while the account and the object that it is bound to exist. */
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
    const expires = now + order.expirationSeconds
    const audiences = order.audiences.length > 0 ? order.audiences : [ISSUER]
    const { namespace, name, uid, bound } = order
    const head = part({ alg: 'ES256', kid: this.#keyId })
    const claims = part({
      aud: audiences,
      exp: expires,
      iat: now,
      iss: ISSUER,
      jti: newUid(this.#random),
      'kubernetes.io': { namespace, ...bound, serviceaccount: { name, uid } },
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
    const { namespace = '', serviceaccount, pod, secret, node } = claims['kubernetes.io'] ?? {}
    if (!this.#exists('serviceaccounts', namespace, serviceaccount)) return undefined
    if (secret && !this.#exists('secrets', namespace, secret)) return undefined
    if (pod && !this.#exists('pods', namespace, pod)) return undefined
    // A token of a pod only names the node, whose uid may have changed.
    if (node && !pod && !this.#exists('nodes', undefined, node)) return undefined
    return {
      name: claims.sub ?? '',
      uid: serviceaccount?.uid ?? '',
      groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
      extra: {
        ...(claims.jti && { [`${EXTRA}/credential-id`]: [`JTI=${claims.jti}`] }),
        ...(node && { [`${EXTRA}/node-name`]: [node.name] }),
        ...(node?.uid && { [`${EXTRA}/node-uid`]: [node.uid] }),
        ...(pod && { [`${EXTRA}/pod-name`]: [pod.name], [`${EXTRA}/pod-uid`]: [pod.uid ?? ''] }),
      },
    }
  }

  #exists(bucket: string, namespace: string | undefined, claim: Partial<ObjectClaim> | undefined): boolean {
    const key = namespace === undefined ? `${claim?.name}` : `${namespace}/${claim?.name}`
    const { uid, deletionTimestamp } = this.#storage.get(bucket, key)?.object.metadata ?? {}
    if (uid === undefined || uid !== claim?.uid) return false
    return deletionTimestamp === undefined || Date.parse(deletionTimestamp) >= this.#clock.now() - DELETION_LEEWAY_MS
  }
}

function part(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
