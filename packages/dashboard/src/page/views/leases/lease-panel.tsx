import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { messageOf } from '../../data/api.ts'
import type { RowOf } from '../../data/rows.ts'
import { leasedObjectRoute } from '../../logic/trouble.ts'
import { AccessButton } from '../../parts/access.tsx'
import { ActionDialog } from '../../parts/dialog.tsx'
import { TextField } from '../../parts/fields.tsx'
import { Facts, Panel } from '../../parts/panel.tsx'
import { useServices } from '../../parts/services.ts'
import { Ago, Countdown } from '../../parts/time.tsx'

interface LeasePanelProps {
  readonly id: string
  /** Undefined: the object is gone or has no lease any more. */
  readonly row: RowOf<'leases'> | undefined
  readonly onClose: () => void
}

/** Times that one press of a button adds. */
const EXTENSIONS = ['15m', '1h', '1d'] as const

/** One lease: until when the object lives, and how to change that. */
export function LeasePanel({ id, row, onClose }: LeasePanelProps): JSX.Element {
  const { api, notices } = useServices()
  const [dialog, setDialog] = useState<'set' | 'clear'>()
  if (!row) {
    return (
      <Panel title={id} onClose={onClose}>
        <p class="muted">The object is gone, or it has no lease any more.</p>
      </Panel>
    )
  }
  const { apiVersion, kind, plural, group, namespace, name, ttl, leaseStart, expiresAt, status, createdAt } = row
  const check = { group, resource: plural, verb: 'patch', namespace }
  const change = async (patch: { readonly ttl?: string | null; readonly extend?: string }): Promise<void> => {
    const body = { apiVersion, kind, ...(namespace !== undefined && { namespace }), name, ...patch }
    await api.json('./api/v1/leases', { method: 'POST', body })
  }
  const extend = async (by: string): Promise<void> => {
    try {
      await change({ extend: by })
      notices.show('done', `Extended ${name} by ${by}.`)
    } catch (error) {
      notices.show('failed', messageOf(error))
    }
  }
  return (
    <Panel
      title={name}
      subtitle={
        <>
          {kind} {namespace !== undefined && <>in {namespace} </>}
          <code>{apiVersion}</code>
        </>
      }
      onClose={onClose}
    >
      {expiresAt !== undefined && (
        <p class="big-countdown">
          <Countdown at={expiresAt} /> <span class="muted">left</span>
        </p>
      )}
      <div class="actions" role="group" aria-label="Extend">
        {EXTENSIONS.map((by) => (
          <AccessButton
            key={by}
            check={check}
            unless={expiresAt === undefined ? 'the lease has no end yet' : undefined}
            onClick={() => void extend(by)}
          >
            +{by}
          </AccessButton>
        ))}
      </div>
      <div class="actions">
        <AccessButton check={check} onClick={() => setDialog('set')}>
          Set TTL
        </AccessButton>
        <AccessButton check={check} onClick={() => setDialog('clear')}>
          Clear
        </AccessButton>
      </div>
      <Facts
        facts={[
          ['TTL', ttl],
          ['Status', status],
          ['Lease began', leaseStart !== undefined && <Ago key="start" at={leaseStart} />],
          ['Created', <Ago key="created" at={createdAt} />],
        ].filter((fact): fact is [string, string | JSX.Element] => Boolean(fact[1]))}
      />
      <p>
        <a href={leasedObjectRoute(row)}>Show the object</a>
      </p>
      {dialog === 'set' && (
        <TtlDialog
          name={name}
          ttl={ttl}
          onClose={() => setDialog(undefined)}
          onSet={async (next) => {
            await change({ ttl: next })
            notices.show('done', `The TTL of ${name} is ${next}.`)
          }}
        />
      )}
      {dialog === 'clear' && (
        <ActionDialog
          title={`Clear the lease of ${name}`}
          verb="Clear"
          onClose={() => setDialog(undefined)}
          onSubmit={async () => {
            await change({ ttl: null })
            notices.show('done', `${name} does not expire any more.`)
          }}
        >
          <p>This removes the TTL. The object stays until it is deleted in another way.</p>
        </ActionDialog>
      )}
    </Panel>
  )
}

interface TtlDialogProps {
  readonly name: string
  readonly ttl: string
  readonly onClose: () => void
  readonly onSet: (ttl: string) => Promise<void>
}

function TtlDialog({ name, ttl: initial, onClose, onSet }: TtlDialogProps): JSX.Element {
  const [ttl, setTtl] = useState(initial)
  return (
    <ActionDialog
      title={`Set the TTL of ${name}`}
      verb="Set"
      onClose={onClose}
      isIncomplete={ttl.trim() === ''}
      onSubmit={() => onSet(ttl.trim())}
      fields={(problems) => (
        <TextField
          label="TTL"
          name="ttl"
          value={ttl}
          onChange={setTtl}
          problem={problems.find(({ field }) => field.endsWith('ttl'))?.message}
          hint="Counted from the start of the lease, like 30m, 12h or 2d."
        />
      )}
    />
  )
}
