import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { Authority, AuthorityContext, CertificateWithKey } from '../../certificates/index.ts'
import { BACKDATE_MS, createAuthority, isFor, loadAuthority, validityOf } from '../../certificates/index.ts'

/**
 * How serving certificates and their authority replace each other so that no call fails on the way. Everything is
 * decided from what is stored, never from what a replica remembers:
 *
 * 1. An authority past two thirds of its life gets a successor. Callers are told to trust both; the old one's serving
 *    certificate stays in use.
 * 2. Once callers have trusted the successor for `propagation`, it issues the serving certificate.
 * 3. Once no certificate of the old authority can be valid any more, it is trusted no longer.
 *
 * A serving certificate past two thirds of its life is replaced by one of the same authority, at once.
 */
export interface CertificateState {
  /** The newest authority: the one that issues. */
  readonly authority: CertificateWithKey
  /** Every authority that callers must trust, PEM each, newest first: those with certificates that may be in use. */
  readonly trusted: readonly string[]
  readonly serving: CertificateWithKey
}

/** However often somebody forces a new authority, a Secret and a configuration must hold them all. */
const MOST_TRUSTED = 8

export interface RotationPolicy {
  readonly commonName: string
  /** Names that the serving certificate must hold. */
  readonly dnsNames: readonly string[]
  readonly ipAddresses: readonly string[]
  readonly servingLife: number
  readonly authorityLife: number
  readonly propagation: number
}

export interface RotationMoment {
  readonly now: number
  /** Since when callers trust all of `trusted`, in wall time; undefined if they do not yet. */
  readonly trustedSince: number | undefined
  /** Replace it although it is not due. */
  readonly force?: 'serving' | 'authority' | undefined
}

export interface RotationPlan {
  readonly newAuthority: boolean
  readonly newServing: boolean
  /** Authorities to be trusted no longer. */
  readonly drop: readonly string[]
  /** When to look again if nothing happens, in wall time. */
  readonly next: number
}

/** Decides. Pure. */
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
  // With nothing valid to serve there is nothing to be careful with.
  const newServing = now >= serving.end || (!newAuthority && isWanted && now >= usableFrom)

  const old = state.trusted.slice(1).map((certificate, index) => {
    // It issued its last certificate before its successor was there.
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

/** Carries a plan out: makes what is to be made. The same state if there is nothing. */
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
      !plan.drop.includes(certificate) && (index < MOST_TRUSTED || isIssuedBy(serving.certificate, certificate)),
  )
  return { authority: { certificate: authority.certificate, key: authority.key }, trusted, serving }
}

/** The first state of all; `trusted` are authorities of an unusable one before it, that callers may still need. */
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

/** Why a stored state can not be used; undefined if it can. */
export function faultOf(state: CertificateState): string | undefined {
  try {
    loadAuthority(state.authority.certificate, state.authority.key)
    const serving = new X509Certificate(state.serving.certificate)
    if (!serving.checkPrivateKey(createPrivateKey(state.serving.key))) return 'tls.key is not the key of tls.crt'
    if (!state.trusted.some((certificate) => isIssuedBy(state.serving.certificate, certificate))) {
      return 'tls.crt is of no authority in ca.crt'
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
  /** When to replace it: with a third of its life left. */
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
