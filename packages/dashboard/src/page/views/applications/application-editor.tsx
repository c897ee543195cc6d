import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { FieldProblem } from '../../data/api.ts'
import {
  type ApplicationFields,
  type ApplicationManifest,
  EMPTY_FIELDS,
  fieldsOf,
  manifestOf,
  problemsByField,
} from '../../logic/application-manifest.ts'
import { formatRoute } from '../../logic/route.ts'
import { ActionDialog } from '../../parts/dialog.tsx'
import { SelectField, TextField } from '../../parts/fields.tsx'
import { useServices } from '../../parts/services.ts'
import { applicationPath } from './application-access.ts'

interface ApplicationEditorProps {
  /** The Application to edit. Default: a new one. */
  readonly manifest?: ApplicationManifest
  /** Where a new one goes. Default `default`. */
  readonly namespace?: string
  readonly onClose: () => void
}

/** Creates or edits an Application, in fields or as JSON. */
export function ApplicationEditor({ manifest, namespace = 'default', onClose }: ApplicationEditorProps): JSX.Element {
  const { api, navigation, notices } = useServices()
  const [fields, setFields] = useState<ApplicationFields>(
    manifest ? fieldsOf(manifest) : { ...EMPTY_FIELDS, namespace },
  )
  const [text, setText] = useState<string>()

  const current = (): ApplicationManifest =>
    text === undefined ? manifestOf(fields, manifest) : (JSON.parse(text) as ApplicationManifest)

  const submit = async (): Promise<void> => {
    const body = current()
    const { name, namespace: target = 'default' } = body.metadata ?? {}
    if (manifest) {
      const { metadata } = manifest
      await api.json(applicationPath(metadata.namespace ?? 'default', metadata.name), { method: 'PUT', body })
      notices.show('done', `Saved ${name}.`)
    } else {
      await api.json(applicationPath(target), { method: 'POST', body })
      notices.show('done', `Created ${name}.`)
      navigation.go(formatRoute(['applications', target, name]))
    }
  }

  return (
    <ActionDialog
      title={manifest ? `Edit ${manifest.metadata.name}` : 'New application'}
      verb={manifest ? 'Save' : 'Create'}
      isWide
      onClose={onClose}
      onSubmit={submit}
      fields={(problems) =>
        text === undefined ? (
          <ManifestFields fields={fields} problems={problems} isNew={!manifest} onChange={setFields} />
        ) : (
          <ManifestText text={text} problems={problems} onChange={setText} />
        )
      }
    >
      <p class="switch">
        {text === undefined ? (
          <button type="button" class="link" onClick={() => setText(JSON.stringify(current(), null, 2))}>
            Edit everything as JSON
          </button>
        ) : (
          <button type="button" class="link" onClick={() => setText(undefined)}>
            Back to the fields, without the changes of the JSON
          </button>
        )}
      </p>
    </ActionDialog>
  )
}

interface ManifestFieldsProps {
  readonly fields: ApplicationFields
  readonly problems: readonly FieldProblem[]
  readonly isNew: boolean
  readonly onChange: (fields: ApplicationFields) => void
}

function ManifestFields({ fields, problems, isNew, onChange }: ManifestFieldsProps): JSX.Element {
  const found = problemsByField(problems)
  const bind = (name: keyof ApplicationFields) => ({
    name,
    value: fields[name],
    problem: found.fields[name],
    onChange: (value: string) => onChange({ ...fields, [name]: value }),
  })
  return (
    <div class="fields">
      <TextField {...bind('name')} label="Name" isReadOnly={!isNew} placeholder="web" />
      <TextField {...bind('namespace')} label="Namespace" isReadOnly={!isNew} />
      <div class="span">
        <TextField {...bind('image')} label="Image" placeholder="nginx:1.29" />
      </div>
      <TextField {...bind('replicas')} label="Replicas" inputMode="numeric" />
      <TextField
        {...bind('ports')}
        label="Ports"
        placeholder="80, 8443:443"
        hint="port or port:target, for a Service"
      />
      <SelectField
        {...bind('strategy')}
        label="Strategy"
        options={[
          ['RollingUpdate', 'RollingUpdate: replace pods one after another'],
          ['Recreate', 'Recreate: stop all pods first'],
        ]}
      />
      <SelectField
        {...bind('run')}
        label="Run"
        options={[
          ['Always', 'Always: keep running'],
          ['Once', 'Once: run to completion'],
        ]}
      />
      <TextField {...bind('cpu')} label="CPU request" placeholder="250m" />
      <TextField {...bind('memory')} label="Memory request" placeholder="128Mi" />
      <div class="span">
        <TextField
          {...bind('config')}
          label="Configuration"
          rows={4}
          placeholder="LOG_LEVEL=info"
          hint="KEY=value, one per line"
        />
      </div>
      <OtherProblems problems={found.others} />
    </div>
  )
}

interface ManifestTextProps {
  readonly text: string
  readonly problems: readonly FieldProblem[]
  readonly onChange: (text: string) => void
}

function ManifestText({ text, problems, onChange }: ManifestTextProps): JSX.Element {
  return (
    <>
      <TextField
        label="Manifest"
        name="manifest"
        rows={18}
        value={text}
        problem={syntaxProblem(text)}
        onChange={onChange}
      />
      <OtherProblems problems={problems} />
    </>
  )
}

function OtherProblems({ problems }: { readonly problems: readonly FieldProblem[] }): JSX.Element | null {
  if (problems.length === 0) return null
  return (
    <ul class="problems">
      {problems.map(({ field, message }) => (
        <li key={`${field} ${message}`}>
          <code>{field}</code> {message}
        </li>
      ))}
    </ul>
  )
}

function syntaxProblem(text: string): string | undefined {
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
