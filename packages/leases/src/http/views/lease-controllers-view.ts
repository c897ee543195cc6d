import type { View } from '@tenure/http'
import type { Stored } from '@tenure/kube'
import { getCondition, type OperatorContext } from '@tenure/runtime'
import { z } from 'zod'
import { LEASE_CONTROLLER_GROUP, LeaseController, type LeaseControllerMode } from '../../api/lease-controller.ts'
import { parseTime } from '../../api/time.ts'
import { targetOf } from '../../controllers/lease-controller/target.ts'

const schema = z.object({
  id: z.string(),
  name: z.string(),
  /** As discovery resolved it; before that, as the spec names it. */
  targetKind: z.string(),
  targetGroup: z.string(),
  targetVersion: z.string(),
  mode: z.string(),
  ready: z.boolean(),
  reason: z.string(),
  message: z.string(),
  /** Leases with a date. */
  objects: z.int().optional(),
  createdAt: z.int(),
})

export type LeaseControllerRow = z.output<typeof schema>

const resource = { group: LEASE_CONTROLLER_GROUP, resource: LeaseController.plural }

/** All LeaseControllers and their state. */
export function leaseControllersView(
  { informers }: Pick<OperatorContext, 'informers'>,
  defaultMode: LeaseControllerMode,
): View<LeaseControllerRow> {
  const informer = informers.informer(LeaseController)
  return {
    name: 'lease-controllers',
    title: 'Lease controllers',
    schema,
    resourceOf: () => resource,
    *rows() {
      for (const object of informer.cache.list()) yield rowOf(object, defaultMode)
    },
    row(id) {
      const object = informer.cache.get({ name: id })
      return object && rowOf(object, defaultMode)
    },
    subscribe: (listener) => informer.subscribe(({ object }) => listener(object.metadata.name), { replay: false }),
  }
}

function rowOf(
  { metadata, spec, status = {} }: Stored<LeaseController>,
  defaultMode: LeaseControllerMode,
): LeaseControllerRow {
  const { activeLeases, conditions, mode = spec.mode ?? defaultMode, resource: resolved } = status
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
