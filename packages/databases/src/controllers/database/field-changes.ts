import type { ConfigMap, StatefulSet } from '@tenure/kube/kinds'
import { isDeepEqual } from '@tenure/kube/model'
import type { FieldChange } from '../../api/rows.ts'
import type { DatabaseConfig } from '../../config/database-config.ts'
import { serverContainer } from '../../objects/adoption.ts'
import { dataTemplate } from '../../objects/storage-plan.ts'

export interface FieldChangesInput {
  readonly config: Pick<DatabaseConfig, 'engine'>
  readonly live: StatefulSet | undefined
  readonly desired: StatefulSet
  readonly liveConfigMap: ConfigMap | undefined
  /** Undefined for an adopted StatefulSet, which mounts no settings. */
  readonly configMap: ConfigMap | undefined
}

/** The changes of a database that its owner recognizes, from what to what: for the job and the audit trail. */
export function fieldChanges({
  config,
  configMap,
  desired,
  live,
  liveConfigMap,
}: FieldChangesInput): readonly FieldChange[] {
  const before = live && serverContainer(live, config)
  const after = serverContainer(desired, config)
  const changes: FieldChange[] = [
    { field: 'replicas', from: live?.spec?.replicas, to: desired.spec?.replicas },
    { field: 'image', from: before?.image, to: after?.image },
    ...(['requests', 'limits'] as const).flatMap((kind) =>
      ['cpu', 'memory'].map((amount) => ({
        field: `${amount}_${kind === 'requests' ? 'request' : 'limit'}`,
        from: before?.resources?.[kind]?.[amount],
        to: after?.resources?.[kind]?.[amount],
      })),
    ),
    ...(desired.spec?.volumeClaimTemplates ? [{ field: 'storage_size', from: sizeOf(live), to: sizeOf(desired) }] : []),
    ...(configMap ? [settingsChange(liveConfigMap, configMap)] : []),
  ]
  return changes.filter(({ from, to }) => to !== undefined && !isDeepEqual(from, to))
}

/** The changes of a job that a later change joins: each field from its first value to its last. */
export function mergedChanges(earlier: readonly FieldChange[], later: readonly FieldChange[]): readonly FieldChange[] {
  const merged = [...earlier]
  for (const change of later) {
    // Settings are lists of the lines that go and come, so they do not continue each other.
    const index = change.field === 'settings' ? -1 : merged.findIndex(({ field }) => field === change.field)
    const first = merged[index]
    if (first) merged[index] = { ...change, from: first.from }
    else merged.push(change)
  }
  return merged.filter(({ from, to }) => !isDeepEqual(from, to))
}

export function onlyReplicas(changes: readonly FieldChange[]): boolean {
  return changes.every(({ field }) => field === 'replicas')
}

function sizeOf(statefulSet: StatefulSet | undefined): unknown {
  return statefulSet && dataTemplate(statefulSet)?.spec?.resources?.requests?.['storage']
}

/** The lines of the settings file that go and that come; comments are no settings. */
function settingsChange(live: ConfigMap | undefined, desired: ConfigMap): FieldChange {
  const [before, after] = [linesOf(live), linesOf(desired)]
  return {
    field: 'settings',
    from: live && before.filter((line) => !after.includes(line)),
    to: after.filter((line) => !before.includes(line)),
  }
}

function linesOf(configMap: ConfigMap | undefined): readonly string[] {
  const text = Object.values(configMap?.data ?? {})[0] ?? ''
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
}
