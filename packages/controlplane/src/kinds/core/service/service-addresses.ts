import type { Clock, Random } from '@tenure/kube'
import type { JsonObject } from '@tenure/kube/model'
import { asArray, valueAtPath } from '@tenure/kube/model'

import { asJsonObjects } from '../../../model/json.ts'
import type { Network } from '../../../schema/formats/addresses.ts'
import { contains, formatAddress, parseAddress, parseNetwork } from '../../../schema/formats/addresses.ts'
import type { Storage } from '../../../storage/types.ts'

export const SERVICE_RANGE = '10.96.0.0/12'
const MIN_NODE_PORT = 30_000
const MAX_NODE_PORT = 32_767
/** A reservation whose service is not stored, for example because of a dry run, expires after this time. */
const RESERVATION_MS = 60_000
/** After this many random draws that are in use, the allocator searches in order. */
const MAX_RANDOM_DRAWS = 64

export interface ServiceAddressesOptions {
  readonly random: Random
  readonly clock: Clock
  /** The range of cluster IPs, as a CIDR. Default: 10.96.0.0/12. */
  readonly range?: string
}

/** Allocates cluster IPs and node ports to services. */
export interface ServiceAddressAllocator {
  takeAddress(): string | undefined
  takePort(): number | undefined
  /** Reserves the given address. Returns the error if it is not available. */
  claimAddress(address: string): string | undefined
  claimPort(port: number): string | undefined
}

/**
 * Allocates addresses and ports. An allocation is reserved for `RESERVATION_MS`, and then held as long as a stored service
 * has it (`follow`). So concurrent creates never get the same address, and a rejected create leaks none.
 */
export class ServiceAddresses implements ServiceAddressAllocator {
  readonly #random: Random
  readonly #clock: Clock
  readonly #network: Network
  readonly #taken = new Set<string | number>()
  /** When each reservation expires, in milliseconds; in order of reservation. */
  readonly #reserved = new Map<string | number, number>()

  constructor({ random, clock, range = SERVICE_RANGE }: ServiceAddressesOptions) {
    const network = parseNetwork(range)
    if (network?.address.length !== 4) throw new TypeError(`${range} is not an IPv4 range`)
    this.#random = random
    this.#clock = clock
    this.#network = network
  }

  /** Tracks the addresses of stored services. Returns a function that stops it. */
  follow(storage: Storage): () => void {
    for (const { object } of storage.range('services')) this.#take(object as unknown as JsonObject)
    return storage.watch('services', storage.revision, ({ previous, current }) => {
      if (previous) for (const one of allocationsOf(previous.object as unknown as JsonObject)) this.#taken.delete(one)
      if (current) this.#take(current.object as unknown as JsonObject)
    })
  }

  takeAddress(): string | undefined {
    const size = 2 ** (32 - this.#network.bits)
    return this.#draw(size - 2, (index) => this.#addressAt(index + 1))
  }

  takePort(): number | undefined {
    return this.#draw(MAX_NODE_PORT - MIN_NODE_PORT + 1, (index) => MIN_NODE_PORT + index)
  }

  claimAddress(address: string): string | undefined {
    const parsed = parseAddress(address)
    if (!parsed || !contains(this.#network, parsed)) return 'the provided network does not match the current range'
    if (!this.#isFree(address)) return 'provided IP is already allocated'
    this.#reserve(address)
    return undefined
  }

  claimPort(port: number): string | undefined {
    if (port < MIN_NODE_PORT || port > MAX_NODE_PORT) {
      return `provided port is not in the valid range. The range of valid ports is ${MIN_NODE_PORT}-${MAX_NODE_PORT}`
    }
    if (!this.#isFree(port)) return 'provided port is already allocated'
    this.#reserve(port)
    return undefined
  }

  #take(service: JsonObject): void {
    for (const one of allocationsOf(service)) {
      this.#taken.add(one)
      this.#reserved.delete(one)
    }
  }

  #isFree(one: string | number): boolean {
    if (this.#taken.has(one)) return false
    const until = this.#reserved.get(one)
    return until === undefined || until <= this.#clock.now()
  }

  #reserve(one: string | number): void {
    const now = this.#clock.now()
    // Reservations are in order of expiry.
    for (const [other, until] of this.#reserved) {
      if (until > now) break
      this.#reserved.delete(other)
    }
    this.#reserved.delete(one)
    this.#reserved.set(one, now + RESERVATION_MS)
  }

  #draw<T extends string | number>(size: number, nth: (index: number) => T): T | undefined {
    const start = Math.floor(this.#random.fraction() * size)
    for (let draw = 0; draw < MAX_RANDOM_DRAWS; draw++) {
      const one = nth(draw === 0 ? start : Math.floor(this.#random.fraction() * size))
      if (this.#isFree(one)) return this.#reserving(one)
    }
    for (let offset = 0; offset < size; offset++) {
      const one = nth((start + offset) % size)
      if (this.#isFree(one)) return this.#reserving(one)
    }
    return undefined
  }

  #reserving<T extends string | number>(one: T): T {
    this.#reserve(one)
    return one
  }

  #addressAt(index: number): string {
    const [a = 0, b = 0, c = 0, d = 0] = this.#network.address
    const base = ((a << 24) | (b << 16) | (c << 8) | d) >>> 0
    const value = (base + index) >>> 0
    return formatAddress([value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255])
  }
}

/** Returns the addresses and node ports of a service. */
function allocationsOf(service: JsonObject): (string | number)[] {
  const addresses = asArray(valueAtPath(service, 'spec', 'clusterIPs')).filter(
    (one) => typeof one === 'string' && one !== 'None',
  )
  const ports = asJsonObjects(valueAtPath(service, 'spec', 'ports')).map(({ nodePort }) => nodePort)
  const health = valueAtPath(service, 'spec', 'healthCheckNodePort')
  return [...addresses, ...ports, health].filter(
    (one): one is string | number => typeof one === 'string' || (typeof one === 'number' && one > 0),
  )
}
