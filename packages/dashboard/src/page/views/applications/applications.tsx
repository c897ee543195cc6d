import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { AccessButton } from '../../parts/access.tsx'
import { Badge, Progress } from '../../parts/badge.tsx'
import { Choice, distinct } from '../../parts/filter-bar.tsx'
import { type GridColumn, RowLink } from '../../parts/grid.tsx'
import { RowList } from '../../parts/row-list.tsx'
import { useTable } from '../../parts/services.ts'
import { StateCard } from '../../parts/states.tsx'
import { Age } from '../../parts/time.tsx'
import { ViewHead } from '../../parts/view-head.tsx'
import type { RowOf } from '../../data/rows.ts'
import { formatRoute } from '../../logic/route.ts'
import { applicationAccess } from './application-access.ts'
import { ApplicationEditor } from './application-editor.tsx'
import type { ViewProps } from '../view-props.ts'

type Row = RowOf<'applications'>

const applicationHref = ({ namespace, name }: Row): string => formatRoute(['applications', namespace, name])

const COLUMNS: readonly GridColumn<Row>[] = [
  {
    key: 'name',
    title: 'Name',
    width: 'minmax(120px, 2fr)',
    narrow: 'name',
    sort: ({ name }) => name,
    cell: (row) => <RowLink href={applicationHref(row)} text={row.name} />,
  },
  {
    key: 'namespace',
    title: 'Namespace',
    width: 'minmax(80px, 1fr)',
    sort: ({ namespace }) => namespace,
    cell: ({ namespace }) => namespace,
  },
  {
    key: 'phase',
    title: 'Phase',
    width: '104px',
    narrow: 'state',
    sort: ({ phase }) => phase,
    cell: ({ phase }) => <Badge text={phase} />,
  },
  {
    key: 'ready',
    title: 'Ready',
    width: '130px',
    narrow: 'end',
    sort: ({ replicas, readyReplicas }) => (replicas === 0 ? 1 : readyReplicas / replicas),
    cell: ({ replicas, readyReplicas, updatedReplicas }) => (
      <Progress
        value={readyReplicas}
        of={replicas}
        other={updatedReplicas}
        label={`${readyReplicas} of ${replicas} replicas are ready, ${updatedReplicas} are updated`}
      />
    ),
  },
  {
    key: 'image',
    title: 'Image',
    width: 'minmax(120px, 2fr)',
    narrow: 'about',
    sort: ({ image }) => image,
    cell: ({ image }) => <span title={image}>{image}</span>,
  },
  {
    key: 'message',
    title: 'Message',
    width: 'minmax(100px, 2fr)',
    cell: ({ message }) => (
      <span class="muted" title={message}>
        {message}
      </span>
    ),
  },
  {
    key: 'created',
    title: 'Age',
    width: '64px',
    isNumeric: true,
    sort: ({ createdAt }) => -createdAt,
    cell: ({ createdAt }) => <Age at={createdAt} />,
  },
]

export function ApplicationsView({ route: { query } }: ViewProps): JSX.Element {
  const table = useTable('applications')
  const [isCreating, setCreating] = useState(false)
  const { ns = '', phase = '' } = query
  const all = [...table.entries()].map(({ row }) => row)
  const create = (
    <AccessButton
      check={applicationAccess('create', ns || undefined)}
      class="primary"
      onClick={() => setCreating(true)}
    >
      New application
    </AccessButton>
  )
  return (
    <>
      <ViewHead title="Applications" actions={create} />
      <RowList
        noun="application"
        table={table}
        columns={COLUMNS}
        defaultSort="name"
        query={query}
        where={(row) => (ns === '' || row.namespace === ns) && (phase === '' || row.phase === phase)}
        choices={
          <>
            <Choice
              label="Namespace"
              name="ns"
              value={ns}
              all="All namespaces"
              options={distinct(all.map(({ namespace }) => namespace))}
            />
            <Choice
              label="Phase"
              name="phase"
              value={phase}
              all="All phases"
              options={distinct(all.map((row) => row.phase))}
            />
          </>
        }
        rowHref={applicationHref}
        empty={
          <StateCard title="No applications yet">
            An application keeps an image running. Create the first one with “New application”, or with{' '}
            <code>kubectl apply</code>.
          </StateCard>
        }
      />
      {isCreating && <ApplicationEditor namespace={ns || 'default'} onClose={() => setCreating(false)} />}
    </>
  )
}
