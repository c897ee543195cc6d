import type { ComponentChildren, JSX } from 'preact'
import type { TableState } from '../data/live-table.ts'

interface StateCardProps {
  readonly title: string
  readonly children?: ComponentChildren
  readonly tone?: 'calm' | 'bad'
}

/** Says why there is nothing to see. */
export function StateCard({ title, children, tone = 'calm' }: StateCardProps): JSX.Element {
  return (
    <div class={`state ${tone}`}>
      <p class="state-title">{title}</p>
      {children !== undefined && <div class="state-text">{children}</div>}
    </div>
  )
}

export function Loading({ what }: { readonly what: string }): JSX.Element {
  return (
    <div class="state calm" role="status">
      <p class="state-title">Loading {what} …</p>
    </div>
  )
}

/** The state of a table without a list; undefined if it has one. */
export function tableProblem(state: TableState, what: string): JSX.Element | undefined {
  switch (state.status) {
    case 'ready':
      return undefined
    case 'loading':
      return <Loading what={what} />
    case 'forbidden':
      return (
        <StateCard title={`You may not see ${what}`} tone="bad">
          {state.message}
        </StateCard>
      )
    case 'absent':
      return (
        <StateCard title={`This server does not manage ${what}`}>
          Its operator runs in another process, or not at all.
        </StateCard>
      )
    default:
      return (
        <StateCard title={`The list of ${what} cannot be read`} tone="bad">
          {state.message} The page tries again by itself.
        </StateCard>
      )
  }
}
