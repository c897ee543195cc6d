import type { ComponentChildren, JSX } from 'preact'
import { useId } from 'preact/hooks'

interface FieldProps {
  readonly label: ComponentChildren
  readonly hint?: ComponentChildren
  /** The problem that the server found in the value. */
  readonly problem?: string | undefined
  /** Draws the control, with the ids of its label and its description. */
  readonly children: (id: string, describedBy: string | undefined, isInvalid: boolean) => ComponentChildren
}

/** A labelled control with a hint and the problem of its value. */
export function Field({ label, hint, problem, children }: FieldProps): JSX.Element {
  const id = useId()
  const about = `${id}-about`
  const hasText = problem !== undefined || hint !== undefined
  return (
    <div class={`field ${problem === undefined ? '' : 'invalid'}`}>
      <label for={id}>{label}</label>
      {children(id, hasText ? about : undefined, problem !== undefined)}
      {hasText && (
        <p id={about} class={problem === undefined ? 'hint' : 'problem'}>
          {problem ?? hint}
        </p>
      )}
    </div>
  )
}

interface TextFieldProps {
  readonly label: string
  readonly name: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly hint?: string | undefined
  readonly problem?: string | undefined
  readonly rows?: number
  readonly placeholder?: string | undefined
  readonly isReadOnly?: boolean
  /** The value is not shown, and no browser stores it. */
  readonly isSecret?: boolean
  readonly inputMode?: 'numeric' | 'text'
}

export function TextField(props: TextFieldProps): JSX.Element {
  const {
    label,
    name,
    value,
    onChange,
    hint,
    problem,
    rows,
    placeholder,
    isReadOnly = false,
    isSecret = false,
    inputMode,
  } = props
  return (
    <Field label={label} hint={hint} problem={problem}>
      {(id, describedBy, isInvalid) => {
        const common = {
          id,
          name,
          value,
          placeholder,
          readOnly: isReadOnly,
          spellcheck: false,
          'aria-describedby': describedBy,
          'aria-invalid': isInvalid,
        }
        if (rows !== undefined) {
          return <textarea {...common} rows={rows} onInput={(event) => onChange(event.currentTarget.value)} />
        }
        return (
          <input
            {...common}
            {...(isSecret ? { type: 'password' } : { type: 'text' })}
            autocomplete="off"
            inputMode={inputMode}
            onInput={(event) => onChange(event.currentTarget.value)}
          />
        )
      }}
    </Field>
  )
}

interface SelectFieldProps {
  readonly label: string
  readonly name: string
  readonly value: string
  readonly options: readonly (readonly [value: string, text: string])[]
  readonly onChange: (value: string) => void
  readonly hint?: string | undefined
  readonly problem?: string | undefined
}

export function SelectField({ label, name, value, options, onChange, hint, problem }: SelectFieldProps): JSX.Element {
  return (
    <Field label={label} hint={hint} problem={problem}>
      {(id, describedBy, isInvalid) => (
        <select
          id={id}
          name={name}
          value={value}
          aria-describedby={describedBy}
          aria-invalid={isInvalid}
          onChange={(event) => onChange(event.currentTarget.value)}
        >
          {options.map(([option, text]) => (
            <option key={option} value={option}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}
