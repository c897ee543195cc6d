import { goQuote } from '../../schema/go-text.ts'
import { isObject } from '../../schema/json.ts'
import { badRequest, StatusError } from '../../errors.ts'

/** A webhook that could not be asked, or that gave no answer that makes sense: its failurePolicy decides what follows. */
export class CallFailure extends Error {
  constructor(webhook: string, why: string) {
    super(`failed calling webhook ${goQuote(webhook)}: ${why}`)
  }
}

export const internalError = (why: string): StatusError =>
  new StatusError(500, 'InternalError', `Internal error occurred: ${why}`, { causes: [{ message: why }] })

export const dryRunUnsupported = (webhook: string): StatusError =>
  badRequest(`admission webhook ${goQuote(webhook)} does not support dry run`)

const LOWEST_REFUSAL = 400

/** The refusal of a webhook, with the code, reason and details that it gave. */
export function denial(webhook: string, status: unknown): StatusError {
  const given = isObject(status) ? status : {}
  const code = typeof given['code'] === 'number' ? given['code'] : 0
  const reason = textOf(given['reason'])
  const deniedBy = `admission webhook ${goQuote(webhook)} denied the request`
  const why = textOf(given['message']) || reason
  return new StatusError(
    code < LOWEST_REFUSAL ? LOWEST_REFUSAL : code,
    reason,
    why ? `${deniedBy}: ${why}` : `${deniedBy} without explanation`,
    isObject(given['details']) ? given['details'] : undefined,
  )
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
