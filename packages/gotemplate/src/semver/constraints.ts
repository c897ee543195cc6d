/** Constraints on versions: `>=1.2, <2 || ~3`. */
import { FunctionError } from '../values/go-function.ts'
import type { GoFunction } from '../values/go-function.ts'
import { quote } from '../format/quote.ts'
import { fn } from '../functions/define.ts'
import { compareSegments, compareVersions, parseVersion, SEGMENTS, versionValue } from './version.ts'
import type { SemanticVersion } from './version.ts'

const MAX_CONSTRAINT_BYTES = 512
const MAX_ALTERNATIVES = 32

// The grammar, as patterns without groups. A bar is allowed in a segment, where it makes the version unreadable.
const SPACE = '[\\t\\n\\f\\r ]'
const OPERATOR = '(?:!=|[<>]=?|=[<>]?|~>?|\\^)?'
const SEGMENT = '[0-9xX*|]+'
const LABEL = '[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*'
const VERSION = `v?${SEGMENT}(?:\\.${SEGMENT}){0,2}(?:-${LABEL})?(?:\\+${LABEL})?`
const TERM = `${OPERATOR}${SPACE}*${VERSION}`

const TERMS = new RegExp(`^${SPACE}*${TERM}${SPACE}*(?:(?:${SPACE}+|,${SPACE}*)${TERM}${SPACE}*)*$`)
const EACH_TERM = new RegExp(TERM, 'g')
const HYPHEN_RANGE = new RegExp(`${SPACE}*(${VERSION})${SPACE}+-${SPACE}+(${VERSION})${SPACE}*`, 'g')
const PARTS = new RegExp(`^(${OPERATOR})${SPACE}*(([^-+]+)(-[^+]+)?.*)`)
const WILDCARD = /^[xX*]$/

/** A version that a constraint names, and how many of its segments: 1 for `1.x`, 3 for `1.2.3`. The others are 0. */
interface Bound {
  readonly version: SemanticVersion
  readonly depth: number
}

type Rule = (version: SemanticVersion, bound: Bound) => boolean

interface Term {
  readonly rule: Rule
  readonly bound: Bound
}

/** Compares the segments that the constraint names. A constraint that names none or all compares whole versions. */
function compareNamed(version: SemanticVersion, bound: Bound): number {
  const isPartial = bound.depth > 0 && bound.depth < SEGMENTS.length
  return isPartial ? compareSegments(version, bound.version, bound.depth) : compareVersions(version, bound.version)
}

/** Whether the version is the bound or a later one with the same first segments. */
function isFrom(version: SemanticVersion, bound: Bound, sharedSegments: number): boolean {
  return compareVersions(version, bound.version) >= 0 && compareSegments(version, bound.version, sharedSegments) === 0
}

const isZero = ({ major, minor, patch }: SemanticVersion): boolean => major === 0n && minor === 0n && patch === 0n

const tilde: Rule = (version, bound) => {
  const isAny = bound.depth === SEGMENTS.length && isZero(bound.version)
  return isFrom(version, bound, isAny ? 0 : Math.min(bound.depth, 2))
}

const caret: Rule = (version, bound) => {
  const { major, minor } = bound.version
  // The segments up to the first that is not zero stay the same, or those that the constraint names.
  const shared = major > 0n || bound.depth === 1 ? 1 : minor > 0n || bound.depth === 2 ? 2 : 3
  return isFrom(version, bound, shared)
}

const equal: Rule = (version, bound) =>
  bound.depth === SEGMENTS.length ? compareVersions(version, bound.version) === 0 : tilde(version, bound)

const different: Rule = (version, bound) => {
  if (compareNamed(version, bound) !== 0) return true
  return bound.depth === 2 && version.pre !== bound.version.pre
}

const atLeast: Rule = (version, bound) => compareVersions(version, bound.version) >= 0

const atMost: Rule = (version, bound) => {
  const order = bound.depth === 0 ? compareSegments(version, bound.version, 2) : compareNamed(version, bound)
  return order <= 0
}

const RULES: ReadonlyMap<string, Rule> = new Map([
  ['', equal],
  ['=', equal],
  ['!=', different],
  ['>', (version, bound) => compareNamed(version, bound) > 0],
  ['<', (version, bound) => compareVersions(version, bound.version) < 0],
  ['>=', atLeast],
  ['=>', atLeast],
  ['<=', atMost],
  ['=<', atMost],
  ['~', tilde],
  ['~>', tilde],
  ['^', caret],
])

/** Reads a constraint into a test for versions. */
export function parseConstraint(text: string): (version: SemanticVersion) => boolean {
  if (Buffer.byteLength(text) > MAX_CONSTRAINT_BYTES) {
    throw new FunctionError(`constraint string is too long (max ${MAX_CONSTRAINT_BYTES} bytes)`)
  }
  const alternatives = text.replaceAll(HYPHEN_RANGE, '>= $1, <= $2 ').split('||')
  if (alternatives.length > MAX_ALTERNATIVES) {
    throw new FunctionError(`too many constraint groups (max ${MAX_ALTERNATIVES})`)
  }
  const tests = alternatives.map(parseAlternative)
  return (version) => tests.some((test) => test(version))
}

/** Terms that must all hold. A prerelease is accepted only if one of them names a prerelease. */
function parseAlternative(text: string): (version: SemanticVersion) => boolean {
  if (!TERMS.test(text)) throw new FunctionError(`improper constraint: ${quote(text)}`)
  const terms = (text.match(EACH_TERM) ?? []).map(parseTerm)
  const allowsPrereleases = terms.some(({ bound }) => bound.version.pre !== '')
  return (version) =>
    (version.pre === '' || allowsPrereleases) && terms.every(({ rule, bound }) => rule(version, bound))
}

function parseTerm(text: string): Term {
  const [, operator = '', whole = '', numbers = '', prerelease = ''] = PARTS.exec(text) ?? []
  const segments = numbers.replace(/^v/, '').split('.')
  const wildcard = segments.findIndex((segment) => WILDCARD.test(segment))
  const named = wildcard === -1 ? segments : segments.slice(0, wildcard)
  const depth = named.length
  const filled = SEGMENTS.map((_name, index) => named[index] ?? '0').join('.') + prerelease
  const rule = RULES.get(operator)
  if (!rule) throw new FunctionError(`improper constraint: ${quote(text)}`)
  try {
    return { rule, bound: { version: parseVersion(depth < SEGMENTS.length ? filled : whole), depth } }
  } catch {
    throw new FunctionError('constraint parser error')
  }
}

export const semverFunctions: readonly GoFunction[] = [
  fn('semver', ['string'], ([text]) => versionValue(parseVersion(text))),
  fn('semverCompare', ['string', 'string'], ([constraint, text]) => {
    // The constraint is read first, so that its errors come first.
    const isFulfilled = parseConstraint(constraint)
    return isFulfilled(parseVersion(text))
  }),
]
