import type { FieldError } from './types.ts'

/** Beyond these limits, field errors of one object are not listed. */
const MAX_ERRORS = 1000
const MAX_CHARACTERS = 1024 * 1024

/** Collects field errors up to a limit: the errors of an object of a few megabytes can fill the memory. */
export class BoundedErrors {
  readonly #list: FieldError[] = []
  #characters = 0

  get list(): readonly FieldError[] {
    return this.#list
  }

  /** True if further errors are not listed. The first one always is. */
  get isFull(): boolean {
    return this.#list.length >= MAX_ERRORS || this.#characters >= MAX_CHARACTERS
  }

  add(error: FieldError): void {
    if (this.isFull) return
    this.#list.push(error)
    this.#characters += error.field.length + error.message.length
  }

  addAll(errors: Iterable<FieldError>): void {
    for (const error of errors) {
      if (this.isFull) return
      this.add(error)
    }
  }
}
