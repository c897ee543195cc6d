import type { TypeMismatch } from '../../schema/decode/decode.ts'

/** A body that is not an object of its kind. The verb decides the response: 400, or 422 for a patch. */
export class DecodeError extends Error {
  /** Set if a value has the wrong type. */
  readonly mismatch: TypeMismatch | undefined

  constructor(message: string, mismatch?: TypeMismatch) {
    super(message)
    this.mismatch = mismatch
  }
}
