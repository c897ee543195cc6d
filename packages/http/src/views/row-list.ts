import { invalidRequest } from '../errors/http-error.ts'
import type { ViewRow } from './view.ts'

export interface RowQuery {
  /** Part of any text of a row, in any letter case. Default: all rows. */
  readonly q?: string | undefined
  /** A field of the rows. Default `id`. */
  readonly sort?: string | undefined
  /** Default `asc`. */
  readonly order?: 'asc' | 'desc' | undefined
  readonly limit: number
  /** The token of the page before. */
  readonly continue?: string | undefined
}

export interface RowPage<R> {
  readonly items: readonly R[]
  /** Rows that match the query, on all pages. */
  readonly total: number
  readonly remaining: number
  readonly continue?: string
}

type SortValue = string | number | boolean | null

interface SortedRow<R> {
  readonly row: R
  readonly value: SortValue
}

/** One page of the rows that match a query. Rows that lack the field of the order come last. */
export function pageOf<R extends ViewRow>(rows: Iterable<R>, query: RowQuery): RowPage<R> {
  const { q = '', sort = 'id', order = 'asc', limit } = query
  const text = q.toLowerCase()
  const direction = order === 'asc' ? 1 : -1
  const compare = (a: SortedRow<ViewRow>, b: SortedRow<ViewRow>): number =>
    compareValues(a.value, b.value, direction) || compareText(a.row.id, b.row.id)
  const matching: SortedRow<R>[] = []
  for (const row of rows) if (text === '' || contains(row, text)) matching.push({ row, value: valueOf(row, sort) })
  matching.sort(compare)
  const after = query.continue === undefined ? undefined : positionIn(query.continue)
  const start = after ? firstAfter(matching, (each) => compare(each, after) > 0) : 0
  const page = matching.slice(start, start + limit)
  const remaining = matching.length - start - page.length
  const last = page.at(-1)
  return {
    items: page.map(({ row }) => row),
    total: matching.length,
    remaining,
    ...(remaining > 0 && last && { continue: tokenFor(last) }),
  }
}

/** Whether a text of the row contains `text`, which is in lower case. */
function contains(value: unknown, text: string): boolean {
  if (typeof value === 'string') return value.toLowerCase().includes(text)
  if (Array.isArray(value)) return value.some((each) => contains(each, text))
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some((each) => contains(each, text))
}

function valueOf(row: ViewRow, field: string): SortValue {
  const value: unknown = Object.hasOwn(row, field) ? (row as unknown as Record<string, unknown>)[field] : undefined
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null
}

function compareValues(a: SortValue, b: SortValue, direction: number): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  if (typeof a === 'string' && typeof b === 'string') return direction * compareText(a, b)
  return direction * (Number(a) - Number(b) || 0)
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** The index of the first element for which the condition holds; it holds for all after it. */
function firstAfter<T>(sorted: readonly T[], condition: (element: T) => boolean): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    const element = sorted[middle]
    if (element !== undefined && condition(element)) high = middle
    else low = middle + 1
  }
  return low
}

function tokenFor({ row, value }: SortedRow<ViewRow>): string {
  return Buffer.from(JSON.stringify({ v: 1, id: row.id, value })).toString('base64url')
}

function positionIn(token: string): SortedRow<ViewRow> {
  try {
    const position: unknown = JSON.parse(Buffer.from(token, 'base64url').toString())
    if (isPosition(position)) return { row: { id: position.id, name: '' }, value: position.value }
  } catch {
    // Reported below.
  }
  throw invalidRequest([{ field: 'continue', message: 'Expected the continue token of a list with the same order' }])
}

function isPosition(value: unknown): value is { readonly id: string; readonly value: SortValue } {
  if (typeof value !== 'object' || value === null || !('v' in value) || value.v !== 1) return false
  if (!('id' in value) || typeof value.id !== 'string' || !('value' in value)) return false
  return value.value === null || ['string', 'number', 'boolean'].includes(typeof value.value)
}
