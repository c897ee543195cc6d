/** Lists the differences between two values, one readable line each. */
import type { Json } from './case.ts'
import { isRecord } from './paths.ts'

const MAX_SHOWN_CHARACTERS = 400
const BEFORE = 80
const MAX_SHOWN_LINES = 40

export function compare(real: Json | undefined, embedded: Json | undefined, at: string): readonly string[] {
  const lines = walk(real, embedded, at)
  const more = lines.length - MAX_SHOWN_LINES
  return more > 0 ? [...lines.slice(0, MAX_SHOWN_LINES), `… and ${more} more`] : lines
}

function walk(real: Json | undefined, embedded: Json | undefined, at: string): readonly string[] {
  if (Object.is(real, embedded)) return []
  if (Array.isArray(real) && Array.isArray(embedded)) {
    const [a, b] = [real as readonly Json[], embedded as readonly Json[]]
    const [named, others] = [byName(a), byName(b)]
    // Compared by name, because otherwise one missing item would make all later ones differ.
    if (named && others && a.length !== b.length) return walk(named, others, at)
    return Array.from({ length: Math.max(a.length, b.length) }, (_, index) =>
      walk(a[index], b[index], `${at}[${index}]`),
    ).flat()
  }
  if (isRecord(real) && isRecord(embedded)) {
    const keys = new Set([...Object.keys(real), ...Object.keys(embedded)])
    return [...keys].flatMap((key) => walk(own(real, key), own(embedded, key), `${at}.${key}`))
  }
  const from = firstDifference(real, embedded)
  return [`${at}\n    real:     ${show(real, from)}\n    embedded: ${show(embedded, from)}`]
}

/** A list of items with distinct names. */
function byName(list: readonly Json[]): Readonly<Record<string, Json>> | undefined {
  const names = list.map((item) =>
    isRecord(item) ? (item['name'] ?? item['resource'] ?? item['subresource']) : undefined,
  )
  if (names.length === 0 || new Set(names).size < names.length) return undefined
  if (!names.every((name) => typeof name === 'string')) return undefined
  return Object.fromEntries(list.map((item, index) => [`[${names[index]}]`, item]))
}

const own = (record: Readonly<Record<string, Json>>, key: string): Json | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined

/** Long texts are shown from shortly before the first difference. */
function firstDifference(real: Json | undefined, embedded: Json | undefined): number {
  if (typeof real !== 'string' || typeof embedded !== 'string' || real.length < MAX_SHOWN_CHARACTERS) return 0
  let at = 0
  while (at < embedded.length && real[at] === embedded[at]) at++
  return Math.max(0, at - BEFORE)
}

function show(value: Json | undefined, from: number): string {
  if (value === undefined) return '(absent)'
  const text = typeof value === 'string' ? JSON.stringify(value.slice(from)) : JSON.stringify(value)
  const start = from > 0 ? '…' : ''
  return (
    start +
    (text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}… (${text.length} characters)` : text)
  )
}
