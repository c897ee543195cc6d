import type { ComponentChildren, JSX } from 'preact'
import type { LiveTable } from '../data/live-table.ts'
import type { PageRow } from '../data/rows.ts'
import { parseSort } from '../logic/route.ts'
import { FilterBar } from './filter-bar.tsx'
import { Grid, type GridColumn } from './grid.tsx'
import { useSelection, useServices } from './services.ts'
import { StateCard, tableProblem } from './states.tsx'

interface RowListProps<R> {
  /** One row in a sentence: `application`. */
  readonly noun: string
  readonly table: LiveTable<R & PageRow>
  readonly columns: readonly GridColumn<R>[]
  /** The column that sorts if the URL names none. */
  readonly defaultSort: string
  /** Of the URL: `q` and `sort`, and what the choices read. */
  readonly query: Readonly<Record<string, string>>
  /** Selects the rows that the choices leave. Default: every row. */
  readonly where?: ((row: R) => boolean) | undefined
  /** Choices of the filter bar. */
  readonly choices: ComponentChildren
  readonly rowHref: (row: R) => string
  /** The row whose details `panel` shows beside the list. */
  readonly selectedId?: string | undefined
  readonly panel?: ComponentChildren
  /** Says how to make the first row. */
  readonly empty: JSX.Element
}

/** The rows of a view with a filter bar, or why there are none. */
export function RowList<R extends PageRow>(props: RowListProps<R>): JSX.Element {
  const { noun, table, columns, defaultSort, query, where, choices, rowHref, selectedId, panel, empty } = props
  const { navigation } = useServices()
  const sortText = query['sort'] || defaultSort
  const order = parseSort(sortText, defaultSort)
  const sortOf = (name: string) => columns.find(({ key }) => key === name)?.sort
  const rows = useSelection(table, {
    text: query['q'] ?? '',
    ...order,
    key: sortOf(order.sort) ?? sortOf(defaultSort) ?? (({ name }) => name),
    where,
  })
  const { size, state } = table
  const problem = tableProblem(state, `${noun}s`)
  if (problem) return problem
  return (
    <div class={selectedId === undefined ? '' : 'with-panel'}>
      <div>
        <FilterBar
          query={query}
          shown={rows.length}
          total={size}
          isComplete={state.status === 'ready' && state.isComplete}
          columns={columns}
          sort={sortText}
        >
          {choices}
        </FilterBar>
        <Grid
          label={`${noun[0]?.toUpperCase()}${noun.slice(1)}s`}
          columns={selectedId === undefined ? columns : columns.filter(({ isHiddenByPanel }) => !isHiddenByPanel)}
          rows={rows}
          sort={sortText}
          onSort={(sort) => navigation.setQuery({ sort })}
          rowHref={rowHref}
          selectedId={selectedId}
          empty={size > 0 ? <StateCard title={`No ${noun} matches the filter`} /> : empty}
        />
      </div>
      {panel}
    </div>
  )
}
