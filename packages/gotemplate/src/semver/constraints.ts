/** Constraints on versions: `>=1.2, <2 || ~3`. */
import { FunctionError } from '../values/go-function.ts'
import type { GoFunction } from '../values/go-function.ts'
import { quote } from '../format/quote.ts'
import { fn } from '../functions/define.ts'
import { comparePrereleases, compareVersions, parseVersion, versionValue } from './version.ts'
import type { SemanticVersion } from './version.ts'

const OPERATORS = '=||!=|>|<|>=|=>|<=|=<|~|~>|\\^'
/** The characters that the library allows in a segment. */
const SEGMENT = '[0-9|x|X|\\*]+'
const EXTRA = '[0-9A-Za-z\\-]+(?:\\.[0-9A-Za-z\\-]+)*'
const VERSION = `v?(${SEGMENT})(\\.${SEGMENT})?(\\.${SEGMENT})?(-${EXTRA})?(\\+${EXTRA})?`
const PLAIN_VERSION = VERSION.replaceAll(/\((?!\?)/g, '(?:')
/** Go's regular expressions prefer the first operator that matches, but here the longest one must win. */
const OPERATORS_BY_LENGTH = '!=|>=|=>|<=|=<|~>|=|>|<|~|\\^|'

const SPACE = '[\\t\\n\\f\\r ]'
const CONSTRAINT = new RegExp(`^${SPACE}*(${OPERATORS_BY_LENGTH})${SPACE}*(${VERSION})${SPACE}*$`)
const RANGE = new RegExp(`${SPACE}*(${PLAIN_VERSION})${SPACE}+-${SPACE}+(${PLAIN_VERSION})${SPACE}*`, 'g')
const FIND = new RegExp(`(?:${OPERATORS_BY_LENGTH})${SPACE}*(?:${PLAIN_VERSION})`, 'g')
const ONE = `${SPACE}*(?:${OPERATORS})${SPACE}*(?:${PLAIN_VERSION})${SPACE}*`
const VALID = new RegExp(
  `^(?:${ONE})(?:(?:${SPACE}+|,${SPACE}*)(?:${OPERATORS})${SPACE}*(?:${PLAIN_VERSION})${SPACE}*)*$`,
)
const MAX_CONSTRAINT_BYTES = 512
const MAX_GROUPS = 32

interface Constraint {
  readonly operator: string
  readonly version: SemanticVersion
  /** Whether segments are missing or wildcards. */
  readonly isDirty: boolean
  readonly isMinorDirty: boolean
  readonly isPatchDirty: boolean
}

/** Whether the version fulfils the constraint. */
export function satisfies(constraint: string, version: SemanticVersion): boolean {
  if (Buffer.byteLength(constraint) > MAX_CONSTRAINT_BYTES) {
    throw new FunctionError(`constraint string is too long (max ${MAX_CONSTRAINT_BYTES} bytes)`)
  }
  const groups = constraint.replaceAll(RANGE, '>= $1, <= $2 ').split('||')
  if (groups.length > MAX_GROUPS) throw new FunctionError(`too many constraint groups (max ${MAX_GROUPS})`)
  const parsed = groups.map(parseGroup)
  return parsed.some((group) => {
    const hasPrerelease = group.some((each) => each.version.pre !== '')
    return group.every((each) => (version.pre !== '' && !hasPrerelease ? false : isFulfilled(each, version)))
  })
}

function parseGroup(text: string): readonly Constraint[] {
  if (!VALID.test(text)) throw new FunctionError(`improper constraint: ${quote(text)}`)
  return (text.match(FIND) ?? [text]).map(parseConstraint)
}

const isWildcard = (segment: string): boolean => segment === 'x' || segment === 'X' || segment === '*'

const isOpen = (segment: string): boolean => segment === '' || isWildcard(segment.replace(/^\./, ''))

function parseConstraint(text: string): Constraint {
  const match = CONSTRAINT.exec(text)
  if (!match) throw new FunctionError(`improper constraint: ${quote(text)}`)
  const [, operator = '', full = '', major = '', minor = '', patch = '', pre = ''] = match
  const open = isOpen(major) ? 'major' : isOpen(minor) ? 'minor' : isOpen(patch) ? 'patch' : undefined
  const spelled = {
    major: `0.0.0${pre}`,
    minor: `${major}.0.0${pre}`,
    patch: `${major}${minor}.0${pre}`,
  }
  let version: SemanticVersion
  try {
    version = parseVersion(open === undefined ? full : spelled[open])
  } catch {
    throw new FunctionError('constraint parser error')
  }
  return {
    operator,
    version,
    isDirty: open !== undefined,
    isMinorDirty: open === 'minor',
    isPatchDirty: open === 'patch',
  }
}

function isFulfilled(constraint: Constraint, version: SemanticVersion): boolean {
  const { operator, version: wanted, isDirty, isMinorDirty, isPatchDirty } = constraint
  const order = compareVersions(version, wanted)
  switch (operator) {
    case '':
    case '=':
      return isDirty ? isTilde(constraint, version, order) : order === 0
    case '!=':
      return isDifferent(constraint, version, order)
    case '>':
      if (!isDirty) return order > 0
      if (version.major !== wanted.major) return version.major > wanted.major
      if (isMinorDirty) return false
      return isPatchDirty ? version.minor > wanted.minor : order > 0
    case '<':
      return order < 0
    case '>=':
    case '=>':
      return order >= 0
    case '<=':
    case '=<':
      if (!isDirty) return order <= 0
      if (version.major > wanted.major) return false
      return !(version.major === wanted.major && version.minor > wanted.minor && !isMinorDirty)
    case '^':
      return isCaret(constraint, version, order)
    default:
      return isTilde(constraint, version, order)
  }
}

function isTilde(
  { version: wanted, isMinorDirty, isPatchDirty }: Constraint,
  version: SemanticVersion,
  order: number,
): boolean {
  if (order < 0) return false
  const isZero = wanted.major === 0n && wanted.minor === 0n && wanted.patch === 0n
  if (isZero && !isMinorDirty && !isPatchDirty) return true
  return version.major === wanted.major && (version.minor === wanted.minor || isMinorDirty)
}

function isDifferent(constraint: Constraint, version: SemanticVersion, order: number): boolean {
  const { version: wanted, isDirty, isMinorDirty, isPatchDirty } = constraint
  if (!isDirty) return order !== 0
  if (version.major !== wanted.major) return true
  if (version.minor !== wanted.minor && !isMinorDirty) return true
  if (isMinorDirty) return false
  if (version.patch !== wanted.patch && !isPatchDirty) return true
  if (isPatchDirty) {
    return (version.pre !== '' || wanted.pre !== '') && comparePrereleases(version.pre, wanted.pre) !== 0
  }
  return order !== 0
}

function isCaret(constraint: Constraint, version: SemanticVersion, order: number): boolean {
  const { version: wanted, isMinorDirty, isPatchDirty } = constraint
  if (order < 0) return false
  if (wanted.major > 0n || isMinorDirty) return version.major === wanted.major
  if (version.major > 0n) return false
  if (wanted.minor > 0n || isPatchDirty) return version.minor === wanted.minor
  if (version.minor > 0n) return false
  return version.patch === wanted.patch
}

export const semverFunctions: readonly GoFunction[] = [
  fn('semver', ['string'], ([text]) => versionValue(parseVersion(text))),
  fn('semverCompare', ['string', 'string'], ([constraint, text]) => {
    // The library reads the constraint first, so that its errors come first.
    satisfies(constraint, parseVersion('0.0.0'))
    return satisfies(constraint, parseVersion(text))
  }),
]
