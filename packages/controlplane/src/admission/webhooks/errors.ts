import { isJsonObject } from '@tenure/kube/model'
import { goQuote } from '../../schema/go-text.ts'
import { badRequest, StatusError } from '../../errors.ts'

/** A webhook call without a valid response. The webhook's failurePolicy decides what follows. */
export class CallFailure extends Error {
  constructor(webhook: string, why: string) {
    super(`failed calling webhook ${goQuote(webhook)}: ${why}`)
  }
}

export const internalError = (why: string): StatusError =>
  new StatusError(500, 'InternalError', `Internal error occurred: ${why}`, { causes: [{ message: why }] })

export const dryRunUnsupported = (webhook: string): StatusError =>
  badRequest(`admission webhook ${goQuote(webhook)} does not support dry run`)

const MIN_ERROR_CODE = 400

/** The denial of a webhook with its code, reason and details. */
export function denial(webhook: string, status: unknown): StatusError {
  const given = isJsonObject(status) ? status : {}
  const code = typeof given['code'] === 'number' ? given['code'] : 0
  const reason = textOf(given['reason'])
  const deniedBy = `admission webhook ${goQuote(webhook)} denied the request`
  const why = textOf(given['message']) || reason
  return new StatusError(
    code < MIN_ERROR_CODE ? MIN_ERROR_CODE : code,
    reason,
    why ? `${deniedBy}: ${why}` : `${deniedBy} without explanation`,
    isJsonObject(given['details']) ? given['details'] : undefined,
  )
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
