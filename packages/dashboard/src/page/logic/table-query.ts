import type { RowEntry, LiveTable } from '../data/live-table.ts'
import type { PageRow } from '../data/rows.ts'
import { matchesWords, searchWords } from './search-text.ts'

/** Texts compare without regard to case; undefined comes last in both orders. Equal rows stay in the order of the list. */
export type SortKey = string | number | undefined

export interface RowSelection<R> {
  /** Filter text. */
  readonly text: string
  /** Names the sort order: another name means another `key`. */
  readonly sort: string
  readonly key: (row: R) => SortKey
  readonly isDescending: boolean
  /** A further condition. Default: none. */
  readonly where?: ((row: R) => boolean) | undefined
}

/** With at most this many different texts, as in namespaces, rows are sorted by the rank of their text. */
const MAX_RANKED_TEXTS = 1_000

interface Keyed<R> {
  readonly entry: RowEntry<R>
  key: SortKey
}

/**
 * The rows of a table, filtered and sorted. The sorted order is kept between calls, so that after a few changes the sort
 * works on an almost sorted list, which takes linear time.
 */
export class TableQuery<R extends PageRow> {
  readonly #table: LiveTable<R>
  #known = new Map<RowEntry<R>, Keyed<R>>()
  #sorted: Keyed<R>[] = []
  #version = -1
  #order = ''

  constructor(table: LiveTable<R>) {
    this.#table = table
  }

  select({ text, sort, key, isDescending, where }: RowSelection<R>): readonly R[] {
    const order = `${sort} ${isDescending}`
    if (this.#version !== this.#table.version || this.#order !== order) {
      this.#refresh(key)
      this.#sorted.sort(isDescending ? descending : ascending)
      this.#version = this.#table.version
      this.#order = order
    }
    const words = searchWords(text)
    const rows: R[] = []
    for (const { entry } of this.#sorted) {
      if ((where === undefined || where(entry.row)) && matchesWords(entry.text, words)) rows.push(entry.row)
    }
    return rows
  }

  #refresh(key: (row: R) => SortKey): void {
    if (this.#sorted.some(({ entry }) => entry.isGone)) {
      this.#sorted = this.#sorted.filter(({ entry }) => !entry.isGone)
      this.#known = new Map(this.#sorted.map((keyed) => [keyed.entry, keyed]))
    }
    const texts = new Map<string, number>()
    for (const entry of this.#table.entries()) {
      const value = key(entry.row)
      const lower = typeof value === 'string' ? value.toLowerCase() : value
      if (typeof lower === 'string' && texts.size <= MAX_RANKED_TEXTS) texts.set(lower, 0)
      const known = this.#known.get(entry)
      if (known) known.key = lower
      else {
        const keyed = { entry, key: lower }
        this.#known.set(entry, keyed)
        this.#sorted.push(keyed)
      }
    }
    if (texts.size <= MAX_RANKED_TEXTS) this.#rank(texts)
  }

  /** Replaces texts by their ranks. */
  #rank(texts: Map<string, number>): void {
    ;[...texts.keys()].toSorted().forEach((text, rank) => texts.set(text, rank))
    for (const keyed of this.#sorted) {
      if (typeof keyed.key === 'string') keyed.key = texts.get(keyed.key)
    }
  }
}

function ascending<R extends PageRow>(a: Keyed<R>, b: Keyed<R>): number {
  return compare(a, b, 1)
}

function descending<R extends PageRow>(a: Keyed<R>, b: Keyed<R>): number {
  return compare(a, b, -1)
}

function compare<R extends PageRow>(a: Keyed<R>, b: Keyed<R>, direction: number): number {
  // Numbers compare much faster than ids, which begin alike.
  if (a.key === b.key) return a.entry.serial - b.entry.serial
  if (a.key === undefined) return 1
  if (b.key === undefined) return -1
  return a.key < b.key ? -direction : direction
}
