/** Maximum length of an interned string: longer ones are rarely equal. */
const MAX_LENGTH = 64
const MAX_STRINGS = 2048

/**
 * Returns one string for equal strings. Every parsed object has its own copy of its namespace and label values, and a
 * cache holds thousands of them. The table is cleared when it is full.
 */
export class Interner {
  readonly #strings = new Map<string, string>()

  intern(text: string): string {
    if (text.length > MAX_LENGTH) return text
    const known = this.#strings.get(text)
    if (known !== undefined) return known
    if (this.#strings.size >= MAX_STRINGS) this.#strings.clear()
    this.#strings.set(text, text)
    return text
  }
}
