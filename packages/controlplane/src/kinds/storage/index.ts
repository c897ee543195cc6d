import type { KindTable } from '../common/kind-table.ts'
import { CSI_DRIVERS } from './csi-driver.ts'
import { STORAGE_CLASSES } from './storage-class.ts'

/** Kinds of storage.k8s.io. */
export const STORAGE: KindTable = {
  ...STORAGE_CLASSES,
  ...CSI_DRIVERS,
  'volumeattachments.storage.k8s.io': { rules: { generation: false, returnsDeletedObject: true } },
  'csinodes.storage.k8s.io': { rules: { generation: false, returnsDeletedObject: true } },
  'csistoragecapacities.storage.k8s.io': { rules: { generation: false } },
  'volumeattributesclasses.storage.k8s.io': { rules: { returnsDeletedObject: true } },
}
