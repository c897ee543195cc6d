import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { messageOf } from '../../data/api.ts'
import type { DatabaseDetails, RowOf } from '../../data/rows.ts'
import { formatRoute } from '../../logic/route.ts'
import { tookText } from '../../logic/time.ts'
import { AccessButton } from '../../parts/access.tsx'
import { Badge, Progress } from '../../parts/badge.tsx'
import { useFetched } from '../../parts/fetched.ts'
import { CopyButton, Facts, Section } from '../../parts/panel.tsx'
import { ScaleDialog } from '../../parts/scale-dialog.tsx'
import { useBeat, useServices, useTable } from '../../parts/services.ts'
import { Loading, StateCard, tableProblem } from '../../parts/states.tsx'
import { Ago } from '../../parts/time.tsx'
import { ViewHead } from '../../parts/view-head.tsx'
import { DeleteDatabaseDialog } from './delete-database-dialog.tsx'

/** Seconds between readings of the log of a job that runs. */
const LOG_SECONDS = 2

/** One database: its state, its jobs, how to connect, and its history. */
export function DatabaseView({ id }: { readonly id: string }): JSX.Element {
  const table = useTable('databases')
  const row = table.get(id)
  const { job } = row ?? {}
  // A job writes its log without a change of the row.
  const beat = useBeat(job === undefined ? undefined : LOG_SECONDS)
  // Anything else that changes in the database changes its row.
  const version = `${row?.status} ${row?.readyReplicas} ${row?.generation} ${JSON.stringify(job)} ${beat}`
  const fetched = useFetched<DatabaseDetails>(`./api/v1/databases/${encodeURIComponent(id)}`, version)
  const { value, error } = fetched
  return (
    <>
      <ViewHead
        title={row?.name ?? id}
        crumbs={[['Databases', formatRoute(['databases'])]]}
        actions={row && <DatabaseActions row={row} />}
      />
      {row ? (
        <>
          <DatabaseFacts row={row} />
          {value ? (
            <DatabaseHistory details={value} />
          ) : error === undefined ? (
            <Loading what="the history" />
          ) : (
            <StateCard title="The history cannot be read" tone="bad">
              {error}{' '}
              <button type="button" class="link" onClick={fetched.reload}>
                Try again
              </button>
            </StateCard>
          )}
        </>
      ) : (
        (tableProblem(table.state, 'databases') ?? (
          <StateCard title="There is no such database">
            It was deleted, or it never existed. <a href={formatRoute(['databases'])}>All databases</a>
          </StateCard>
        ))
      )}
    </>
  )
}

function DatabaseActions({ row }: { readonly row: RowOf<'databases'> }): JSX.Element {
  const { api, notices } = useServices()
  const [dialog, setDialog] = useState<'scale' | 'delete'>()
  const { id, name, namespace, status } = row
  const path = `./api/v1/databases/${encodeURIComponent(id)}`
  const update = { group: 'databases.tenure.dev', resource: 'databases', verb: 'update', namespace }
  const isPaused = status === 'paused'
  const run = async (action: 'pause' | 'resume'): Promise<void> => {
    try {
      await api.json(`${path}/${action}`, { method: 'POST' })
      notices.show('done', `${action === 'pause' ? 'Pausing' : 'Resuming'} ${name}.`)
    } catch (error) {
      notices.show('failed', messageOf(error))
    }
  }
  return (
    <>
      <AccessButton
        check={update}
        onClick={() => setDialog('scale')}
        unless={isPaused ? 'the database is paused' : undefined}
      >
        Scale
      </AccessButton>
      <AccessButton check={update} onClick={() => void run(isPaused ? 'resume' : 'pause')}>
        {isPaused ? 'Resume' : 'Pause'}
      </AccessButton>
      <AccessButton check={{ ...update, verb: 'delete' }} class="danger" onClick={() => setDialog('delete')}>
        Delete
      </AccessButton>
      {dialog === 'scale' && (
        <ScaleDialog
          name={row.name}
          replicas={row.replicas}
          hint="A job does the scaling; its log appears below."
          isValid={(text) => /^\d+$/.test(text)}
          onScale={(text) => api.json(`${path}/scale`, { method: 'POST', body: { replicas: Number(text) } })}
          onClose={() => setDialog(undefined)}
        />
      )}
      {dialog === 'delete' && <DeleteDatabaseDialog row={row} path={path} onClose={() => setDialog(undefined)} />}
    </>
  )
}

