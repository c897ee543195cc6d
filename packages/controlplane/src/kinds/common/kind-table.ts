import type { Json } from '../../model/json.ts'
import type { Conversion, ScalePaths } from '../../registry/types.ts'
import type { KindRules } from './strategy.ts'

/** Cells of a kind's table row, for the columns that the real server has. `age` is how long ago a time was. */
export type ColumnValues = (object: Json, age: (time: unknown) => string, now: number) => readonly unknown[]

/** What is special about one resource. */
export interface KindEntry {
  readonly rules?: KindRules
  /** Default: its name and how old it is, or when it was created. */
  readonly columns?: ColumnValues
  readonly scale?: ScalePaths
  readonly conversion?: Conversion
  /** Said with every answer, of a kind that is no longer to be used. */
  readonly deprecation?: string
  /** Where objects are stored, if not under `plural.group`. */
  readonly bucket?: string
}

/** `plural.group`, or `plural.group/version` where versions differ. The core group is `plural`. */
export type KindTable = Readonly<Record<string, KindEntry>>
