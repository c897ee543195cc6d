import { isDeepEqual, type JsonObject } from '@tenure/kube/model'
import type { ResourceRow } from '../api/rows.ts'
import { readDatabaseConfig } from '../config/read-config.ts'
import { dbArgumentError } from './argument-error.ts'
import type { DesiredChange } from './rows.ts'

export interface ConfigChange {
  /** Undefined: the row has this config already. */
  readonly change: DesiredChange | undefined
  readonly warnings: readonly string[]
}

/** A row with another config. Throws an argument error if the operator would refuse it. */
export function withConfig({ config: present, type }: ResourceRow, config: JsonObject): ConfigChange {
  if (isDeepEqual(config, present)) return { change: undefined, warnings: [] }
  return { change: { config }, warnings: checkedConfig(type, config) }
}

/** The warnings about a config. Throws an argument error if the operator would refuse it: here the reason comes before anything is written. */
export function checkedConfig(type: string, config: JsonObject): readonly string[] {
  const read = readDatabaseConfig({ type, config })
  if ('refused' in read) throw dbArgumentError(read.refused)
  return read.warnings
}

/** Stops the pods and keeps the volumes. Undefined: they are stopped. */
export function paused({ status }: ResourceRow): DesiredChange | undefined {
  return status === 'paused' ? undefined : { status: 'paused' }
}

/** Undefined: the row is not paused. */
export function resumed({ status }: ResourceRow): DesiredChange | undefined {
  return status === 'paused' ? { status: 'active' } : undefined
}

/** The volumes stay, unless the data is deleted too. */
export function deleted({ config }: ResourceRow, isDataDeleted: boolean): DesiredChange {
  return { isDeleted: true, ...(isDataDeleted && { config: { ...config, delete_data: true } }) }
}
