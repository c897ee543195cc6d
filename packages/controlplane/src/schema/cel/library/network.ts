import type { Address, Network } from '../../formats/addresses.ts'
import { contains, formatAddress, isMapped, maskAddress, parseAddress, parseNetwork } from '../../formats/addresses.ts'
import { goQuote } from '../../go-text.ts'

/** Values of the ip, cidr and url libraries. */

/** Kubernetes rejects zones and IPv4-mapped IPv6 addresses. */
function strictAddress(text: string): Address | undefined {
  const address = parseAddress(text)
  return address && !isMapped(address) ? address : undefined
}

export class Ip {
  readonly #address: Address

  constructor(address: Address) {
    this.#address = address
  }

  static parse(text: string): Ip {
    const address = strictAddress(text)
    if (!address) throw new Error(`IP Address '${text}' parse error during conversion from string`)
    return new Ip(address)
  }

  static isValid(text: string): boolean {
    return strictAddress(text) !== undefined
  }

  get address(): Address {
    return this.#address
  }

  family(): bigint {
    return this.#address.length === 4 ? 4n : 6n
  }

  isUnspecified(): boolean {
    return this.#address.every((byte) => byte === 0)
  }

  isLoopback(): boolean {
    const address = this.#address
    if (address.length === 4) return address[0] === 127
    return address.every((byte, index) => byte === (index === 15 ? 1 : 0))
  }

  isLinkLocalMulticast(): boolean {
    const [first = 0, second = 0, third] = this.#address
    return this.#address.length === 4
      ? first === 224 && second === 0 && third === 0
      : first === 0xff && (second & 0x0f) === 2
  }

  isLinkLocalUnicast(): boolean {
    const [first = 0, second = 0] = this.#address
    return this.#address.length === 4 ? first === 169 && second === 254 : first === 0xfe && (second & 0xc0) === 0x80
  }

  isGlobalUnicast(): boolean {
    const [first = 0] = this.#address
    const isMulticast = this.#address.length === 4 ? first >= 224 && first < 240 : first === 0xff
    const isBroadcast = this.#address.length === 4 && this.#address.every((byte) => byte === 255)
    return !this.isUnspecified() && !this.isLoopback() && !isMulticast && !isBroadcast && !this.isLinkLocalUnicast()
  }

  equals(other: unknown): boolean {
    return other instanceof Ip && String(this) === String(other)
  }

  toString(): string {
    return formatAddress(this.#address)
  }
}

export class Cidr {
  readonly #network: Network

  constructor(network: Network) {
    this.#network = network
  }

  static parse(text: string): Cidr {
    const network = parseNetwork(text)
    if (!network || isMapped(network.address)) {
      const why = text.includes('/') ? 'ParseAddr: unable to parse IP' : "no '/'"
      const prefix = 'network address parse error during conversion from string: '
      throw new Error(`${prefix}${prefix}netip.ParsePrefix(${goQuote(text)}): ${why}`)
    }
    return new Cidr(network)
  }

  static isValid(text: string): boolean {
    const network = parseNetwork(text)
    return network !== undefined && !isMapped(network.address)
  }

  containsIp(other: Ip | string): boolean {
    if (typeof other === 'string' && !Ip.isValid(other)) throw new Error('no such overload')
    return contains(this.#network, (typeof other === 'string' ? Ip.parse(other) : other).address)
  }

  containsCidr(other: Cidr | string): boolean {
    if (typeof other === 'string' && !Cidr.isValid(other)) throw new Error('no such overload')
    const inner = (typeof other === 'string' ? Cidr.parse(other) : other).#network
    return inner.bits >= this.#network.bits && contains(this.#network, inner.address)
  }

  ip(): Ip {
    return new Ip(this.#network.address)
  }

  masked(): Cidr {
    const { address, bits } = this.#network
    return new Cidr({ address: maskAddress(address, bits), bits })
  }

  prefixLength(): bigint {
    return BigInt(this.#network.bits)
  }

  equals(other: unknown): boolean {
    return other instanceof Cidr && String(this) === String(other)
  }

  toString(): string {
    return `${formatAddress(this.#network.address)}/${this.#network.bits}`
  }
}

/** An absolute URL or an absolute path. */
export class Url {
  readonly #text: string
  readonly #parsed: URL
  readonly #isPath: boolean

  constructor(text: string) {
    this.#text = text
    this.#isPath = text.startsWith('/')
    const passesChecks = this.#isPath || /^[A-Za-z][A-Za-z0-9+.-]*:/.test(text)
    const parsed = passesChecks ? URL.parse(text, 'http://localhost') : null
    if (!parsed)
      throw new Error(`URL parse error during conversion from string: parse "${text}": invalid URI for request`)
    this.#parsed = parsed
  }

  static isValid(text: string): boolean {
    try {
      return new Url(text) instanceof Url
    } catch {
      return false
    }
  }

  scheme(): string {
    return this.#isPath ? '' : this.#parsed.protocol.slice(0, -1)
  }

  host(): string {
    if (this.#isPath) return ''
    return /^[^:]+:\/\/(?:[^/?#@]*@)?([^/?#]*)/.exec(this.#text)?.[1] ?? ''
  }

  hostname(): string {
    return this.host()
      .replace(/:\d*$/, '')
      .replace(/^\[(.*)\]$/, '$1')
  }

  port(): string {
    return /:(\d*)$/.exec(this.host())?.[1] ?? ''
  }

  escapedPath(): string {
    const path = this.#isPath ? this.#text : this.#text.replace(/^[^:]+:(\/\/[^/?#]*)?/, '')
    return path.replace(/[?#].*$/s, '')
  }

  query(): Map<string, string[]> {
    const found = new Map<string, string[]>()
    for (const [key, value] of this.#parsed.searchParams) found.set(key, [...(found.get(key) ?? []), value])
    return found
  }

  equals(other: unknown): boolean {
    return other instanceof Url && this.#text === other.#text
  }

  toString(): string {
    return this.#text
  }
}
