import type { JSX } from 'preact'
import type { RowOf } from '../../data/rows.ts'
import { formatRoute } from '../../logic/route.ts'
import { Badge, Progress } from '../../parts/badge.tsx'
import { Choice, distinct } from '../../parts/filter-bar.tsx'
import { type GridColumn, RowLink } from '../../parts/grid.tsx'
import { RowList } from '../../parts/row-list.tsx'
import { useTable } from '../../parts/services.ts'
import { StateCard } from '../../parts/states.tsx'
import { ViewHead } from '../../parts/view-head.tsx'
import type { ViewProps } from '../view-props.ts'

type Row = RowOf<'databases'>

const databaseHref = ({ id }: Row): string => formatRoute(['databases', id])

/** The present work on a database, or why it does not work. */
function activityOf({ job, reason }: Row): string {
  if (job && (job.status === 'running' || job.status === 'pending')) {
    return `${job.type} ${job.status}${job.attempts ? `, failed ${job.attempts === 1 ? 'once' : `${job.attempts} times`}` : ''}${reason ? `: ${reason}` : ''}`
  }
  return reason ?? ''
}

const COLUMNS: readonly GridColumn<Row>[] = [
  {
    key: 'name',
    title: 'Name',
    width: 'minmax(120px, 1.6fr)',
    narrow: 'name',
    sort: ({ name }) => name,
    cell: (row) => <RowLink href={databaseHref(row)} text={row.name} />,
  },
  {
    key: 'team',
    title: 'Team',
    width: 'minmax(70px, 1fr)',
    sort: ({ team }) => team,
    cell: ({ team }) => team,
  },
  {
    key: 'namespace',
    title: 'Namespace',
    width: 'minmax(80px, 1fr)',
    sort: ({ namespace }) => namespace,
    cell: ({ namespace }) => namespace,
  },
  {
    key: 'engine',
    title: 'Engine',
    width: 'minmax(100px, 1fr)',
    narrow: 'about',
    sort: ({ engine }) => engine,
    cell: (row) => (
      <>
        {row.engine} <span class="muted">{row.version}</span>
        <span class="narrow-only muted"> {activityOf(row)}</span>
      </>
    ),
  },
  {
    key: 'status',
    title: 'Status',
    width: '112px',
    narrow: 'state',
    sort: ({ status }) => status,
    cell: ({ status }) => <Badge text={status} />,
  },
  {
    key: 'ready',
    title: 'Ready',
    width: '130px',
    narrow: 'end',
    sort: ({ replicas, readyReplicas }) => (replicas === 0 ? 1 : readyReplicas / replicas),
    cell: ({ replicas, readyReplicas }) => (
      <Progress value={readyReplicas} of={replicas} label={`${readyReplicas} of ${replicas} replicas are ready`} />
    ),
  },
  {
    key: 'activity',
    title: 'Activity',
    width: 'minmax(100px, 2fr)',
    cell: (row) => (
      <span class="muted" title={activityOf(row)}>
        {activityOf(row)}
      </span>
    ),
  },
]

export function DatabasesView({ route: { query } }: ViewProps): JSX.Element {
  const table = useTable('databases')
  const { engine = '', status = '' } = query
  const all = [...table.entries()].map(({ row }) => row)
  return (
    <>
      <ViewHead title="Databases" />
      <RowList
        noun="database"
        table={table}
        columns={COLUMNS}
        defaultSort="name"
        query={query}
        where={(row) => (engine === '' || row.engine === engine) && (status === '' || row.status === status)}
        choices={
          <>
            <Choice
              label="Engine"
              name="engine"
              value={engine}
              all="All engines"
              options={distinct(all.map((row) => row.engine))}
            />
            <Choice
              label="Status"
              name="status"
              value={status}
              all="All states"
              options={distinct(all.map((row) => row.status))}
            />
          </>
        }
        rowHref={databaseHref}
        empty={<StateCard title="No databases yet">A row in the table “resources” becomes a database.</StateCard>}
      />
    </>
  )
}
