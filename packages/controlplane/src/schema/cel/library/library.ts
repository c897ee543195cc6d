import { Environment, Optional } from '@marcbachmann/cel-js'

import { charge, chargeSize } from '../cost.ts'
import { DURATION, TIMESTAMP } from '../types.ts'
import { CelQuantity, Semver } from './amounts.ts'
import { namedFormat, NamedFormat } from './named-formats.ts'
import { Cidr, Ip, Url } from './network.ts'
import { contains, isEqual } from './objects.ts'
import * as strings from './strings.ts'

/** The CEL functions of Kubernetes that the engine lacks. */

/** The receiver in `ip.isCanonical(…)`. Each has its own type, so that the engine can tell them apart. */
class Namespace {
  readonly name: string = ''
}
class IpNamespace extends Namespace {
  override readonly name = 'ip'
}
class SetsNamespace extends Namespace {
  override readonly name = 'sets'
}
class FormatNamespace extends Namespace {
  override readonly name = 'format'
}

let base: Environment | undefined

/** Returns a copy of the environment that all rules share. */
export function baseEnvironment(): Environment {
  base ??= makeBase()
  return base.clone()
}

function makeBase(): Environment {
  const environment = new Environment({ enableOptionalTypes: true, homogeneousAggregateLiterals: false })
  registerTypes(environment)
  registerStrings(environment)
  registerLists(environment)
  registerNetwork(environment)
  registerAmounts(environment)
  registerFormats(environment)
  return environment
}

function registerTypes(environment: Environment): void {
  const types: readonly (readonly [string, new (...args: never[]) => object])[] = [
    ['net.IP', Ip],
    ['net.CIDR', Cidr],
    ['kubernetes.URL', Url],
    ['kubernetes.Quantity', CelQuantity],
    ['kubernetes.Semver', Semver],
    ['kubernetes.NamedFormat', NamedFormat],
    ['IpNamespace', IpNamespace],
    ['SetsNamespace', SetsNamespace],
    ['FormatNamespace', FormatNamespace],
  ]
  for (const [name, ctor] of types) environment.registerType(name, { ctor, fields: {} })
  for (const [name] of types) environment.registerOperator(`${name} == ${name}`, () => false)
  environment.registerConstant('ip', 'IpNamespace', new IpNamespace())
  environment.registerConstant('sets', 'SetsNamespace', new SetsNamespace())
  environment.registerConstant('format', 'FormatNamespace', new FormatNamespace())
}

function registerStrings(environment: Environment): void {
  environment
    .registerFunction('string.charAt(int): string', strings.charAt)
    .registerFunction('string.replace(string, string): string', strings.replace)
    .registerFunction('string.replace(string, string, int): string', strings.replace)
    .registerFunction('string.find(string): string', strings.find)
    .registerFunction('string.findAll(string): list<string>', strings.findAll)
    .registerFunction('string.findAll(string, int): list<string>', strings.findAll)
    .registerFunction('string.format(list<dyn>): string', strings.format)
    .registerFunction('matches(string, string): bool', strings.matches)
    .registerFunction(`string(${TIMESTAMP}): string`, strings.textOf)
    .registerFunction(`string(${DURATION}): string`, String)
    .registerFunction(`int(${TIMESTAMP}): int`, (time: Date) => BigInt(Math.floor(time.getTime() / 1000)))
}

type Ordered = bigint | number | string | boolean

function compare(a: unknown, b: unknown): number {
  charge(1)
  const left = a instanceof Date ? a.getTime() : (a as Ordered)
  const right = b instanceof Date ? b.getTime() : (b as Ordered)
  return left < right ? -1 : left > right ? 1 : 0
}

function extreme(list: readonly unknown[], sign: number, name: string): unknown {
  if (list.length === 0) throw new Error(`${name} called on empty list`)
  return list.reduce((best, item) => (compare(item, best) * sign > 0 ? item : best))
}

function sum(list: readonly unknown[]): unknown {
  chargeSize(list.length * 10)
  if (list.every((item) => typeof item === 'bigint')) return list.reduce((total, item) => total + item, 0n)
  return list.reduce((total: number, item) => total + Number(item), 0)
}

