import type { Table, Values } from '@tenure/runtime'
import { defaultLeaseSettings } from '../../api/types.ts'
import { familiesTable, leaseFamilies } from '../../config.ts'
import type { LeaseControllersOptions } from './operator.ts'

/** Rows of an operator's configuration: how LeaseControllers are run. */
export const leaseControllersTable = {
  ...familiesTable,
  leaseControllerMode: {
    type: 'string',
    choices: ['dedicated', 'shared'],
    environment: 'LEASE_CONTROLLER_MODE',
    meaning:
      'How a LeaseController without a mode is run: a Deployment of its own, or inside the operator. Default: dedicated if an image is set.',
  },
  leaseControllerImage: {
    type: 'string',
    environment: 'LEASE_CONTROLLER_IMAGE',
    meaning: 'The image of dedicated lease controllers. Default: none, the operator keeps all leases itself.',
  },
  leaseControllerNamespace: {
    type: 'string',
    environment: 'LEASE_CONTROLLER_NAMESPACE',
    meaning: "Where dedicated lease controllers run. Default: the operator's own namespace.",
  },
} as const satisfies Table

export function leaseControllersOptions(
  values: Values<typeof leaseControllersTable>,
): Pick<LeaseControllersOptions, 'dedicated' | 'defaultMode' | 'settings'> {
  const { leaseControllerMode: mode, leaseControllerImage: image, leaseControllerNamespace: namespace } = values
  return {
    settings: { ...defaultLeaseSettings, families: leaseFamilies(values) },
    ...(mode !== undefined && { defaultMode: mode }),
    ...(image !== undefined && { dedicated: { image, namespace } }),
  }
}
