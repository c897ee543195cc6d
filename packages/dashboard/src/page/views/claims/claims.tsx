import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { RowOf } from '../../data/rows.ts'
import { formatRoute } from '../../logic/route.ts'
import { AccessButton } from '../../parts/access.tsx'
import { Badge } from '../../parts/badge.tsx'
import { Choice, distinct } from '../../parts/filter-bar.tsx'
import { type GridColumn, RowLink } from '../../parts/grid.tsx'
import { RowList } from '../../parts/row-list.tsx'
import { useServices, useTable } from '../../parts/services.ts'
import { StateCard } from '../../parts/states.tsx'
import { Age, Countdown } from '../../parts/time.tsx'
import { ViewHead } from '../../parts/view-head.tsx'
import { claimAccess } from './claim-access.ts'
import { ClaimPanel } from './claim-panel.tsx'
import { Pools } from './pools.tsx'
import { TakeDialog } from './take-dialog.tsx'
import type { ViewProps } from '../view-props.ts'

type Row = RowOf<'claims'>

function dataText({ data }: Row): string {
  return Object.entries(data)
    .map(([key, value]) => `${key}=${value}`)
    .join('  ')
}

const COLUMNS: readonly GridColumn<Row>[] = [
  {
    key: 'name',
    title: 'Claim',
    width: 'minmax(130px, 1.4fr)',
    narrow: 'name',
    sort: ({ name }) => name,
    cell: ({ id, name }) => <RowLink href={formatRoute(['claims'], { id })} text={name} />,
  },
  {
    key: 'pool',
    title: 'Pool',
    width: 'minmax(80px, 1fr)',
    sort: ({ pool }) => pool,
    cell: ({ pool }) => pool,
  },
  {
    key: 'status',
    title: 'Status',
    width: '88px',
    narrow: 'state',
    sort: ({ status, isIdle }) => (isIdle ? 'warm' : status),
    cell: ({ status, isIdle }) =>
      isIdle && status === 'ready' ? <Badge text="warm" tone="calm" /> : <Badge text={status} />,
  },
  {
    key: 'data',
    title: 'Data',
    width: 'minmax(140px, 3fr)',
    narrow: 'about',
    isHiddenByPanel: true,
    cell: (row) => {
      const text = row.message && row.status !== 'ready' ? row.message : dataText(row)
      return (
        <span class="muted" title={text}>
          {text}
        </span>
      )
    },
  },
  {
    key: 'created',
    title: 'Age',
    width: '64px',
    isNumeric: true,
    sort: ({ createdAt }) => -createdAt,
    cell: ({ createdAt }) => <Age at={createdAt} />,
  },
  {
    key: 'expiresAt',
    title: 'Ends in',
    width: '92px',
    isNumeric: true,
    narrow: 'end',
    sort: ({ expiresAt }) => expiresAt,
    cell: ({ expiresAt }) => <Countdown at={expiresAt} />,
  },
]

export function ClaimsView({ route: { query } }: ViewProps): JSX.Element {
  const { navigation } = useServices()
  const table = useTable('claims')
  const pools = useTable('pools')
  const [isTaking, setTaking] = useState(false)
  const { pool = '', state = '', id } = query
  const selected = id === undefined ? undefined : table.get(id)
  const take = (
    <AccessButton check={claimAccess('create')} class="primary" onClick={() => setTaking(true)}>
      Take a claim
    </AccessButton>
  )
  return (
    <>
      <ViewHead title="Claims and pools" actions={take} />
      <Pools table={pools} selected={pool} />
      <RowList
        noun="claim"
        table={table}
        columns={COLUMNS}
        defaultSort="expiresAt"
        query={query}
        where={(row) => (pool === '' || row.pool === pool) && (state === '' || stateOf(row) === state)}
        choices={
          <>
            <Choice
              label="Pool"
              name="pool"
              value={pool}
              all="All pools"
              options={distinct([...pools.entries()].map(({ row }) => row.name))}
            />
            <Choice
              label="State"
              name="state"
              value={state}
              all="All states"
              options={[
                ['held', 'held'],
                ['warm', 'warm'],
                ['pending', 'pending'],
                ['failed', 'failed'],
              ]}
            />
          </>
        }
        rowHref={(row) => formatRoute(['claims'], { ...query, id: row.id })}
        selectedId={id}
        panel={
          id !== undefined && (
            <ClaimPanel
              // Another claim starts with closed dialogs.
              key={id}
              row={selected}
              pool={selected && pools.get(selected.pool)}
              id={id}
              onClose={() => navigation.setQuery({ id: undefined })}
            />
          )
        }
        empty={
          <StateCard title="No claims">
            A claim hands out a ready workload for a limited time. Take one with “Take a claim”, or with{' '}
            <code>POST /claim</code>.
          </StateCard>
        }
      />
      {isTaking && (
        <TakeDialog
          pools={[...pools.entries()].map(({ row }) => row)}
          initialPool={pool}
          onClose={() => setTaking(false)}
        />
      )}
    </>
  )
}

function stateOf({ status, isIdle }: Row): string {
  if (status !== 'ready') return status
  return isIdle ? 'warm' : 'held'
}
