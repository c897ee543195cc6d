import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import type { RowOf } from '../../data/rows.ts'
import { formatRoute, parseSort } from '../../logic/route.ts'
import { Choice, distinct, FilterBar } from '../../parts/filter-bar.tsx'
import { Grid, type GridColumn, RowLink } from '../../parts/grid.tsx'
import { useSelection, useServices, useTable } from '../../parts/services.ts'
import { StateCard, tableProblem } from '../../parts/states.tsx'
import { Countdown } from '../../parts/time.tsx'
import { ViewHead } from '../../parts/view-head.tsx'
import { LeaseControllers } from './lease-controllers.tsx'
import { LeasePanel } from './lease-panel.tsx'
import type { ViewProps } from '../view-props.ts'

type Row = RowOf<'leases'>

const COLUMNS: readonly GridColumn<Row>[] = [
  {
    key: 'kind',
    title: 'Kind',
    width: 'minmax(90px, 1fr)',
    sort: ({ kind }) => kind,
    cell: ({ kind, apiVersion }) => <span title={apiVersion}>{kind}</span>,
  },
  {
    key: 'name',
    title: 'Name',
    width: 'minmax(130px, 2fr)',
    narrow: 'name',
    sort: ({ name }) => name,
    cell: ({ id, name }) => <RowLink href={formatRoute(['leases'], { id })} text={name} />,
  },
  {
    key: 'namespace',
    title: 'Namespace',
    width: 'minmax(80px, 1fr)',
    sort: ({ namespace }) => namespace,
    cell: ({ namespace }) => namespace ?? <span class="muted">cluster</span>,
  },
  {
    key: 'ttl',
    title: 'TTL',
    width: '90px',
    narrow: 'state',
    cell: ({ ttl }) => (
      <span title={ttl}>
        <span class="narrow-only muted">TTL </span>
        {ttl}
      </span>
    ),
  },
  {
    key: 'status',
    title: 'Status',
    width: 'minmax(100px, 2fr)',
    narrow: 'about',
    sort: ({ status }) => status,
    cell: ({ kind, status }) => (
      <span class="muted" title={status}>
        <span class="narrow-only">{kind} · </span>
        {status}
      </span>
    ),
  },
  {
    key: 'expiresAt',
    title: 'Ends in',
    width: '96px',
    isNumeric: true,
    narrow: 'end',
    sort: ({ expiresAt }) => expiresAt,
    cell: ({ expiresAt }) => <Countdown at={expiresAt} />,
  },
]

const SORT_KEYS = new Map(COLUMNS.map(({ key, sort }) => [key, sort]))

export function LeasesView({ route: { query } }: ViewProps): JSX.Element {
  const { navigation } = useServices()
  const table = useTable('leases')
  const { ns = '', q = '', kind = '', id } = query
  const sortText = query['sort'] || 'expiresAt'
  const order = parseSort(sortText, 'expiresAt')
  const rows = useSelection(table, {
    text: q,
    ...order,
    key: SORT_KEYS.get(order.sort) ?? (({ expiresAt }) => expiresAt),
    where:
      ns === '' && kind === ''
        ? undefined
        : (row) => (ns === '' || row.namespace === ns) && (kind === '' || row.kind === kind),
  })
  const choices = useMemo(() => {
    const all = [...table.entries()]
    return {
      kinds: distinct(all.map(({ row }) => row.kind)),
      namespaces: distinct(all.map(({ row }) => row.namespace)),
    }
  }, [table.version])
  return (
    <>
      <ViewHead title="Leases" note="Every object that ends by itself, soonest first." />
      <LeaseControllers selected={query['controller']} />
      {tableProblem(table.state, 'leases') ?? (
        <div class={id === undefined ? '' : 'with-panel'}>
          <div>
            <FilterBar
              query={query}
              shown={rows.length}
              total={table.size}
              isComplete={table.state.status === 'ready' && table.state.isComplete}
              columns={COLUMNS}
              sort={sortText}
            >
              <Choice label="Kind" name="kind" value={kind} all="All kinds" options={choices.kinds} />
              <Choice label="Namespace" name="ns" value={ns} all="All namespaces" options={choices.namespaces} />
            </FilterBar>
            <Grid
              label="Leases"
              columns={id === undefined ? COLUMNS : COLUMNS.filter(({ key }) => key !== 'status' && key !== 'ttl')}
              rows={rows}
              sort={sortText}
              onSort={(sort) => navigation.setQuery({ sort })}
              rowHref={(row) => formatRoute(['leases'], { ...query, id: row.id })}
              selectedId={id}
              empty={
                table.size > 0 ? (
                  <StateCard title="No lease matches the filter" />
                ) : (
                  <StateCard title="Nothing is leased">
                    An object gets a lease with the annotation <code>object-lease-controller.ullberg.us/ttl: 1h</code>,
                    if a LeaseController covers its kind.
                  </StateCard>
                )
              }
            />
          </div>
          {id !== undefined && (
            <LeasePanel key={id} id={id} row={table.get(id)} onClose={() => navigation.setQuery({ id: undefined })} />
          )}
        </div>
      )}
    </>
  )
}
