import { formatRoute, type PageRoute, parseRoute } from '../logic/route.ts'

/** The place in the page, kept in the hash of the URL. */
export class Navigation {
  readonly #listeners = new Set<() => void>()
  #route = parseRoute(location.hash)

  constructor() {
    addEventListener('hashchange', () => this.#read())
  }

  get route(): PageRoute {
    return this.#route
  }

  go(hash: string): void {
    location.hash = hash
  }

  /** Changes filters in place: going back leaves the view, not the last letter of a filter. */
  setQuery(patch: Readonly<Record<string, string | undefined>>): void {
    const { path, query } = this.#route
    history.replaceState(null, '', formatRoute(path, { ...query, ...patch }))
    this.#read()
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  #read(): void {
    this.#route = parseRoute(location.hash)
    for (const listener of this.#listeners) listener()
  }
}
