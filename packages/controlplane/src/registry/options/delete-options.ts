import { resolveBuiltIn } from '../../schema/openapi/builtin.ts'
import { decodeBuiltIn } from '../../schema/decode/decode.ts'
import { DecodeError } from '../decode/decode-error.ts'
import type { RequestOptions } from '../request.ts'

const DELETE_OPTIONS = 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions'

/** What a request says of a delete. */
export type DeleteOptions = Pick<
  RequestOptions,
  'gracePeriodSeconds' | 'orphanDependents' | 'propagationPolicy' | 'dryRun' | 'preconditions'
>

/**
 * Options of a delete that came as an object, read as strictly as the real server does: a precondition or a dry run that
 * is overlooked because it has the wrong type deletes what its sender wanted to keep. Throws a DecodeError.
 */
export function readDeleteOptions(value: Readonly<Record<string, unknown>>): DeleteOptions {
  const { object, error } = decodeBuiltIn(resolveBuiltIn(DELETE_OPTIONS), resolveBuiltIn, value)
  if (error !== undefined) throw new DecodeError(error)
  const { gracePeriodSeconds, orphanDependents, propagationPolicy, dryRun, preconditions } = object as DeleteOptions
  return {
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    ...(orphanDependents !== undefined && { orphanDependents }),
    ...(propagationPolicy !== undefined && { propagationPolicy }),
    ...(dryRun !== undefined && { dryRun }),
    ...(preconditions !== undefined && { preconditions }),
  }
}

/** A delete's options from its body, which stand for all that its query says of the delete. */
export function withDeleteOptions(query: RequestOptions, sent: DeleteOptions): RequestOptions {
  const { gracePeriodSeconds: _, orphanDependents: __, propagationPolicy: ___, dryRun: ____, ...rest } = query
  return { ...rest, ...sent }
}
