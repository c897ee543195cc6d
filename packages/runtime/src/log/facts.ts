import type { Facts } from './logger.ts'

const HIDDEN = '<hidden>'

/** Keys whose values must not appear in logs. `secretName`, `tokenReview` and similar keys are not secret. */
const SECRET_KEY =
  /(?:^(?:(?:proxy-?)?authorization|(?:set-?)?cookie|credentials?|connection[-_]?string|stringdata)|password|passwd|passphrase|token|secret|(?:private|api|access|client)[-_]?key(?:[-_]?data)?)$/i

const MAX_DEPTH = 6
const MAX_ENTRIES = 100

/**
 * Makes facts ready for JSON: hides secrets, expands errors with code and causes (and a stack, unless the error was
 * expected), shortens Kubernetes objects to their name, cuts cycles.
 */
export function cleanFacts(facts: Facts): Record<string, unknown> {
  const clean: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(facts)) {
    // `level`, `time` and `msg` belong to the line itself.
    const name = key === 'level' || key === 'time' || key === 'msg' ? `${key}_` : key
    clean[name] = isSecretKey(key, value) ? HIDDEN : cleanValue(value, 0)
  }
  return clean
}

/** Removes credentials from text: bearer tokens, passwords in URLs. */
export function cleanText(text: string): string {
  let clean = text
  if (/bearer |basic /i.test(clean)) clean = clean.replaceAll(/\b(bearer|basic) [\w.~+/=-]{8,}/gi, `$1 ${HIDDEN}`)
  if (clean.includes('://')) clean = clean.replaceAll(/:\/\/([^\s:/@]*):[^\s/@]+@/g, `://$1:${HIDDEN}@`)
  return clean
}

function isSecretKey(key: string, value: unknown): boolean {
  // A boolean or a number is not a secret: `token: true` says that one is set.
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
      // JSON.stringify would write null.
      return Number.isFinite(value) ? value : String(value)
    default:
      return value
  }
}

function cleanObject(value: object, depth: number): unknown {
  if (value instanceof Error) return cleanError(value, depth)
  if (depth >= MAX_DEPTH) return '<deeper>'
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString()
  if (value instanceof Uint8Array) return `<${value.length} bytes>`
  if (value instanceof Map) return cleanObject(Object.fromEntries([...value].slice(0, MAX_ENTRIES)), depth)
  if (Array.isArray(value) || value instanceof Set) {
    return [...value].slice(0, MAX_ENTRIES).map((item) => cleanValue(item, depth + 1))
  }
  const named = kubeName(value)
  if (named) return named
  const clean: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(value).slice(0, MAX_ENTRIES)) {
    clean[key] = isSecretKey(key, item) ? HIDDEN : cleanValue(item, depth + 1)
  }
  return clean
}

/** `Secret shop/db`: a Kubernetes object is never written whole. */
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
  // The message of an expected failure explains it; its stack is noise.
  if (error.stack && fate !== 'retry' && fate !== 'terminal') clean['stack'] = cleanText(error.stack)
  if (error.cause !== undefined) clean['cause'] = depth >= MAX_DEPTH ? '<deeper>' : cleanValue(error.cause, depth + 1)
  if (error instanceof AggregateError && depth < MAX_DEPTH) {
    clean['errors'] = error.errors.slice(0, 10).map((each: unknown) => cleanValue(each, depth + 1))
  }
  return clean
}
