import type { z } from 'zod'

/** One thing that an operator manages, as lists and the stream show it. It is sent as JSON. */
export interface ViewRow {
  /** Unique in its view. */
  readonly id: string
  readonly name: string
  readonly namespace?: string | undefined
}

/** The resource whose `list` permission a caller needs to see a row. */
export interface ViewResource {
  readonly group: string
  readonly resource: string
}

/** Told of each row that may have changed; the view is asked for its present content later. */
export type ViewListener = (id: string) => void

/**
 * Rows that an operator shows. `httpServer` serves a list of each view and one stream with the changes of all of them; the
 * dashboard shows them.
 */
export interface View<R extends ViewRow = ViewRow> {
  /** In the path of the list: `applications`. */
  readonly name: string
  /** For people: `Applications`. */
  readonly title: string
  /** Schema of a row, for the OpenAPI document. */
  readonly schema: z.ZodType<R>
  /** The resource of a row. A caller sees the rows of the resources that it may list in the row's namespace. */
  resourceOf(row: R): ViewResource
  /** All rows, in any order. Read from caches: it must be cheap and must not wait. */
  rows(): Iterable<R>
  /** One row; undefined if there is none now. */
  row(id: string): R | undefined
  /** Calls `listener` for each change until the returned function is called. A view without listeners computes nothing. */
  subscribe(listener: ViewListener): () => void
}
