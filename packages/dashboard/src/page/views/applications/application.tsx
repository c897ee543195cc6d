import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { messageOf } from '../../data/api.ts'
import type { RowOf } from '../../data/rows.ts'
import { type ApplicationManifest, scaled } from '../../logic/application-manifest.ts'
import { formatRoute } from '../../logic/route.ts'
import { AccessButton } from '../../parts/access.tsx'
import { Badge, Progress } from '../../parts/badge.tsx'
import { DeleteDialog } from '../../parts/dialog.tsx'
import { Facts } from '../../parts/panel.tsx'
import { ScaleDialog } from '../../parts/scale-dialog.tsx'
import { useServices, useTable } from '../../parts/services.ts'
import { StateCard, tableProblem } from '../../parts/states.tsx'
import { Ago } from '../../parts/time.tsx'
import { ViewHead } from '../../parts/view-head.tsx'
import { applicationAccess, applicationPath } from './application-access.ts'
import { ApplicationEditor } from './application-editor.tsx'
import { ObjectParts } from '../object-parts.tsx'

interface ApplicationViewProps {
  readonly namespace: string
  readonly name: string
}

type OpenDialog = 'scale' | 'delete' | { readonly edit: ApplicationManifest } | undefined

/** One Application: its state, its actions and everything it owns. */
export function ApplicationView({ namespace, name }: ApplicationViewProps): JSX.Element {
  const { api, navigation, notices } = useServices()
  const table = useTable('applications')
  const [dialog, setDialog] = useState<OpenDialog>()
  const row = table.get(`${namespace}/${name}`)
  const path = applicationPath(namespace, name)
  const close = (): void => setDialog(undefined)

  const edit = async (): Promise<void> => {
    try {
      setDialog({ edit: await api.json<ApplicationManifest>(path) })
    } catch (error) {
      notices.show('failed', messageOf(error))
    }
  }

  const update = applicationAccess('update', namespace)
  const actions = row && (
    <>
      <AccessButton check={update} onClick={() => setDialog('scale')}>
        Scale
      </AccessButton>
      <AccessButton check={update} onClick={() => void edit()}>
        Edit
      </AccessButton>
      <AccessButton check={applicationAccess('delete', namespace)} class="danger" onClick={() => setDialog('delete')}>
        Delete
      </AccessButton>
    </>
  )
  return (
    <>
      <ViewHead
        title={name}
        crumbs={[
          ['Applications', formatRoute(['applications'])],
          [namespace, formatRoute(['applications'], { ns: namespace })],
        ]}
        actions={actions}
      />
      {row ? (
        <>
          <ApplicationFacts row={row} />
          <ObjectParts
            target={{ apiVersion: 'cloudnative.elide.dev/v1', kind: 'Application', namespace, name }}
            // A change of the object is told by its row.
            version={`${row.resourceVersion} ${row.readyReplicas}`}
            conditions={row.conditions}
          />
        </>
      ) : (
        (tableProblem(table.state, 'applications') ?? (
          <StateCard title="There is no such application">
            It was deleted, or it never existed. <a href={formatRoute(['applications'])}>All applications</a>
          </StateCard>
        ))
      )}
      {dialog === 'scale' && row && (
        <ScaleDialog
          name={name}
          replicas={row.replicas}
          onScale={async (text) => {
            const manifest = await api.json<ApplicationManifest>(path)
            await api.json(path, { method: 'PUT', body: scaled(manifest, text) })
          }}
          onClose={close}
        />
      )}
      {dialog === 'delete' && (
        <DeleteDialog
          what="application"
          name={name}
          onClose={close}
          onDelete={async () => {
            await api.json(path, { method: 'DELETE' })
            notices.show('done', `Deleting ${name}.`)
            navigation.go(formatRoute(['applications']))
          }}
        >
          <p>
            This deletes the application with everything it owns: its pods, Service, configuration, Ingress and volume.
          </p>
        </DeleteDialog>
      )}
      {typeof dialog === 'object' && <ApplicationEditor manifest={dialog.edit} onClose={close} />}
    </>
  )
}

function ApplicationFacts({ row }: { readonly row: RowOf<'applications'> }): JSX.Element {
  const { phase, message, image, strategy, replicas, readyReplicas, updatedReplicas, createdAt } = row
  return (
    <div class="card">
      <Facts
        facts={[
          ['Phase', <Badge key="phase" text={phase} />],
          [
            'Ready',
            <Progress
              key="ready"
              value={readyReplicas}
              of={replicas}
              label={`${readyReplicas} of ${replicas} replicas are ready`}
            />,
          ],
          [
            'Rollout',
            <Progress
              key="rollout"
              value={updatedReplicas}
              of={replicas}
              label={`${updatedReplicas} of ${replicas} replicas run the present revision`}
            />,
          ],
          ['Image', <code key="image">{image}</code>],
          ['Strategy', strategy],
          ['Created', <Ago key="created" at={createdAt} />],
          ['Message', message],
        ]}
      />
    </div>
  )
}
