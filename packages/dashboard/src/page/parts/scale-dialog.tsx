import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { ActionDialog } from './dialog.tsx'
import { TextField } from './fields.tsx'
import { useServices } from './services.ts'

interface ScaleDialogProps {
  readonly name: string
  /** Present number of replicas. */
  readonly replicas: number
  readonly hint?: string
  /** Whether the text can be sent. Default: if it is not blank, so that the API says what is wrong. */
  readonly isValid?: (text: string) => boolean
  readonly onScale: (text: string) => Promise<void>
  readonly onClose: () => void
}

export function ScaleDialog(props: ScaleDialogProps): JSX.Element {
  const { name, hint, isValid = (text) => text !== '', onScale, onClose } = props
  const { notices } = useServices()
  const [replicas, setReplicas] = useState(String(props.replicas))
  return (
    <ActionDialog
      title={`Scale ${name}`}
      verb="Scale"
      onClose={onClose}
      isIncomplete={!isValid(replicas.trim())}
      onSubmit={async () => {
        await onScale(replicas)
        notices.show('done', `Scaling ${name} to ${replicas}.`)
      }}
      fields={(problems) => (
        <TextField
          label="Replicas"
          name="replicas"
          inputMode="numeric"
          value={replicas}
          onChange={setReplicas}
          problem={problems.find(({ field }) => field.endsWith('replicas'))?.message}
          hint={hint}
        />
      )}
    />
  )
}
