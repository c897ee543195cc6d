import { forbidden, type StatusError } from '../errors.ts'
import type { AdmissionAttributes } from './request.ts'

/** The error of a built-in admission plugin. An object without a name is called by its generateName. */
export function admissionDenied(
  { definition, name, object }: Pick<AdmissionAttributes, 'definition' | 'name' | 'object'>,
  why: string,
): StatusError {
  const { metadata } = object ?? {}
  return forbidden(definition, name || metadata?.name || metadata?.generateName || 'Unknown', why)
}
