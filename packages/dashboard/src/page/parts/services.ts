import { createContext } from 'preact'
import { useContext, useEffect, useReducer, useRef } from 'preact/hooks'
import type { PageClock } from '../browser.ts'
import type { ActionAccess, AccessState, AccessDecisions } from '../data/access.ts'
import type { DashboardApi } from '../data/api.ts'
import type { LiveRows } from '../data/live-rows.ts'
import type { LiveTable } from '../data/live-table.ts'
import type { AboutServer, PageRow, PageView, RowOf } from '../data/rows.ts'
import { TableQuery, type RowSelection } from '../logic/table-query.ts'
import type { Ticker } from '../logic/ticker.ts'
import type { Navigation } from './navigation.ts'
import type { Notices } from './notices.tsx'

/** A list that keys move in. */
export interface GridHandle {
  move(by: number): void
}

/** Services that every part of the page can use. */
export interface PageServices {
  readonly api: DashboardApi
  readonly live: LiveRows
  readonly access: AccessDecisions
  readonly clock: PageClock
  readonly ticker: Ticker
  readonly navigation: Navigation
  readonly notices: Notices
  readonly about: AboutServer
  /** The list that `j` and `k` move in; the view that shows one sets it. */
  grid: GridHandle | undefined
  /** Reads again what the stream does not carry; the view that shows such things sets it. */
  reload: (() => void) | undefined
}

export const Services = createContext<PageServices | undefined>(undefined)

export function useServices(): PageServices {
  const services = useContext(Services)
  if (!services) throw new Error('The page is drawn outside of its services.')
  return services
}

/** Draws the component again when `subscribe` reports a change. */
export function useChanges(subscribe: (listener: () => void) => () => void): void {
  const [, draw] = useReducer((count: number) => count + 1, 0)
  useEffect(() => {
    const unsubscribe = subscribe(() => draw(undefined))
    // A change between the first drawing and this effect would be lost.
    draw(undefined)
    return unsubscribe
  }, [])
}

/** The live rows of a view. The component is drawn again when they change. */
export function useTable<V extends PageView>(view: V): LiveTable<RowOf<V>> {
  const { live } = useServices()
  const table = live.table(view)
  useEffect(() => live.want([view]), [view])
  useChanges((listener) => table.subscribe(listener))
  return table
}

/** The rows of a view, filtered and sorted. */
export function useSelection<R extends PageRow>(table: LiveTable<R>, selection: RowSelection<R>): readonly R[] {
  const query = useRef<TableQuery<R>>(undefined)
  query.current ??= new TableQuery(table)
  return query.current.select(selection)
}

export function useAccess(check: ActionAccess): AccessState {
  const { access } = useServices()
  useChanges((listener) => access.subscribe(listener))
  return access.decide(check)
}

/** A number that grows every `seconds`, and draws the component again; undefined: it stays. */
export function useBeat(seconds: number | undefined): number {
  const { ticker } = useServices()
  const [beat, draw] = useReducer((count: number) => count + 1, 0)
  useEffect(() => {
    if (seconds === undefined) return undefined
    let left = seconds
    return ticker.subscribe(() => {
      left--
      if (left > 0) return
      left = seconds
      draw(undefined)
    })
  }, [seconds])
  return beat
}

/** Whether this server has the view. */
export function hasView(about: AboutServer, view: PageView): boolean {
  return about.views.some(({ name }) => name === view)
}
