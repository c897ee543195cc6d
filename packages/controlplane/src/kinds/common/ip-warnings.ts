/** Warnings for addresses and CIDRs that are accepted but not in canonical form. */
import type { Address } from '../../schema/formats/addresses.ts'
import { formatAddress, isMapped, maskAddress, parseAddress, parseNetwork } from '../../schema/formats/addresses.ts'
import { looseNetwork } from './ip-validation.ts'

/** Returns the IPv4 address of an IPv4-mapped one. */
const plain = (address: Address): Address => (isMapped(address) ? address.slice(12) : address)

export function addressWarnings(text: string, field: string): readonly string[] {
  const parsed = parseAddress(text, { allowLeadingZeros: true })
  if (!parsed) return []
  const proper = formatAddress(plain(parsed))
  if (!parseAddress(text) || isMapped(parsed)) {
    return [`${field}: non-standard IP address "${text}" is invalid: use "${proper}"`]
  }
  if (parsed.length === 4 || proper === text) return []
  return [`${field}: IPv6 address "${text}" should be in RFC 5952 canonical format ("${proper}")`]
}

export function networkWarnings(text: string, field: string): readonly string[] {
  const parsed = looseNetwork(text)
  if (!parsed) return []
  const address = plain(parsed.address)
  const bits = parsed.bits - (parsed.address.length - address.length) * 8
  const masked = maskAddress(address, bits)
  const proper = `${formatAddress(masked)}/${bits}`
  const warnings: string[] = []
  if (masked.some((byte, index) => byte !== address[index])) {
    const single = `${formatAddress(address)}/${address.length * 8}`
    warnings.push(`${field}: CIDR value "${text}" is ambiguous in this context (should be "${proper}" or "${single}"?)`)
  }
  if (!parseNetwork(text) || isMapped(parsed.address)) {
    warnings.push(`${field}: non-standard CIDR value "${text}" is invalid: use "${proper}"`)
  }
  if (warnings.length > 0 || address.length === 4 || proper === text) return warnings
  return [`${field}: IPv6 CIDR value "${text}" should be in RFC 5952 canonical format ("${proper}")`]
}
