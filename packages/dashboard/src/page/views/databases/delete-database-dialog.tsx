import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { RowOf } from '../../data/rows.ts'
import { formatRoute } from '../../logic/route.ts'
import { DeleteDialog } from '../../parts/dialog.tsx'
import { useServices } from '../../parts/services.ts'

interface DatabaseDialogProps {
  readonly row: RowOf<'databases'>
  readonly path: string
  readonly onClose: () => void
}

export function DeleteDatabaseDialog({ row, path, onClose }: DatabaseDialogProps): JSX.Element {
  const { api, navigation, notices } = useServices()
  const [isDataDeleted, setDataDeleted] = useState(false)
  const { name, namespace } = row
  const place = namespace === undefined ? '' : ` in ${namespace}`
  return (
    <DeleteDialog
      what="database"
      name={name}
      onClose={onClose}
      onDelete={async () => {
        await api.json(`${path}?deleteData=${isDataDeleted}`, { method: 'DELETE' })
        notices.show('done', `Deleting ${name}.`)
        navigation.go(formatRoute(['databases']))
      }}
    >
      <fieldset class="choices">
        <legend>Data</legend>
        <label>
          <input type="radio" name="deleteData" checked={!isDataDeleted} onChange={() => setDataDeleted(false)} />
          Keep the data
        </label>
        <label>
          <input type="radio" name="deleteData" checked={isDataDeleted} onChange={() => setDataDeleted(true)} />
          Delete the data, too
        </label>
      </fieldset>
      <p class={isDataDeleted ? 'kept danger-text' : 'kept'} role="status">
        {isDataDeleted
          ? `Nothing is kept: the server, its volumes${place} and all data of ${name} are deleted. This cannot be undone.`
          : `The server of ${name} is deleted. Its volumes${place} are kept with all data, and so is the audit trail.`}
      </p>
    </DeleteDialog>
  )
}
