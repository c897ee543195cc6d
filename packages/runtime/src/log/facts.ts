import type { Facts } from './logger.ts'

const HIDDEN = '<hidden>'

/** Keys whose values nobody should read in a log. `secretName`, `tokenReview` and the like are no secrets. */
const SECRET_KEY =
  /(?:^(?:(?:proxy-?)?authorization|(?:set-?)?cookie|credentials?|connection[-_]?string|stringdata)|password|passwd|passphrase|token|secret|(?:private|api|access|client)[-_]?key(?:[-_]?data)?)$/i

const DEEPEST = 6
const MOST_ENTRIES = 100

/** Facts ready for JSON: secrets hidden, errors with code and causes (and a stack, unless they were foreseen), objects of Kubernetes by name, cycles cut. */
export function cleanFacts(facts: Facts): Record<string, unknown> {
  const clean: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(facts)) {
    // These three are the line's own.
    const name = key === 'level' || key === 'time' || key === 'msg' ? `${key}_` : key
    clean[name] = isSecretKey(key, value) ? HIDDEN : cleanValue(value, 0)
  }
  return clean
}

/** Text without what looks like a credential: bearer tokens, passwords in URLs. */
export function cleanText(text: string): string {
  let clean = text
  if (/bearer |basic /i.test(clean)) clean = clean.replaceAll(/\b(bearer|basic) [\w.~+/=-]{8,}/gi, `$1 ${HIDDEN}`)
  if (clean.includes('://')) clean = clean.replaceAll(/:\/\/([^\s:/@]*):[^\s/@]+@/g, `://$1:${HIDDEN}@`)
  return clean
}

function isSecretKey(key: string, value: unknown): boolean {
  // A flag or a number is no secret: `token: true` says that there is one.
  return typeof value !== 'boolean' && typeof value !== 'number' && SECRET_KEY.test(key)
}

function cleanValue(value: unknown, depth: number): unknown {
  switch (typeof value) {
    case 'string':
      return cleanText(value)
    case 'bigint':
      return value.toString()
    case 'function':
    case 'symbol':
      return value.toString().slice(0, 60)
    case 'object':
      return value === null ? null : cleanObject(value, depth)
    case 'number':
      // JSON would write null, and hide that it is wrong.
      return Number.isFinite(value) ? value : String(value)
    default:
      return value
  }
}

function cleanObject(value: object, depth: number): unknown {
  if (value instanceof Error) return cleanError(value, depth)
  if (depth >= DEEPEST) return '<deeper>'
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString()
  if (value instanceof Uint8Array) return `<${value.length} bytes>`
  if (value instanceof Map) return cleanObject(Object.fromEntries([...value].slice(0, MOST_ENTRIES)), depth)
  if (Array.isArray(value) || value instanceof Set) {
    return [...value].slice(0, MOST_ENTRIES).map((item) => cleanValue(item, depth + 1))
  }
  const named = kubeName(value)
  if (named) return named
  const clean: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(value).slice(0, MOST_ENTRIES)) {
    clean[key] = isSecretKey(key, item) ? HIDDEN : cleanValue(item, depth + 1)
  }
  return clean
}

/** `Secret shop/db`: an object of Kubernetes is never written whole. */
function kubeName(value: object): string | undefined {
  const { kind, metadata } = value as { kind?: unknown; metadata?: { name?: unknown; namespace?: unknown } }
  if (typeof kind !== 'string' || typeof metadata?.name !== 'string') return undefined
  return typeof metadata.namespace === 'string'
    ? `${kind} ${metadata.namespace}/${metadata.name}`
    : `${kind} ${metadata.name}`
}

function cleanError(error: Error, depth: number): Record<string, unknown> {
  const { code, fate, status, reason } = error as Error & Record<'code' | 'fate' | 'status' | 'reason', unknown>
  const clean: Record<string, unknown> = { name: error.name, message: cleanText(error.message) }
  for (const [key, value] of Object.entries({ code, fate, status, reason })) {
    if (typeof value === 'string' || typeof value === 'number') clean[key] = value
  }
  // A failure that was foreseen is explained by its message; where it was noticed is noise.
  if (error.stack && fate !== 'retry' && fate !== 'terminal') clean['stack'] = cleanText(error.stack)
  if (error.cause !== undefined) clean['cause'] = depth >= DEEPEST ? '<deeper>' : cleanValue(error.cause, depth + 1)
  if (error instanceof AggregateError && depth < DEEPEST) {
    clean['errors'] = error.errors.slice(0, 10).map((each: unknown) => cleanValue(each, depth + 1))
  }
  return clean
}
