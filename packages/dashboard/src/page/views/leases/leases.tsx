import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import type { RowOf } from '../../data/rows.ts'
import { formatRoute } from '../../logic/route.ts'
import { Choice, distinct } from '../../parts/filter-bar.tsx'
import { type GridColumn, RowLink } from '../../parts/grid.tsx'
import { RowList } from '../../parts/row-list.tsx'
import { useServices, useTable } from '../../parts/services.ts'
import { StateCard } from '../../parts/states.tsx'
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
    isHiddenByPanel: true,
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
    isHiddenByPanel: true,
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

export function LeasesView({ route: { query } }: ViewProps): JSX.Element {
  const { navigation } = useServices()
  const table = useTable('leases')
  const { ns = '', kind = '', id } = query
  const isFiltered = ns !== '' || kind !== ''
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
      <RowList
        noun="lease"
        table={table}
        columns={COLUMNS}
        defaultSort="expiresAt"
        query={query}
        where={
          isFiltered ? (row) => (ns === '' || row.namespace === ns) && (kind === '' || row.kind === kind) : undefined
        }
        choices={
          <>
            <Choice label="Kind" name="kind" value={kind} all="All kinds" options={choices.kinds} />
            <Choice label="Namespace" name="ns" value={ns} all="All namespaces" options={choices.namespaces} />
          </>
        }
        rowHref={(row) => formatRoute(['leases'], { ...query, id: row.id })}
        selectedId={id}
        panel={
          id !== undefined && (
            <LeasePanel key={id} id={id} row={table.get(id)} onClose={() => navigation.setQuery({ id: undefined })} />
          )
        }
        empty={
          <StateCard title="Nothing is leased">
            An object gets a lease with the annotation <code>object-lease-controller.ullberg.us/ttl: 1h</code>, if a
            LeaseController covers its kind.
          </StateCard>
        }
      />
    </>
  )
}
