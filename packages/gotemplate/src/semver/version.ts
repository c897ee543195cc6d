/** Semantic versions, read as loosely as Masterminds/semver does. */
import { GoInt, GoStruct } from '../values/values.ts'
import type { GoValue } from '../values/values.ts'
import { FunctionError } from '../values/go-function.ts'
import type { GoFunction } from '../values/go-function.ts'
import { fn } from '../functions/define.ts'

export interface SemanticVersion {
  readonly major: bigint
  readonly minor: bigint
  readonly patch: bigint
  readonly pre: string
  readonly metadata: string
  readonly original: string
}

const MAX_VERSION_BYTES = 256
const MAX_SEGMENT = 2n ** 64n - 1n
const LOOSE =
  /^v?([0-9]+)(?:\.([0-9]+))?(?:\.([0-9]+))?(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?$/

export function parseVersion(text: string): SemanticVersion {
  if (Buffer.byteLength(text) > MAX_VERSION_BYTES) {
    throw new FunctionError(`version string is too long (max ${MAX_VERSION_BYTES} bytes)`)
  }
  const match = LOOSE.exec(text)
  if (!match) throw new FunctionError('invalid semantic version')
  const [, major, minor, patch, pre = '', metadata = ''] = match
  const version = {
    major: segmentValue(major),
    minor: segmentValue(minor),
    patch: segmentValue(patch),
    pre,
    metadata,
    original: text,
  }
  if (pre.split('.').some((part) => /^0\d+$/.test(part))) throw new FunctionError('version segment starts with 0')
  return version
}

function segmentValue(digits = '0'): bigint {
  const value = BigInt(digits)
  if (value <= MAX_SEGMENT) return value
  throw new FunctionError(`error parsing version segment: strconv.ParseUint: parsing "${digits}": value out of range`)
}

export function versionText({ major, minor, patch, pre, metadata }: SemanticVersion): string {
  return `${major}.${minor}.${patch}${pre && `-${pre}`}${metadata && `+${metadata}`}`
}

/** The numbers of a version, the most important first. */
export const SEGMENTS = ['major', 'minor', 'patch'] as const

/** Compares the first `count` numbers. */
export function compareSegments(a: SemanticVersion, b: SemanticVersion, count: number): number {
  const differing = SEGMENTS.slice(0, count).find((segment) => a[segment] !== b[segment])
  return differing === undefined ? 0 : a[differing] < b[differing] ? -1 : 1
}

export function compareVersions(a: SemanticVersion, b: SemanticVersion): number {
  const order = compareSegments(a, b, SEGMENTS.length)
  if (order !== 0) return order
  if (a.pre === '' || b.pre === '') return a.pre === b.pre ? 0 : a.pre === '' ? 1 : -1
  return comparePrereleases(a.pre, b.pre)
}

function comparePrereleases(a: string, b: string): number {
  const [left, right] = [a.split('.'), b.split('.')]
  for (let index = 0; index < Math.max(left.length, right.length); index++) {
    const order = comparePart(left[index] ?? '', right[index] ?? '')
    if (order !== 0) return order
  }
  return 0
}

function comparePart(a: string, b: string): number {
  if (a === b) return 0
  if (a === '' || b === '') return a === '' ? -1 : 1
  const [isNumber, isOtherNumber] = [/^\d+$/.test(a), /^\d+$/.test(b)]
  if (isNumber && isOtherNumber) return BigInt(a) > BigInt(b) ? 1 : -1
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1
  return a > b ? 1 : -1
}

const number = (value: bigint): GoValue => new GoInt('uint64', value)

const versionOf = (value: GoStruct): SemanticVersion => value.options.inner as SemanticVersion

const get = (name: string, read: () => GoValue): readonly [string, GoFunction] => [name, fn(name, [], read)]

/** The value that `semver` returns: a pointer to a struct without visible fields. */
export function versionValue(version: SemanticVersion, isPointer = true): GoStruct {
  const compare = (name: string, test: (order: number) => GoValue): readonly [string, GoFunction] => [
    name,
    fn(name, ['*semver.Version'], ([other]) => test(compareVersions(version, versionOf(other)))),
  ]
  const next = (name: string, changed: () => Partial<SemanticVersion>): readonly [string, GoFunction] => [
    name,
    fn(name, [], () => versionValue(renewed(version, { metadata: '', pre: '', ...changed() }), false)),
  ]
  const methods = new Map<string, GoFunction>([
    get('Major', () => number(version.major)),
    get('Minor', () => number(version.minor)),
    get('Patch', () => number(version.patch)),
    get('Prerelease', () => version.pre),
    get('Metadata', () => version.metadata),
    get('Original', () => version.original),
    get('String', () => versionText(version)),
    compare('Compare', (order) => new GoInt('int', BigInt(order))),
    compare('Equal', (order) => order === 0),
    compare('LessThan', (order) => order < 0),
    compare('LessThanEqual', (order) => order <= 0),
    compare('GreaterThan', (order) => order > 0),
    compare('GreaterThanEqual', (order) => order >= 0),
    next('IncPatch', () => (version.pre === '' ? { patch: version.patch + 1n } : {})),
    next('IncMinor', () => ({ minor: version.minor + 1n, patch: 0n })),
    next('IncMajor', () => ({ major: version.major + 1n, minor: 0n, patch: 0n })),
  ])
  const { major, minor, patch, pre, metadata, original } = version
  const fields = Object.entries({ major: number(major), minor: number(minor), patch: number(patch) })
    .map(([name, value]): { name: string; type: string; value: GoValue } => ({ name, type: 'uint64', value }))
    .concat(Object.entries({ pre, metadata, original }).map(([name, value]) => ({ name, type: 'string', value })))
  const text = (): string => versionText(version)
  return new GoStruct('semver.Version', fields, { isPointer, methods, text, json: text, inner: version })
}

function renewed(version: SemanticVersion, changes: Partial<SemanticVersion>): SemanticVersion {
  const changed = { ...version, ...changes }
  return { ...changed, original: (version.original.startsWith('v') ? 'v' : '') + versionText(changed) }
}
