import type { EngineName } from '../engines/engine.ts'
import type { EngineSettings } from '../engines/settings.ts'

/** Keys of `resources.config` that the operator reads. */
export const CONFIG_KEYS = [
  'replicas',
  'image',
  'version',
  'storage_size',
  'storage_class',
  'cpu_request',
  'cpu_limit',
  'memory_request',
  'memory_limit',
  'settings',
  'allow_major_upgrade',
  'migrate',
  'delete_data',
] as const
export type ConfigKey = (typeof CONFIG_KEYS)[number]

export interface ComputeAmounts {
  readonly cpu?: string
  readonly memory: string
}

/** The desired state of one database, with defaults. */
export interface DatabaseConfig {
  readonly engine: EngineName
  /** A key of the engine's table, or a release series that the table covers. */
  readonly major: string
  readonly image: string
  readonly replicas: number
  readonly storageSize: string
  /** Undefined: the cluster's default class. */
  readonly storageClass: string | undefined
  readonly requests: ComputeAmounts & { readonly cpu: string }
  readonly limits: ComputeAmounts
  readonly settings: EngineSettings
  readonly allowMajorUpgrade: boolean
  readonly migrate: boolean
  readonly deleteData: boolean
  /** Keys that the row names; the others have their defaults. */
  readonly given: ReadonlySet<ConfigKey>
}

export const DEFAULT_STORAGE_SIZE = '1Gi'
export const DEFAULT_CPU_REQUEST = '100m'
export const DEFAULT_MEMORY_REQUEST = '256Mi'
/** A StatefulSet with more pods than this is a mistake of the row. */
export const MAX_REPLICAS = 100
