import { searchText } from '../logic/search-text.ts'
import type { PageRow } from './rows.ts'

/** The state of a view's list. */
export type TableState =
  | { readonly status: 'loading' }
  | { readonly status: 'ready'; readonly isComplete: boolean; readonly total: number }
  | { readonly status: 'forbidden'; readonly message: string }
  | { readonly status: 'absent' }
  | { readonly status: 'failed'; readonly message: string }

/** A row with the text that filters search. It stays the same object while its row changes. */
export interface RowEntry<R> {
  row: R
  text: string
  /** Grows with every new row. */
  readonly serial: number
  /** The row was deleted. */
  isGone: boolean
}

/** The rows of one view by id, fed by a list in pages and by the stream at the same time. */
export class LiveTable<R extends PageRow> {
  readonly #entries = new Map<string, RowEntry<R>>()
  readonly #listeners = new Set<() => void>()
  /** Ids that the present list has returned; undefined while no list is read. */
  #listed: Set<string> | undefined
  /** Ids that the stream changed since the present list began: the stream knows them better than a page does. */
  readonly #streamed = new Set<string>()
  #state: TableState = { status: 'loading' }
  #version = 0
  #serial = 0

  get state(): TableState {
    return this.#state
  }

  /** Grows with every change. */
  get version(): number {
    return this.#version
  }

  get size(): number {
    return this.#entries.size
  }

  entries(): Iterable<RowEntry<R>> {
    return this.#entries.values()
  }

  get(id: string): R | undefined {
    return this.#entries.get(id)?.row
  }

  setState(state: TableState): void {
    this.#state = state
    this.#version++
  }

  /** Rows of an earlier list stay until the list ends. */
  beginList(): void {
    this.#listed = new Set()
    this.#streamed.clear()
  }

  addPage(rows: readonly R[]): void {
    for (const row of rows) {
      this.#listed?.add(row.id)
      if (!this.#streamed.has(row.id)) this.#put(row)
    }
    this.#version++
  }

  /** Removes the rows that are gone: those that neither the list nor the stream returned. */
  endList(): void {
    const listed = this.#listed
    if (!listed) return
    for (const id of this.#entries.keys()) {
      if (!listed.has(id) && !this.#streamed.has(id)) this.#remove(id)
    }
    this.#listed = undefined
    this.#streamed.clear()
    this.#version++
  }

  set(row: R): void {
    if (this.#listed) this.#streamed.add(row.id)
    this.#put(row)
    this.#version++
  }

  delete(id: string): void {
    if (this.#listed) this.#streamed.add(id)
    if (this.#remove(id)) this.#version++
  }

  clear(): void {
    for (const id of this.#entries.keys()) this.#remove(id)
    this.#listed = undefined
    this.#streamed.clear()
    this.setState({ status: 'loading' })
  }

  /** Calls `listener` after changes, at most once per frame. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  notify(): void {
    for (const listener of this.#listeners) listener()
  }

  #put(row: R): void {
    const entry = this.#entries.get(row.id)
    if (entry) {
      entry.row = row
      entry.text = searchText(row)
    } else this.#entries.set(row.id, { row, text: searchText(row), serial: this.#serial++, isGone: false })
  }

  #remove(id: string): boolean {
    const entry = this.#entries.get(id)
    if (!entry) return false
    entry.isGone = true
    return this.#entries.delete(id)
  }
}
