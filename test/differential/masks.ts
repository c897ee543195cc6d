/**
 * Replaces values that differ between servers and runs by tokens: uids, times, versions, generated names, addresses.
 * Tokens are numbered in the order of appearance where identity matters, so that an object keeps its uid and a write
 * without a change keeps its version.
 */
import type { Json } from './case.ts'
import { isRecord } from './paths.ts'

const UID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g
const AGE = /^(\d+[smh]){1,2}$/
/** Versions in messages: in a quoted object and in a conflict. */
const VERSION = /(resourceVersion\\*":\\*"|ResourceVersion in (?:the )?[a-z ]+(?:: | \())(\d+)/g
/** Times farther from now come from the request. */
const RECENT_MS = 3_600_000
const MIN_NODE_PORT = 30_000
const SUFFIX = '[bcdfghjklmnpqrstvwxz2456789]{5}'

/** A version in YAML. */
const YAML_VERSION = /^([ -]*resourceVersion: )"\d+"$/gm

const IN_TEXT: readonly (readonly [RegExp, string])[] = [
  [YAML_VERSION, '$1<version>'],
  [/127\.0\.0\.1:\d+/g, '<server>'],
  [/kube-api-access-[a-z0-9]{5}/g, 'kube-api-access-<suffix>'],
  [/\bcurrent: \d+/g, 'current: <version>'],
  [/(too old resource version: \d+) \(\d+\)/g, '$1 (<version>)'],
  [/^10\.\d+\.\d+\.\d+$/g, '<address>'],
  [/:3\d{4}\//g, ':<port>/'],
  // The rejection of a pod update contains a diff of Go values.
  [/\n@@ [\s\S]*$/g, '\n'],
]

export class Masks {
  readonly #uids = new Map<string, string>()
  readonly #versions = new Map<string, string>()
  readonly #generated = new Map<string, RegExp>()

  /** Masks names that are generated from this prefix from here on. */
  expectGenerated(prefix: string): void {
    this.#generated.set(prefix, new RegExp(`${RegExp.escape(prefix)}${SUFFIX}`, 'g'))
  }

  mask(value: Json): Json {
    return this.#mask(value, '', false)
  }

  #mask(value: Json, key: string, isCell: boolean): Json {
    if (typeof value === 'string') return this.#text(value, key, isCell)
    if (typeof value === 'number') return key === 'nodePort' && value >= MIN_NODE_PORT ? '<port>' : value
    if (Array.isArray(value)) return this.#list(value as readonly Json[], key, isCell)
    if (!isRecord(value)) return value
    return key === 'metadata' ? this.#metadata(value) : this.#entries(value)
  }

  #entries(value: Readonly<Record<string, Json>>): Record<string, Json> {
    // Sorted by key, so that the numbering does not depend on the server's order. Keys contain uids too.
    const keys = Object.keys(value).toSorted()
    const entries = keys.map((key) => [this.#uidsIn(key), this.#mask(value[key] ?? null, key, key === 'cells')])
    return Object.fromEntries(entries) as Record<string, Json>
  }

  #list(list: readonly Json[], key: string, isCell: boolean): Json {
    const masked = list.map((child) => this.#mask(child, key === 'managedFields' ? '' : key, isCell))
    // Sorted by time in whole seconds, so the order is random.
    return key === 'managedFields' ? masked.toSorted((a, b) => compareTexts(sortKey(a), sortKey(b))) : masked
  }

  /** The metadata of an object, which has a uid, or of a list, which has none. */
  #metadata({ resourceVersion, ...rest }: Readonly<Record<string, Json>>): Json {
    const masked = this.#entries(rest)
    if (resourceVersion === undefined) return masked
    return { ...masked, resourceVersion: this.#version(resourceVersion, rest['uid'] !== undefined) }
  }

  #version(version: Json, isOfObject: boolean): Json {
    if (typeof version !== 'string' || version === '') return version
    return isOfObject ? token(this.#versions, version, 'version') : '<version>'
  }

  #text(text: string, key: string, isCell: boolean): string {
    if (key === 'continue' && text !== '') return '<continue>'
    if (isCell && AGE.test(text)) return '<age>'
    let masked = this.#uidsIn(text).replaceAll(TIME, maskTime)
    for (const [prefix, pattern] of this.#generated) masked = masked.replaceAll(pattern, `${prefix}<suffix>`)
    masked = masked.replaceAll(
      VERSION,
      (_, before: string, version: string) => before + (this.#versions.get(version) ?? '<version>'),
    )
    return IN_TEXT.reduce((changed, [pattern, replacement]) => changed.replaceAll(pattern, replacement), masked)
  }

  #uidsIn(text: string): string {
    return text.replaceAll(UID, (uid) => token(this.#uids, uid, 'uid'))
  }
}

function maskTime(time: string, fraction: string | undefined): string {
  if (Math.abs(Date.parse(time) - Date.now()) > RECENT_MS) return time
  return fraction === undefined ? '<time>' : `<time with ${fraction.length - 1} digits>`
}

function token(known: Map<string, string>, value: string, what: string): string {
  const found = known.get(value)
  if (found !== undefined) return found
  const made = `<${what} ${known.size + 1}>`
  known.set(value, made)
  return made
}

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

function sortKey(entry: Json): string {
  if (!isRecord(entry)) return ''
  return ['operation', 'manager', 'subresource', 'apiVersion'].map((key) => JSON.stringify(entry[key] ?? '')).join(' ')
}

/** Sorts the field errors of a masked Status, also in its message. */
export function inOrder(body: Json): Json {
  if (!isRecord(body)) return body
  const { message, details } = body
  return {
    ...body,
    ...(typeof message === 'string' && { message: messageInOrder(message) }),
    ...(isRecord(details) && { details: { ...details, causes: causesInOrder(details['causes'] ?? null) } }),
  }
}

/** A field error begins with its field, whose key in brackets may be anything: `requests[example.com/gpu]: `. */
const NEXT_FIELD_ERROR = /, (?=[\w.<>]+(?:\[[^\]]*\][\w.<>]*)*: )/

function messageInOrder(message: string): string {
  const list = /^(.* is invalid: \[)(.*)\]$/s.exec(message)
  if (!list) return message
  return `${list[1]}${(list[2] ?? '').split(NEXT_FIELD_ERROR).toSorted().join(', ')}]`
}

const causesInOrder = (causes: Json): Json =>
  Array.isArray(causes)
    ? (causes as readonly Json[]).toSorted((a, b) => compareTexts(JSON.stringify(a), JSON.stringify(b)))
    : causes
