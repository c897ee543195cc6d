import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { RowOf } from '../../data/rows.ts'
import { curlCommand } from '../../logic/curl.ts'
import { ttlText } from '../../logic/time.ts'
import { ActionDialog } from '../../parts/dialog.tsx'
import { SelectField, TextField } from '../../parts/fields.tsx'
import { CopyButton } from '../../parts/panel.tsx'
import { useServices } from '../../parts/services.ts'
import { absoluteUrl } from './claim-access.ts'

interface TakeDialogProps {
  readonly pools: readonly RowOf<'pools'>[]
  /** Chosen at first; empty: the default pool. */
  readonly initialPool: string
  readonly onClose: () => void
}

interface TakenBody {
  readonly id: string
}

/** Takes a claim from a pool, and then shows it. */
export function TakeDialog({ pools, initialPool, onClose }: TakeDialogProps): JSX.Element {
  const { about, api, navigation, notices } = useServices()
  const names = pools.map(({ name }) => name)
  const [pool, setPool] = useState(initialPool || (names.includes('default') ? 'default' : (names[0] ?? 'default')))
  const [ttl, setTtl] = useState('')
  const [values, setValues] = useState('')
  const chosen = pools.find(({ name }) => name === pool)
  const problem = valuesProblem(values)

  const body = {
    pool,
    ...(ttl.trim() !== '' && { ttl: ttl.trim() }),
    ...(values.trim() !== '' && problem === undefined && { values: JSON.parse(values) as unknown }),
  }
  const command = curlCommand({
    method: 'POST',
    url: absoluteUrl('./claim'),
    body,
    isAuthenticated: about.authentication === 'token',
  })
  return (
    <ActionDialog
      title="Take a claim"
      verb="Take"
      isIncomplete={problem !== undefined}
      onClose={onClose}
      onSubmit={async () => {
        const { id } = await api.json<TakenBody>('./claim', { method: 'POST', body })
        notices.show('done', `Took claim ${id}.`)
        navigation.setQuery({ id })
      }}
    >
      <SelectField
        label="Pool"
        name="pool"
        value={pool}
        onChange={setPool}
        options={(names.length > 0 ? names : ['default']).map((name) => [name, name])}
        hint={chosen && `${chosen.warm} warm${chosen.warm === 0 ? ': the claim is made on demand' : ''}`}
      />
      <TextField
        label="TTL"
        name="ttl"
        value={ttl}
        onChange={setTtl}
        placeholder={chosen && ttlText(chosen.defaultTtl)}
        hint={`Like 15m, 1h30m or 1d.${chosen ? ` At most ${ttlText(chosen.maxTtl)}.` : ''}`}
      />
      <TextField
        label="Values"
        name="values"
        rows={4}
        value={values}
        onChange={setValues}
        problem={problem}
        placeholder={'{ "tag": "v1" }'}
        hint="Values for the template, as a JSON object. A claim with values is made on demand."
      />
      <p class="switch">
        <CopyButton text={command} label="Copy as curl" what="the command" />
      </p>
    </ActionDialog>
  )
}

function valuesProblem(text: string): string | undefined {
  if (text.trim() === '') return undefined
  try {
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? undefined : 'Values must be a JSON object.'
  } catch {
    return 'This is not JSON yet.'
  }
}
