/** IP addresses and networks as Go's net and netip parse them. */

/** 4 or 16 bytes. */
export type Address = readonly number[]

export interface Network {
  readonly address: Address
  readonly bits: number
}

export interface AddressOptions {
  /** Accepts `010.0.0.1` as 10.0.0.1, as older Go versions do. Default: false. */
  readonly allowLeadingZeros?: boolean
}

export function parseAddress(text: string, options: AddressOptions = {}): Address | undefined {
  return text.includes(':') ? parseSix(text, options) : parseFour(text, options)
}

export function parseNetwork(text: string, options: AddressOptions = {}): Network | undefined {
  const slash = text.indexOf('/')
  if (slash < 0) return undefined
  const address = parseAddress(text.slice(0, slash), options)
  const bits = text.slice(slash + 1)
  if (!address || !/^(0|[1-9]\d{0,2})$/.test(bits) || Number(bits) > address.length * 8) return undefined
  return { address, bits: Number(bits) }
}

export function formatAddress(address: Address): string {
  if (address.length === 4) return address.join('.')
  const groups = Array.from(
    { length: 8 },
    (_, index) => ((address[index * 2] ?? 0) << 8) | (address[index * 2 + 1] ?? 0),
  )
  let start = -1
  let longest = 1
  for (let index = 0; index < 8; index += 1) {
    let end = index
    while (end < 8 && groups[end] === 0) end += 1
    if (end - index > longest) [start, longest] = [index, end - index]
  }
  return start < 0 ? hex(groups) : `${hex(groups.slice(0, start))}::${hex(groups.slice(start + longest))}`
}

function hex(groups: readonly number[]): string {
  return groups.map((group) => group.toString(16)).join(':')
}

/** The address with all bits after `bits` cleared. */
export function maskAddress(address: Address, bits: number): Address {
  return address.map((byte, index) => {
    const left = Math.min(8, Math.max(0, bits - index * 8))
    return byte & (0xff << (8 - left)) & 0xff
  })
}

export function contains(network: Network, address: Address): boolean {
  if (network.address.length !== address.length) return false
  const masked = maskAddress(address, network.bits)
  return maskAddress(network.address, network.bits).every((byte, index) => byte === masked[index])
}

/** ::ffff:1.2.3.4 */
export function isMapped(address: Address): boolean {
  return address.length === 16 && address.every((byte, index) => index > 11 || byte === (index < 10 ? 0 : 0xff))
}

function parseFour(text: string, { allowLeadingZeros = false }: AddressOptions): Address | undefined {
  const pattern = allowLeadingZeros ? /^\d+$/ : /^(0|[1-9]\d{0,2})$/
  const parts = text.split('.')
  if (parts.length !== 4 || !parts.every((part) => pattern.test(part) && Number(part) <= 255)) return undefined
  return parts.map(Number)
}

function parseSix(text: string, options: AddressOptions): Address | undefined {
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const [left = '', right] = halves
  const head = groupBytes(left, right === undefined, options)
  const tail = right === undefined ? [] : groupBytes(right, true, options)
  if (!head || !tail) return undefined
  const missing = 16 - head.length - tail.length
  if (right === undefined ? missing !== 0 : missing < 2) return undefined
  return [...head, ...Array.from({ length: missing }, () => 0), ...tail]
}

function groupBytes(text: string, mayEndInFour: boolean, options: AddressOptions): number[] | undefined {
  if (text === '') return []
  const bytes: number[] = []
  const groups = text.split(':')
  for (const [index, group] of groups.entries()) {
    if (mayEndInFour && index === groups.length - 1 && group.includes('.')) {
      const four = parseFour(group, options)
      if (!four) return undefined
      bytes.push(...four)
    } else {
      if (!/^[0-9A-Fa-f]{1,4}$/.test(group)) return undefined
      const value = Number.parseInt(group, 16)
      bytes.push(value >> 8, value & 0xff)
    }
  }
  return bytes
}