function includesAll(list: readonly unknown[], part: readonly unknown[]): boolean {
  return part.every((item) => contains(list, item))
}

function registerLists(environment: Environment): void {
  environment
    .registerFunction('list<A>.isSorted(): bool', (list: readonly unknown[]) =>
      list.every((item, index) => index === 0 || compare(list[index - 1], item) <= 0),
    )
    .registerFunction('list<A>.sum(): A', sum)
    .registerFunction('list<A>.min(): A', (list: readonly unknown[]) => extreme(list, -1, 'min'))
    .registerFunction('list<A>.max(): A', (list: readonly unknown[]) => extreme(list, 1, 'max'))
    .registerFunction('list<A>.indexOf(A): int', (list: readonly unknown[], value: unknown) =>
      BigInt(list.findIndex((item) => isEqual(item, value))),
    )
    .registerFunction('list<A>.lastIndexOf(A): int', (list: readonly unknown[], value: unknown) =>
      BigInt(list.findLastIndex((item) => isEqual(item, value))),
    )
  environment
    .registerFunction(
      'SetsNamespace.contains(list<A>, list<A>): bool',
      (_: unknown, list: readonly unknown[], part: readonly unknown[]) => includesAll(list, part),
    )
    .registerFunction(
      'SetsNamespace.equivalent(list<A>, list<A>): bool',
      (_: unknown, a: readonly unknown[], b: readonly unknown[]) => includesAll(a, b) && includesAll(b, a),
    )
    .registerFunction(
      'SetsNamespace.intersects(list<A>, list<A>): bool',
      (_: unknown, a: readonly unknown[], b: readonly unknown[]) => a.some((item) => contains(b, item)),
    )
}

function registerNetwork(environment: Environment): void {
  environment
    .registerFunction('ip(string): net.IP', Ip.parse)
    .registerFunction('isIP(string): bool', Ip.isValid)
    .registerFunction(
      'IpNamespace.isCanonical(string): bool',
      (_: unknown, text: string) => String(Ip.parse(text)) === text,
    )
    .registerFunction('string(net.IP): string', String)
    .registerFunction('net.IP.family(): int', (ip: Ip) => ip.family())
    .registerFunction('net.IP.isUnspecified(): bool', (ip: Ip) => ip.isUnspecified())
    .registerFunction('net.IP.isLoopback(): bool', (ip: Ip) => ip.isLoopback())
    .registerFunction('net.IP.isLinkLocalMulticast(): bool', (ip: Ip) => ip.isLinkLocalMulticast())
    .registerFunction('net.IP.isLinkLocalUnicast(): bool', (ip: Ip) => ip.isLinkLocalUnicast())
    .registerFunction('net.IP.isGlobalUnicast(): bool', (ip: Ip) => ip.isGlobalUnicast())
    .registerFunction('cidr(string): net.CIDR', Cidr.parse)
    .registerFunction('isCIDR(string): bool', Cidr.isValid)
    .registerFunction('string(net.CIDR): string', String)
    .registerFunction('net.CIDR.containsIP(net.IP): bool', (cidr: Cidr, ip: Ip) => cidr.containsIp(ip))
    .registerFunction('net.CIDR.containsIP(string): bool', (cidr: Cidr, ip: string) => cidr.containsIp(ip))
    .registerFunction('net.CIDR.containsCIDR(net.CIDR): bool', (cidr: Cidr, other: Cidr) => cidr.containsCidr(other))
    .registerFunction('net.CIDR.containsCIDR(string): bool', (cidr: Cidr, other: string) => cidr.containsCidr(other))
    .registerFunction('net.CIDR.ip(): net.IP', (cidr: Cidr) => cidr.ip())
    .registerFunction('net.CIDR.masked(): net.CIDR', (cidr: Cidr) => cidr.masked())
    .registerFunction('net.CIDR.prefixLength(): int', (cidr: Cidr) => cidr.prefixLength())
    .registerFunction('url(string): kubernetes.URL', (text: string) => new Url(text))
    .registerFunction('isURL(string): bool', Url.isValid)
    .registerFunction('kubernetes.URL.getScheme(): string', (url: Url) => url.scheme())
    .registerFunction('kubernetes.URL.getHost(): string', (url: Url) => url.host())
    .registerFunction('kubernetes.URL.getHostname(): string', (url: Url) => url.hostname())
    .registerFunction('kubernetes.URL.getPort(): string', (url: Url) => url.port())
    .registerFunction('kubernetes.URL.getEscapedPath(): string', (url: Url) => url.escapedPath())
    .registerFunction('kubernetes.URL.getQuery(): map<string, list<string>>', (url: Url) => url.query())
}

