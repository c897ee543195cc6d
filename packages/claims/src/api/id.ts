import { type Random, randomSuffix } from '@tenure/kube'

/** 24 letters of an alphabet of 27 are 114 bits: an id cannot be guessed, and holding it allows renewal and release. */
const ID_LENGTH = 24
const NAME_PREFIX = 'claim-'
/** Ids of other makers are accepted if they can be part of a name. */
const ID = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/

export function newClaimId(random: Random): string {
  return randomSuffix(random, ID_LENGTH)
}

/** Whether an object can have this id. */
export function isClaimId(id: string): boolean {
  return ID.test(id)
}

export function claimName(id: string): string {
  return `${NAME_PREFIX}${id}`
}

/** The Secret of a claim. The dot keeps it apart from names of templates, which often are the claim's own name with a suffix. */
export function claimSecretName(claim: string): string {
  return `${claim}.rendered`
}
