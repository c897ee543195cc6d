import type { PersistentVolumeClaim } from '@tenure/kube/kinds'
import type { ApplicationSpec } from '../../../api/index.ts'
import { childNames, labelsOf } from './identity.ts'

/** Storage that outlives the pods. */
export function volumeClaimFor(name: string, { persistence }: ApplicationSpec): PersistentVolumeClaim | undefined {
  if (!persistence) return undefined
  const { accessModes = ['ReadWriteOnce'], size, storageClassName } = persistence
  return {
    metadata: { name: childNames(name).data, labels: labelsOf(name) },
    spec: {
      accessModes,
      resources: { requests: { storage: String(size) } },
      ...(storageClassName !== undefined && { storageClassName }),
    },
  }
}
