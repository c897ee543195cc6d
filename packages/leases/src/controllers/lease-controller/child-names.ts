import { hash } from 'node:crypto'

/** Names are used as DNS labels. */
const MAX_LABEL_LENGTH = 63
/** A dash and six hexadecimal digits. */
const HASH_LENGTH = 7

/** With the prefix, these are names of the operator's own manifests, which must not be overwritten. */
const RESERVED: ReadonlySet<string> = new Set(['operator', 'admission', 'system'])

/** Names of the objects that belong to one LeaseController. */
export interface ChildNames {
  /** Name of its ServiceAccount, roles, bindings and Deployment. */
  readonly base: string
  readonly health: string
  readonly metrics: string
  /** Name of the Lease to which its process reports. */
  readonly report: string
}

/** Unique per LeaseController: a name that is changed or cut gets a hash of the full name. */
export function childNames(name: string): ChildNames {
  return {
    base: label('object-lease-', name, ''),
    health: label('object-lease-', name, '-health'),
    metrics: label('object-lease-', name, '-metrics'),
    report: label('object-lease-', name, '-report'),
  }
}

function label(prefix: string, name: string, suffix: string): string {
  const plain = name.replaceAll('.', '-')
  const maxLength = MAX_LABEL_LENGTH - prefix.length - suffix.length
  if (plain === name && plain.length <= maxLength && !RESERVED.has(name)) return `${prefix}${plain}${suffix}`
  const cut = plain.slice(0, maxLength - HASH_LENGTH).replace(/-+$/, '')
  return `${prefix}${cut}-${hash('sha256', name, 'hex').slice(0, HASH_LENGTH - 1)}${suffix}`
}
