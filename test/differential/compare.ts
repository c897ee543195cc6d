/** The differences between two values, one line each, for people. */
import type { Json } from './case.ts'
import { isRecord } from './paths.ts'

const LONGEST = 400
const BEFORE = 80
const MOST_LINES = 40

export function compare(real: Json | undefined, embedded: Json | undefined, at: string): readonly string[] {
  const lines = walk(real, embedded, at)
  const more = lines.length - MOST_LINES
  return more > 0 ? [...lines.slice(0, MOST_LINES), `… and ${more} more`] : lines
}

function walk(real: Json | undefined, embedded: Json | undefined, at: string): readonly string[] {
  if (Object.is(real, embedded)) return []
  if (Array.isArray(real) && Array.isArray(embedded)) {
    const [a, b] = [real as readonly Json[], embedded as readonly Json[]]
    const [named, others] = [byName(a), byName(b)]
    // One that is missing would otherwise set off all that follow it.
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

/** A list of things with names, all different. */
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

/** Long texts are shown from a little before the place where they begin to differ. */
function firstDifference(real: Json | undefined, embedded: Json | undefined): number {
  if (typeof real !== 'string' || typeof embedded !== 'string' || real.length < LONGEST) return 0
  let at = 0
  while (at < embedded.length && real[at] === embedded[at]) at++
  return Math.max(0, at - BEFORE)
}

function show(value: Json | undefined, from: number): string {
  if (value === undefined) return '(absent)'
  const text = typeof value === 'string' ? JSON.stringify(value.slice(from)) : JSON.stringify(value)
  const start = from > 0 ? '…' : ''
  return start + (text.length > LONGEST ? `${text.slice(0, LONGEST)}… (${text.length} characters)` : text)
}
