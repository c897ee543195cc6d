import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { RowOf } from '../../data/rows.ts'
import { curlCommand } from '../../logic/curl.ts'
import { ttlText } from '../../logic/time.ts'
import { AccessButton } from '../../parts/access.tsx'
import { Badge } from '../../parts/badge.tsx'
import { ActionDialog, DeleteDialog } from '../../parts/dialog.tsx'
import { TextField } from '../../parts/fields.tsx'
import { CopyButton, Facts, Panel } from '../../parts/panel.tsx'
import { useServices } from '../../parts/services.ts'
import { Ago, Countdown } from '../../parts/time.tsx'
import { absoluteUrl, claimAccess } from './claim-access.ts'

interface ClaimPanelProps {
  readonly id: string
  /** Undefined: the claim is gone. */
  readonly row: RowOf<'claims'> | undefined
  readonly pool: RowOf<'pools'> | undefined
  readonly onClose: () => void
}

/** One claim: what it holds, until when, and what can be done with it. */
export function ClaimPanel({ id, row, pool, onClose }: ClaimPanelProps): JSX.Element {
  const { about, api, notices } = useServices()
  const [dialog, setDialog] = useState<'renew' | 'release'>()
  if (!row) {
    return (
      <Panel title={id} onClose={onClose}>
        <p class="muted">This claim has ended, or it never existed.</p>
      </Panel>
    )
  }
  const { name, namespace, status, isIdle, message, preProvisioned, createdAt, claimedAt, expiresAt, data, resources } =
    row
  const isAuthenticated = about.authentication === 'token'
  const renewUrl = absoluteUrl(`./renew/${encodeURIComponent(id)}`)
  const releaseUrl = absoluteUrl(`./release/${encodeURIComponent(id)}`)
  const ttl = pool ? ttlText(pool.defaultTtl) : '15m'
  return (
    <Panel title={name} subtitle={`Claim of pool ${row.pool} in ${namespace}`} onClose={onClose}>
      {expiresAt !== undefined && (
        <p class="big-countdown">
          <Countdown at={expiresAt} /> <span class="muted">left</span>
        </p>
      )}
      <div class="actions">
        <AccessButton
          check={claimAccess('update', namespace)}
          class="primary"
          unless={isIdle ? 'the claim waits in its pool and has no end' : undefined}
          onClick={() => setDialog('renew')}
        >
          Renew
        </AccessButton>
        <AccessButton check={claimAccess('delete', namespace)} class="danger" onClick={() => setDialog('release')}>
          Release
        </AccessButton>
      </div>
      <Facts
        facts={[
          ['Status', <Badge key="status" text={isIdle && status === 'ready' ? 'warm' : status} />],
          ['Message', message],
          ['Origin', preProvisioned ? 'taken warm from the pool' : isIdle ? 'waits in the pool' : 'made on demand'],
          ['Created', <Ago key="created" at={createdAt} />],
          ['Claimed', claimedAt !== undefined && <Ago key="claimed" at={claimedAt} />],
        ].filter((fact): fact is [string, string | JSX.Element] => Boolean(fact[1]))}
      />
      <h3>Data</h3>
      {Object.keys(data).length === 0 ? (
        <p class="muted">This claim returns no data.</p>
      ) : (
        <dl class="data">
          {Object.entries(data).map(([key, value]) => (
            <div key={key}>
              <dt>{key}</dt>
              <dd>
                <code>{value}</code> <CopyButton text={value} label="Copy" what={key} />
              </dd>
            </div>
          ))}
        </dl>
      )}
      <h3>Resources</h3>
      <ul class="resources">
        {resources.map((resource) => (
          <li key={`${resource.kind} ${resource.name}`}>
            <span class={`dot ${resource.ready ? 'good' : 'wait'}`} aria-hidden="true" />
            <span class="kind">{resource.kind}</span> {resource.name}
            <span class="offscreen">{resource.ready ? ' is ready' : ' is not ready'}</span>
            {resource.message !== '' && <span class="muted"> {resource.message}</span>}
          </li>
        ))}
      </ul>
      {!isIdle && (
        <>
          <h3>As curl</h3>
          <div class="actions">
            <CopyButton
              label="Copy renew"
              what="a command that renews the claim"
              text={curlCommand({ method: 'POST', url: renewUrl, body: { ttl }, isAuthenticated })}
            />
            <CopyButton
              label="Copy release"
              what="a command that releases the claim"
              text={curlCommand({ method: 'POST', url: releaseUrl, isAuthenticated })}
            />
          </div>
        </>
      )}
      {dialog === 'renew' && (
        <RenewDialog id={id} name={name} ttl={ttl} maxTtl={pool?.maxTtl} onClose={() => setDialog(undefined)} />
      )}
      {dialog === 'release' && (
        <DeleteDialog
          what="claim"
          verb="Release"
          name={name}
          onClose={() => setDialog(undefined)}
          onDelete={async () => {
            await api.json(`./release/${encodeURIComponent(id)}`, { method: 'POST' })
            notices.show('done', `Released ${name}.`)
          }}
        >
          <p>This ends the claim now and deletes its resources. Its holder loses them.</p>
        </DeleteDialog>
      )}
    </Panel>
  )
}

interface RenewDialogProps {
  readonly id: string
  readonly name: string
  readonly ttl: string
  readonly maxTtl: number | undefined
  readonly onClose: () => void
}

function RenewDialog({ id, name, ttl: initial, maxTtl, onClose }: RenewDialogProps): JSX.Element {
  const { api, notices } = useServices()
  const [ttl, setTtl] = useState(initial)
  return (
    <ActionDialog
      title={`Renew ${name}`}
      verb="Renew"
      onClose={onClose}
      onSubmit={async () => {
        await api.json(`./renew/${encodeURIComponent(id)}`, { method: 'POST', body: { ttl } })
        notices.show('done', `Renewed ${name} for ${ttl}.`)
      }}
    >
      <TextField
        label="TTL from now"
        name="ttl"
        value={ttl}
        onChange={setTtl}
        hint={`Like 15m, 1h30m or 1d.${maxTtl === undefined ? '' : ` A claim of this pool lives for at most ${ttlText(maxTtl)}.`}`}
      />
    </ActionDialog>
  )
}
