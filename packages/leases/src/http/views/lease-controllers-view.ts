import type { View } from '@tenure/http'
import type { OperatorContext } from '@tenure/runtime'
import { z } from 'zod'
import { LEASE_CONTROLLER_GROUP, LeaseController, type LeaseControllerMode } from '../../api/lease-controller.ts'
import { leaseControllerRow } from './lease-controller-row.ts'

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
      for (const object of informer.cache.list()) yield leaseControllerRow(object, defaultMode)
    },
    row(id) {
      const object = informer.cache.get({ name: id })
      return object && leaseControllerRow(object, defaultMode)
    },
    subscribe: (listener) => informer.subscribe(({ object }) => listener(object.metadata.name), { replay: false }),
  }
}
