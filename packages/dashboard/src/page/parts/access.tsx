import type { ComponentChildren, JSX } from 'preact'
import { useId } from 'preact/hooks'
import { type ActionAccess, neededAccess } from '../data/access.ts'
import { useAccess } from './services.ts'

interface AccessButtonProps {
  readonly check: ActionAccess
  readonly onClick: () => void
  readonly children: ComponentChildren
  readonly class?: string
  /** Why the action makes no sense now; undefined: it does. */
  readonly unless?: string | undefined
}

/** A button for an action that needs a right. Without the right it is disabled and names what is missing. */
export function AccessButton({ check, onClick, children, class: name, unless }: AccessButtonProps): JSX.Element {
  const decision = useAccess(check)
  const id = useId()
  const reason = decision === 'denied' ? neededAccess(check) : decision === 'unknown' ? 'checking your rights' : unless
  return (
    <span class="access" title={reason}>
      <button
        type="button"
        class={name}
        disabled={reason !== undefined}
        aria-describedby={reason === undefined ? undefined : id}
        onClick={onClick}
      >
        {children}
      </button>
      {reason !== undefined && (
        <span id={id} class={decision === 'denied' ? 'needs' : 'offscreen'}>
          {reason}
        </span>
      )}
    </span>
  )
}