function DatabaseFacts({ row }: { readonly row: RowOf<'databases'> }): JSX.Element {
  const { status, reason, engine, version, replicas, readyReplicas, team, namespace, lifecycleMode } = row
  const { host, port, secretName, generation, observedGeneration, job } = row
  const isBehind = observedGeneration !== undefined && observedGeneration !== generation
  return (
    <div class="columns">
      <Section title="State">
        <Facts
          facts={[
            ['Status', <Badge key="status" text={status} />],
            ['Reason', reason],
            ['Engine', `${engine} ${version ?? ''}`],
            [
              'Ready',
              <Progress
                key="ready"
                value={readyReplicas}
                of={replicas}
                label={`${readyReplicas} of ${replicas} replicas are ready`}
              />,
            ],
            ['Job', job && <JobText key="job" job={job} />],
            ['Generation', isBehind ? `${generation}, reached ${observedGeneration}` : generation],
            ['Team', team],
            ['Namespace', namespace],
            ['Lifecycle', lifecycleMode],
          ]}
        />
      </Section>
      <Section title="Connection">
        {host === undefined ? (
          <p class="muted">The database has no address yet.</p>
        ) : (
          <Facts
            facts={[
              [
                'Host',
                <span key="host">
                  <code>{host}</code> <CopyButton text={host} label="Copy" what="the host" />
                </span>,
              ],
              ['Port', port === undefined ? undefined : <code key="port">{port}</code>],
              ['Secret', secretName && <code key="secret">{secretName}</code>],
            ]}
          />
        )}
        {secretName !== undefined && (
          <p class="hint">User name and password are in the Secret. The dashboard never shows them.</p>
        )}
      </Section>
    </div>
  )
}

function JobText({ job }: { readonly job: NonNullable<RowOf<'databases'>['job']> }): JSX.Element {
  const { type, status, attempts = 0 } = job
  return (
    <>
      {type} <Badge text={status} tone={status === 'running' ? 'wait' : undefined} />
      {attempts > 0 && <span class="muted"> · failed {attempts === 1 ? 'once' : `${attempts} times`}</span>}
    </>
  )
}

function DatabaseHistory({ details: { jobs, audit, config } }: { readonly details: DatabaseDetails }): JSX.Element {
  return (
    <>
      <Section title="Jobs">
        {jobs.length === 0 ? (
          <p class="muted">No job has run yet.</p>
        ) : (
          <ul class="jobs">
            {jobs.map(({ id, type, status, startedAt, completedAt, logs, error }, index) => (
              <li key={id}>
                <details open={index === 0}>
                  <summary>
                    <strong>{type}</strong> <Badge text={status} tone={status === 'running' ? 'wait' : undefined} />{' '}
                    <Ago at={startedAt} />
                    {startedAt !== undefined && completedAt !== undefined && (
                      <span class="muted"> · {tookText(completedAt - startedAt)}</span>
                    )}
                  </summary>
                  {error !== undefined && error !== '' && <p class="failure">{error}</p>}
                  {logs === '' ? (
                    <p class="muted">No log lines yet.</p>
                  ) : (
                    <pre class="log" tabIndex={0} aria-label={`Log of the ${type} job`}>
                      {logs}
                    </pre>
                  )}
                </details>
              </li>
            ))}
          </ul>
        )}
      </Section>
      <div class="columns">
        <Section title="Audit trail">
          {audit.length === 0 ? (
            <p class="muted">Nothing is recorded yet.</p>
          ) : (
            <table class="plain">
              <thead>
                <tr>
                  <th scope="col">When</th>
                  <th scope="col">Action</th>
                  <th scope="col">Details</th>
                </tr>
              </thead>
              <tbody>
                {audit.map(({ id, action, at, changes, details }) => (
                  <tr key={id}>
                    <td>
                      <Ago at={at} />
                    </td>
                    <td>{action}</td>
                    <td class="text muted">
                      {changes.length === 0
                        ? JSON.stringify(details)
                        : changes.map((line) => <div key={line}>{line}</div>)}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </Section>
        <Section title="Desired configuration">
          <pre class="log" tabIndex={0} aria-label="Desired configuration">
            {JSON.stringify(config, null, 2)}
          </pre>
        </Section>
      </div>
    </>
  )
}