function registerAmounts(environment: Environment): void {
  const Q = 'kubernetes.Quantity'
  const S = 'kubernetes.Semver'
  environment
    .registerFunction(`quantity(string): ${Q}`, CelQuantity.parse)
    .registerFunction('isQuantity(string): bool', CelQuantity.isValid)
    .registerFunction(`${Q}.sign(): int`, (q: CelQuantity) => q.sign())
    .registerFunction(`${Q}.isInteger(): bool`, (q: CelQuantity) => q.isInteger())
    .registerFunction(`${Q}.asInteger(): int`, (q: CelQuantity) => q.asInteger())
    .registerFunction(`${Q}.asApproximateFloat(): double`, (q: CelQuantity) => q.asFloat())
    .registerFunction(`${Q}.add(${Q}): ${Q}`, (q: CelQuantity, other: CelQuantity) => q.plus(other, 1n))
    .registerFunction(`${Q}.add(int): ${Q}`, (q: CelQuantity, other: bigint) => q.plus(other, 1n))
    .registerFunction(`${Q}.sub(${Q}): ${Q}`, (q: CelQuantity, other: CelQuantity) => q.plus(other, -1n))
    .registerFunction(`${Q}.sub(int): ${Q}`, (q: CelQuantity, other: bigint) => q.plus(other, -1n))
    .registerFunction(`${Q}.compareTo(${Q}): int`, (q: CelQuantity, other: CelQuantity) => q.compareTo(other))
    .registerFunction(`${Q}.isGreaterThan(${Q}): bool`, (q: CelQuantity, other: CelQuantity) => q.compareTo(other) > 0n)
    .registerFunction(`${Q}.isLessThan(${Q}): bool`, (q: CelQuantity, other: CelQuantity) => q.compareTo(other) < 0n)
    .registerFunction(`semver(string): ${S}`, (text: string) => Semver.parse(text))
    .registerFunction(`semver(string, bool): ${S}`, Semver.parse)
    .registerFunction('isSemver(string): bool', (text: string) => Semver.isValid(text))
    .registerFunction('isSemver(string, bool): bool', Semver.isValid)
    .registerFunction(`${S}.major(): int`, (version: Semver) => version.numbers[0])
    .registerFunction(`${S}.minor(): int`, (version: Semver) => version.numbers[1])
    .registerFunction(`${S}.patch(): int`, (version: Semver) => version.numbers[2])
    .registerFunction(`${S}.compareTo(${S}): int`, (version: Semver, other: Semver) => version.compareTo(other))
    .registerFunction(
      `${S}.isGreaterThan(${S}): bool`,
      (version: Semver, other: Semver) => version.compareTo(other) > 0n,
    )
    .registerFunction(`${S}.isLessThan(${S}): bool`, (version: Semver, other: Semver) => version.compareTo(other) < 0n)
}

function registerFormats(environment: Environment): void {
  const F = 'kubernetes.NamedFormat'
  environment
    .registerFunction(`FormatNamespace.named(string): optional<${F}>`, (_: unknown, name: string) => {
      const found = namedFormat(name)
      return found ? Optional.of(found) : Optional.none()
    })
    .registerFunction(`${F}.validate(string): optional<list<string>>`, (found: NamedFormat, text: string) => {
      chargeSize(text.length)
      const wrong = found.validate(text)
      return wrong.length > 0 ? Optional.of(wrong) : Optional.none()
    })
  for (const name of NamedFormat.names) {
    environment.registerFunction(`FormatNamespace.${name}(): ${F}`, () => namedFormat(name))
  }
}
