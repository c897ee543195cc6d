import { TenureError } from '@tenure/kube'
import type { JsonObject } from '@tenure/kube/model'
import type { PoolSizeSettings } from '../controllers/pool/size.ts'
import type { PoolTemplate } from '../template/types.ts'

/** Where the template of a pool comes from. */
export interface PoolTemplateSource {
  /** The present version. Throws a ClaimTemplateError if it cannot be used. */
  current(): PoolTemplate
  onChange(listener: () => void): () => void
  /** The ConfigMap with the values, which owns the claims; undefined for values from a file. */
  readonly owner: { readonly name: string; readonly uid: string } | undefined
  /** Checks the values of a claim: the problem, or undefined if there is none. */
  checkValues(values: JsonObject): string | undefined
}

/** A pool of claims from one template. */
export interface Pool extends PoolSizeSettings {
  readonly name: string
  readonly source: PoolTemplateSource
  /** Milliseconds. */
  readonly defaultTtl: number
  /** Milliseconds; at least `defaultTtl`. */
  readonly maxTtl: number
}

export type Pools = ReadonlyMap<string, Pool>

/** Why the template of a pool cannot be used; undefined if it can. */
export function templateFailure({ source }: Pool): string | undefined {
  try {
    source.current()
    return undefined
  } catch (error) {
    if (error instanceof TenureError) return error.message
    throw error
  }
}
