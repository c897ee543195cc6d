import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { type FieldProblem, messageOf, RequestFailure } from '../data/api.ts'
import { Field } from './fields.tsx'

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
  readonly isWide?: boolean
}

/** A modal dialog. The browser keeps the focus inside, closes it by Escape and returns the focus. */
export function Dialog({ title, onClose, children, isWide = false }: DialogProps): JSX.Element {
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const { current } = element
    const before = document.activeElement
    current?.showModal()
    // The browser would focus the button that closes the dialog.
    current?.querySelector<HTMLElement>('input:not([readonly]), textarea, select')?.focus()
    return () => {
      current?.close()
      // The dialog is removed together with its closing, so that the browser cannot return the focus.
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  return (
    <dialog
      ref={element}
      class={isWide ? 'wide' : ''}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onClick={(event) => {
        // A click on the backdrop hits the dialog itself.
        if (event.target === element.current) onClose()
      }}
    >
      <div class="dialog-body">
        <div class="dialog-head">
          <h2 id={id}>{title}</h2>
          <button type="button" class="quiet" aria-label="Close" onClick={onClose}>
            ×
          </button>
        </div>
        {children}
      </div>
    </dialog>
  )
}

/** The state of an action: whether it runs, and what went wrong. */
export interface ActionState {
  readonly isBusy: boolean
  readonly error: string | undefined
  readonly problems: readonly FieldProblem[]
  /** Runs the action. A failure is kept for display. */
  run(action: () => Promise<void>): void
  fail(message: string): void
}

export function useAction(): ActionState {
  const [state, setState] = useState<Pick<ActionState, 'isBusy' | 'error' | 'problems'>>(IDLE)
  return {
    ...state,
    fail: (error) => setState({ isBusy: false, error, problems: [] }),
    run(action) {
      setState({ ...IDLE, isBusy: true })
      action().then(
        () => setState(IDLE),
        (error: unknown) => {
          const problems = error instanceof RequestFailure ? error.problems : []
          setState({ isBusy: false, error: messageOf(error), problems })
        },
      )
    },
  }
}

const IDLE = { isBusy: false, error: undefined, problems: [] } as const

interface ActionDialogProps {
  readonly title: string
  /** Text of the button. */
  readonly verb: string
  readonly onClose: () => void
  readonly onSubmit: () => Promise<void>
  readonly children?: ComponentChildren
  readonly isDangerous?: boolean
  readonly isIncomplete?: boolean
  readonly isWide?: boolean
  /** Draws fields with the problems that the server found in them. */
  readonly fields?: (problems: readonly FieldProblem[]) => ComponentChildren
}

/** A dialog with one action, which closes when the action succeeded. */
export function ActionDialog(props: ActionDialogProps): JSX.Element {
  const { title, verb, onClose, onSubmit, children, isDangerous, isIncomplete = false, isWide = false, fields } = props
  const action = useAction()
  return (
    <Dialog title={title} onClose={onClose} isWide={isWide}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (action.isBusy || isIncomplete) return
          action.run(async () => {
            await onSubmit()
            onClose()
          })
        }}
      >
        {children}
        {fields?.(action.problems)}
        {action.error !== undefined && (
          <p class="form-error" role="alert">
            {action.error}
          </p>
        )}
        <div class="dialog-foot">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class={isDangerous ? 'danger' : 'primary'} disabled={action.isBusy || isIncomplete}>
            {action.isBusy ? 'Working …' : verb}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

interface DeleteDialogProps {
  readonly what: string
  readonly name: string
  readonly verb?: string
  readonly onClose: () => void
  readonly onDelete: () => Promise<void>
  readonly children?: ComponentChildren
}

/** Asks for the name before something is deleted. */
export function DeleteDialog({
  what,
  name,
  verb = 'Delete',
  onClose,
  onDelete,
  children,
}: DeleteDialogProps): JSX.Element {
  const [typed, setTyped] = useState('')
  return (
    <ActionDialog
      title={`${verb} ${what}`}
      verb={verb}
      isDangerous
      isIncomplete={typed !== name}
      onClose={onClose}
      onSubmit={onDelete}
    >
      {children}
      <Field
        label={
          <>
            Type <strong class="name">{name}</strong> to go on
          </>
        }
      >
        {(id) => (
          <input
            id={id}
            name="confirm"
            autocomplete="off"
            spellcheck={false}
            value={typed}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
        )}
      </Field>
    </ActionDialog>
  )
}
