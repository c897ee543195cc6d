/** Strings longer than this are seldom the same twice. */
const LONGEST = 64
const MOST = 2048

/**
 * Gives equal strings as one string. Every object that is parsed brings its own copy of its namespace and label values,
 * and a cache holds thousands of them. Bounded: it begins anew when full.
 */
export class Interner {
  readonly #strings = new Map<string, string>()

  intern(text: string): string {
    if (text.length > LONGEST) return text
    const known = this.#strings.get(text)
    if (known !== undefined) return known
    if (this.#strings.size >= MOST) this.#strings.clear()
    this.#strings.set(text, text)
    return text
  }
}
