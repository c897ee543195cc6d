import type { Quantity } from '@tenure/kube/model'
import { formatQuantity, parseQuantity } from '@tenure/kube/model'

/** Values of the quantity and semver libraries. */

const NANO = 1_000_000_000n

export class CelQuantity {
  readonly #quantity: Quantity

  constructor(quantity: Quantity) {
    this.#quantity = quantity
  }

  static parse(text: string): CelQuantity {
    return new CelQuantity(parseQuantity(text))
  }

  static isValid(text: string): boolean {
    try {
      parseQuantity(text)
      return true
    } catch {
      return false
    }
  }

  get nanos(): bigint {
    return this.#quantity.nanos
  }

  sign(): bigint {
    return this.nanos > 0n ? 1n : this.nanos < 0n ? -1n : 0n
  }

  isInteger(): boolean {
    return this.nanos % NANO === 0n
  }

  asInteger(): bigint {
    if (!this.isInteger()) throw new Error('cannot convert value to integer')
    return this.nanos / NANO
  }

  asFloat(): number {
    return Number(this.nanos) / 1e9
  }

  plus(other: CelQuantity | bigint, factor: bigint): CelQuantity {
    const nanos = typeof other === 'bigint' ? other * NANO : other.nanos
    return new CelQuantity({ format: this.#quantity.format, nanos: this.nanos + factor * nanos })
  }

  compareTo(other: CelQuantity): bigint {
    return this.nanos < other.nanos ? -1n : this.nanos > other.nanos ? 1n : 0n
  }

  equals(other: unknown): boolean {
    return other instanceof CelQuantity && this.nanos === other.nanos
  }

  toString(): string {
    return formatQuantity(this.#quantity)
  }
}

const SEMVER =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*))*))?(?:\+[0-9A-Za-z.-]+)?$/

export class Semver {
  readonly numbers: readonly [bigint, bigint, bigint]
  readonly #text: string
  readonly #pre: readonly string[]

  constructor(text: string) {
    const match = SEMVER.exec(text)
    if (!match) throw new Error('No Major.Minor.Patch elements found')
    this.#text = text
    this.numbers = [BigInt(match[1] ?? 0), BigInt(match[2] ?? 0), BigInt(match[3] ?? 0)]
    this.#pre = match[4]?.split('.') ?? []
  }

  /** `isTolerant` accepts a leading v, missing parts and leading zeros. */
  static parse(text: string, isTolerant = false): Semver {
    return new Semver(isTolerant ? normalize(text) : text)
  }

  static isValid(text: string, isTolerant = false): boolean {
    return SEMVER.test(isTolerant ? normalize(text) : text)
  }

  compareTo(other: Semver): bigint {
    for (const index of [0, 1, 2] as const) {
      const mine = this.numbers[index]
      const theirs = other.numbers[index]
      if (mine !== theirs) return mine < theirs ? -1n : 1n
    }
    return comparePre(this.#pre, other.#pre)
  }

  equals(other: unknown): boolean {
    return other instanceof Semver && this.compareTo(other) === 0n
  }

  toString(): string {
    return this.#text
  }
}

function normalize(text: string): string {
  const [, core = '', rest = ''] = /^v?([^-+]*)(.*)$/s.exec(text.trim()) ?? []
  const parts = core.split('.').map((part) => part.replace(/^0+(?=\d)/, ''))
  return [...parts, '0', '0'].slice(0, Math.max(3, parts.length)).join('.') + rest
}

/** A prerelease precedes the release. */
function comparePre(a: readonly string[], b: readonly string[]): bigint {
  if (a.length === 0 || b.length === 0) return a.length === b.length ? 0n : a.length === 0 ? 1n : -1n
  for (let index = 0; index < Math.min(a.length, b.length); index += 1) {
    const left = a[index] ?? ''
    const right = b[index] ?? ''
    if (left === right) continue
    const areNumbers = /^\d+$/.test(left) && /^\d+$/.test(right)
    if (areNumbers) return BigInt(left) < BigInt(right) ? -1n : 1n
    if (/^\d+$/.test(left) !== /^\d+$/.test(right)) return /^\d+$/.test(left) ? -1n : 1n
    return left < right ? -1n : 1n
  }
  return a.length === b.length ? 0n : a.length < b.length ? -1n : 1n
}
