import type { Stored } from '@tenure/kube'
import { getCondition } from '@tenure/runtime'
import type { LeaseController, LeaseControllerMode } from '../../api/lease-controller.ts'
import { parseTime } from '../../api/time.ts'
import { targetOf } from '../../controllers/lease-controller/target.ts'
import type { LeaseControllerRow } from './lease-controllers-view.ts'

/** A LeaseController for readers. Without a default mode, one that was not resolved yet has the mode ''. */
export function leaseControllerRow(
  { metadata, spec, status = {} }: Stored<LeaseController>,
  defaultMode?: LeaseControllerMode,
): LeaseControllerRow {
  const { activeLeases, conditions, mode = spec.mode ?? defaultMode ?? '', resource: resolved } = status
  const target = targetOf(spec)
  const ready = getCondition(conditions, 'Ready')
  return {
    id: metadata.name,
    name: metadata.name,
    targetKind: resolved?.kind ?? (target.ok ? (target.wanted.names[0] ?? '') : ''),
    targetGroup: resolved?.group ?? spec.group ?? '',
    targetVersion: resolved?.version ?? spec.version ?? '',
    mode,
    ready: ready?.status === 'True',
    reason: ready?.reason ?? '',
    message: ready?.message ?? '',
    ...(activeLeases !== undefined && { objects: activeLeases }),
    createdAt: parseTime(metadata.creationTimestamp) ?? 0,
  }
}
