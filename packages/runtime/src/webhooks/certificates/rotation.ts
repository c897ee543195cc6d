import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { Authority, AuthorityContext, CertificateWithKey } from '../../certificates/index.ts'
import { BACKDATE_MS, createAuthority, isFor, loadAuthority, validityOf } from '../../certificates/index.ts'

/**
 * Rotates serving certificates and their authority without failing calls. All decisions use the stored state only,
 * never the memory of a replica:
 *
 * 1. An authority past two thirds of its life gets a successor. Callers must trust both; the serving certificate of
 *    the old one stays in use.
 * 2. Once callers have trusted the successor for `propagation`, it issues the serving certificate.
 * 3. Once no certificate of the old authority can be valid any more, it is removed from the trusted ones.
 *
 * A serving certificate past two thirds of its life is replaced at once by one of the same authority.
 */
export interface CertificateState {
  /** The newest authority, which issues certificates. */
  readonly authority: CertificateWithKey
  /** PEM of every authority that callers must trust because its certificates may be in use, newest first. */
  readonly trusted: readonly string[]
  readonly serving: CertificateWithKey
}

/** Maximum number of trusted authorities, so that repeated forced rotations fit into a Secret and a configuration. */
const MAX_TRUSTED_AUTHORITIES = 8

export interface RotationPolicy {
  readonly commonName: string
  /** Names that the serving certificate must cover. */
  readonly dnsNames: readonly string[]
  readonly ipAddresses: readonly string[]
  readonly servingLife: number
  readonly authorityLife: number
  readonly propagation: number
}

export interface RotationMoment {
  readonly now: number
  /** Wall time since when callers trust all of `trusted`; undefined if they do not yet. */
  readonly trustedSince: number | undefined
  /** Replace it although it is not due. */
  readonly force?: 'serving' | 'authority' | undefined
}

export interface RotationPlan {
  readonly newAuthority: boolean
  readonly newServing: boolean
  /** Authorities to remove from the trusted ones. */
  readonly drop: readonly string[]
  /** Wall time of the next check if nothing happens. */
  readonly next: number
}

/** Computes the next rotation step. Pure. */
export function planRotation(state: CertificateState, policy: RotationPolicy, moment: RotationMoment): RotationPlan {
  const { now, force } = moment
  const authority = lifeOf(state.authority.certificate)
  const serving = lifeOf(state.serving.certificate)
  const isByNewest = isIssuedBy(state.serving.certificate, state.authority.certificate)

  const newAuthority = force === 'authority' || now >= authority.due
  const usableFrom = isByNewest
    ? authority.made
    : moment.trustedSince === undefined
      ? Infinity
      : Math.max(authority.made, moment.trustedSince) + policy.propagation
  const isWanted = force === 'serving' || now >= serving.due || !isByNewest || !isFor(state.serving.certificate, policy)
  // Without a valid certificate there is nothing to preserve.
  const newServing = now >= serving.end || (!newAuthority && isWanted && now >= usableFrom)

  const old = state.trusted.slice(1).map((certificate, index) => {
    // An authority issued its last certificate before its successor existed.
    const successor = lifeOf(state.trusted[index] ?? certificate)
    const { end } = lifeOf(certificate)
    return { certificate, end, gone: Math.min(end, successor.made + policy.servingLife) }
  })
  const drop = old
    .filter((life) => now >= life.gone && (now >= life.end || !isIssuedBy(state.serving.certificate, life.certificate)))
    .map((life) => life.certificate)

  const times = [authority.due, serving.end, isWanted ? usableFrom : serving.due, ...old.map((life) => life.gone)]
  return { newAuthority, newServing, drop, next: Math.min(...times.filter((time) => time > now)) }
}

/** Carries out a plan. Returns the same state if there is nothing to do. */
export function rotate(
  state: CertificateState,
  plan: RotationPlan,
  policy: RotationPolicy,
  context: AuthorityContext,
): CertificateState {
  if (!plan.newAuthority && !plan.newServing && plan.drop.length === 0) return state
  const authority = plan.newAuthority
    ? newAuthority(policy, context)
    : loadAuthority(state.authority.certificate, state.authority.key, context)
  const serving = plan.newServing ? issueServing(authority, policy) : state.serving
  const trusted = [...new Set([authority.certificate, ...state.trusted])].filter(
    (certificate, index) =>
      !plan.drop.includes(certificate) &&
      (index < MAX_TRUSTED_AUTHORITIES || isIssuedBy(serving.certificate, certificate)),
  )
  return { authority: { certificate: authority.certificate, key: authority.key }, trusted, serving }
}

/**
 * Creates the first state. `trusted` are the authorities of an unusable earlier state, which callers may still need.
 */
export function firstState(
  policy: RotationPolicy,
  context: AuthorityContext,
  trusted: readonly string[] = [],
): CertificateState {
  const authority = newAuthority(policy, context)
  return {
    authority: { certificate: authority.certificate, key: authority.key },
    trusted: [authority.certificate, ...trusted],
    serving: issueServing(authority, policy),
  }
}

/** Why a stored state is unusable; undefined if it is usable. */
export function faultOf(state: CertificateState): string | undefined {
  try {
    loadAuthority(state.authority.certificate, state.authority.key)
    const serving = new X509Certificate(state.serving.certificate)
    if (!serving.checkPrivateKey(createPrivateKey(state.serving.key))) return 'tls.key does not belong to tls.crt'
    if (!state.trusted.some((certificate) => isIssuedBy(state.serving.certificate, certificate))) {
      return 'tls.crt is not issued by an authority in ca.crt'
    }
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function newAuthority(policy: RotationPolicy, context: AuthorityContext): Authority {
  return createAuthority({ commonName: `${policy.commonName} CA`, validFor: policy.authorityLife, ...context })
}

function issueServing(authority: Authority, policy: RotationPolicy): CertificateWithKey {
  const { commonName, dnsNames, ipAddresses, servingLife } = policy
  return authority.issue({ commonName, dnsNames, ipAddresses, usage: 'server', validFor: servingLife })
}

interface Life {
  readonly made: number
  /** Time of replacement: when a third of the lifetime is left. */
  readonly due: number
  readonly end: number
}

function lifeOf(certificate: string): Life {
  const { notBefore, notAfter } = validityOf(certificate)
  const made = notBefore + BACKDATE_MS
  return { made, due: made + ((notAfter - made) * 2) / 3, end: notAfter }
}

function isIssuedBy(certificate: string, authority: string): boolean {
  const issuer = new X509Certificate(authority)
  const issued = new X509Certificate(certificate)
  return issued.checkIssued(issuer) && issued.verify(issuer.publicKey)
}
