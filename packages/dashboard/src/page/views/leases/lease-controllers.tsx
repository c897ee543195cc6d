import type { JSX } from 'preact'
import { objectRoute } from '../../logic/route.ts'
import { Badge } from '../../parts/badge.tsx'
import { number } from '../../parts/filter-bar.tsx'
import { useTable } from '../../parts/services.ts'
import { tableProblem } from '../../parts/states.tsx'

/** The LeaseControllers: which kinds have leases, and whether their controllers work. */
export function LeaseControllers({ selected }: { readonly selected: string | undefined }): JSX.Element | null {
  const table = useTable('lease-controllers')
  const problem = tableProblem(table.state, 'lease controllers')
  if (problem) return table.state.status === 'absent' ? null : problem
  const rows = [...table.entries()].map(({ row }) => row).toSorted((a, b) => (a.name < b.name ? -1 : 1))
  if (rows.length === 0) return null
  return (
    <ul class="cards slim" aria-label="Lease controllers">
      {rows.map(({ id, name, targetKind, targetGroup, targetVersion, mode, ready, reason, message, objects }) => (
        <li key={id} class={`card ${name === selected ? 'selected' : ''} ${ready ? '' : 'troubled'}`}>
          <h2>
            <a
              href={objectRoute({
                apiVersion: 'object-lease-controller.ullberg.us/v1alpha1',
                kind: 'LeaseController',
                name,
              })}
            >
              {name}
            </a>
            <Badge text={ready ? 'ready' : reason || 'not ready'} tone={ready ? 'good' : 'bad'} />
          </h2>
          <p class="muted">
            {targetKind} <code>{targetGroup === '' ? targetVersion : `${targetGroup}/${targetVersion}`}</code>
          </p>
          <p class="muted">
            {mode}
            {objects !== undefined && ` · ${number(objects)} ${objects === 1 ? 'lease' : 'leases'}`}
          </p>
          {!ready && message !== '' && (
            <p class="failure" title={message}>
              {message}
            </p>
          )}
        </li>
      ))}
    </ul>
  )
}
