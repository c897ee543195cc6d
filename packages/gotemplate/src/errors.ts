/**
 * - `parse`: the template is malformed.
 * - `execution`: the template failed on these values.
 * - `limit`: rendering needs more than the limits allow.
 * - `values`: the values are not readable.
 */
export type TemplateErrorCode = 'parse' | 'execution' | 'limit' | 'values'

/** A template that cannot be rendered. The message is Go's or Helm's where they have one. */
export class TemplateError extends Error {
  readonly code: TemplateErrorCode

  constructor(code: TemplateErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'TemplateError'
    this.code = code
  }
}
