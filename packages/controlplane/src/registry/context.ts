import type { Clock, Random } from '@tenure/kube'
import type { FieldManagement } from '../apply/types.ts'
import type { Patches } from '../patch/types.ts'
import type { ProcessResource } from '../schema/validation/process.ts'
import type { Storage } from '../storage/types.ts'
import type { Admission } from './request.ts'
import type { ResourceCatalog } from './types.ts'

/** The dependencies of the verbs. */
export interface RegistryContext {
  readonly storage: Storage
  readonly catalog: ResourceCatalog
  readonly process: ProcessResource
  readonly patches: Patches
  readonly fields: FieldManagement
  /** Default: every write is admitted unchanged. */
  readonly admission?: Admission | undefined
  readonly clock: Clock
  readonly random: Random
}
