import { forbidden, type StatusError } from '../errors.ts'
import type { AdmissionAttributes } from './request.ts'

/** The refusal by one of the server's own plugins. What has no name yet is called by what its name will begin with. */
export function refused(
  { definition, name, object }: Pick<AdmissionAttributes, 'definition' | 'name' | 'object'>,
  why: string,
): StatusError {
  const { metadata } = object ?? {}
  return forbidden(definition, name || metadata?.name || metadata?.generateName || 'Unknown', why)
}
