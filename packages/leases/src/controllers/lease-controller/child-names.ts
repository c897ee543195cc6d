import { hash } from 'node:crypto'

/** What a name in all places may be: a DNS label. */
const LONGEST = 63
/** `-` and six hexadecimal digits. */
const HASH_LENGTH = 7

/** With our prefix these are the operator's own, as it is deployed: its account and its rights must stay what they are. */
const RESERVED: ReadonlySet<string> = new Set(['operator', 'admission', 'system'])

/** The names of what belongs to one LeaseController. */
export interface ChildNames {
  /** Of its ServiceAccount, roles, bindings and Deployment. */
  readonly base: string
  readonly health: string
  readonly metrics: string
  /** Of the Lease in which its process says what it keeps. */
  readonly report: string
}

/** One LeaseController's names never are another's: what had to be changed or cut carries a hash of the whole. */
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
  const room = LONGEST - prefix.length - suffix.length
  if (plain === name && plain.length <= room && !RESERVED.has(name)) return `${prefix}${plain}${suffix}`
  const cut = plain.slice(0, room - HASH_LENGTH).replace(/-+$/, '')
  return `${prefix}${cut}-${hash('sha256', name, 'hex').slice(0, HASH_LENGTH - 1)}${suffix}`
}
