import type { JsonObject } from '@tenure/kube/model'

import type { Conversion, ScalePaths } from '../../registry/types.ts'
import type { KindRules } from './strategy.ts'

/** Returns the values of the columns that kube-apiserver prints. `age` formats the time since a timestamp. */
export type ColumnValues = (object: JsonObject, age: (time: unknown) => string, now: number) => readonly unknown[]

/** The behaviour that is specific to one resource. */
export interface KindEntry {
  readonly rules?: KindRules
  /** Default: name and creation time. */
  readonly columns?: ColumnValues
  readonly scale?: ScalePaths
  readonly conversion?: Conversion
  /** The warning that every response for a deprecated kind carries. */
  readonly deprecation?: string
  /** The storage bucket. Default: `plural.group`. */
  readonly bucket?: string
}

/** By `plural.group`, or `plural.group/version` where versions differ; `plural` in the core group. */
export type KindTable = Readonly<Record<string, KindEntry>>
