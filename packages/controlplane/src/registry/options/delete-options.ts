import { resolveBuiltIn } from '../../schema/openapi/builtin.ts'
import { decodeBuiltIn } from '../../schema/decode/decode.ts'
import { DecodeError } from '../decode/decode-error.ts'
import type { RequestOptions } from '../request.ts'

const DELETE_OPTIONS = 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions'

/** The options of a delete. */
export type DeleteRequestOptions = Pick<
  RequestOptions,
  'gracePeriodSeconds' | 'orphanDependents' | 'propagationPolicy' | 'dryRun' | 'preconditions'
>

/**
 * Reads delete options from an object as strictly as kube-apiserver: ignoring a precondition or a dry run of the wrong
 * type would delete an object that the client wanted to keep. Throws a DecodeError.
 */
export function readDeleteOptions(value: Readonly<Record<string, unknown>>): DeleteRequestOptions {
  const { object, error } = decodeBuiltIn(resolveBuiltIn(DELETE_OPTIONS), resolveBuiltIn, value)
  if (error !== undefined) throw new DecodeError(error)
  const { gracePeriodSeconds, orphanDependents, propagationPolicy, dryRun, preconditions } =
    object as DeleteRequestOptions
  return {
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    ...(orphanDependents !== undefined && { orphanDependents }),
    ...(propagationPolicy !== undefined && { propagationPolicy }),
    ...(dryRun !== undefined && { dryRun }),
    ...(preconditions !== undefined && { preconditions }),
  }
}

/** Delete options from the body, which replace those of the query. */
export function withDeleteOptions(query: RequestOptions, sent: DeleteRequestOptions): RequestOptions {
  const { gracePeriodSeconds: _, orphanDependents: __, propagationPolicy: ___, dryRun: ____, ...rest } = query
  return { ...rest, ...sent }
}
