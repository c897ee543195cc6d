import type { KubeObject } from '../model/object.ts'

const BEGIN = ',"managedFields":['
/** Ends the metadata after a cut and marks the item. The list decoder overwrites the kind of items. */
const MARK = '},"kind":0'

/**
 * Parses items without managedFields entries that no caller needs: often a quarter of the text. It applies only to lists
 * as Go servers write them for built-in kinds: an item starts with its metadata, which ends with the managedFields, and
 * has no kind. The first parse shows whether a list has that format.
 *
 * A cut starts at `,"managedFields":[`, whose quotes cannot occur inside a string, and ends at the next `]` that is
 * followed by the end of its object. A wrong cut is always detected. If the `]` was inside a string, all later strings are
 * inverted up to the next mark or the end, which is not valid JSON. If another array ended there, one bracket remains. If
 * the cut was not in the metadata of an item, the mark is not directly after the metadata. After a wrong cut the text is
 * parsed without cuts.
 */
export class ManagedFieldsCutter {
  /** The text of a needed manager in an entry. */
  readonly #wanted: readonly string[]
  #state: 'looking' | 'cutting' | 'off'

  /** `managedFieldsOf` are the managers whose entries are needed: objects with such entries keep all of theirs. */
  constructor(managedFieldsOf: readonly string[]) {
    this.#wanted = managedFieldsOf.map((manager) => `"manager":"${manager}"`)
    this.#state = managedFieldsOf.every(isNeverEscaped) ? 'looking' : 'off'
  }

  /** The items of a JSON array. Undefined if the text is not JSON. */
  parse(text: string): readonly KubeObject[] | undefined {
    const cut = this.#state === 'cutting' ? this.#parseCut(text) : undefined
    if (cut) return cut
    const items = parseJson(text) as readonly KubeObject[] | undefined
    if (items) this.#state = this.#state === 'looking' && items.every(hasGoFormat) ? 'cutting' : 'off'
    return items
  }

  #parseCut(text: string): readonly KubeObject[] | undefined {
    let cut = ''
    let marks = 0
    let from = 0
    for (let begin = text.indexOf(BEGIN); begin >= 0; begin = text.indexOf(BEGIN, from)) {
      const end = text.indexOf(']', begin + BEGIN.length) + 1
      if (end === 0) break
      if (text[end] === '}' && !this.#isWanted(text, begin, end)) {
        cut += text.slice(from, begin) + MARK
        from = end + 1
        marks++
      } else {
        cut += text.slice(from, end)
        from = end
      }
    }
    const items = parseJson(cut + text.slice(from)) as readonly KubeObject[] | undefined
    return items && areMarked(items, marks) ? items : undefined
  }

  #isWanted(text: string, begin: number, end: number): boolean {
    if (this.#wanted.length === 0) return false
    const entries = text.slice(begin, end)
    return this.#wanted.some((wanted) => entries.includes(wanted))
  }
}

/** Undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Whether all marks are in items, each directly after the metadata. */
function areMarked(items: readonly KubeObject[], marks: number): boolean {
  let left = marks
  for (const item of items) {
    const kind: unknown = item.kind
    if (kind !== 0) continue
    let before = ''
    for (const key in item) {
      if (key === 'kind') break
      before += key
    }
    if (before !== 'metadata') return false
    left--
  }
  return left === 0
}

function hasGoFormat(item: KubeObject): boolean {
  return Object.keys(item)[0] === 'metadata' && item.kind === undefined
}

/** JSON can escape other characters in more than one way. */
function isNeverEscaped(manager: string): boolean {
  return /^[\w ./:@-]+$/.test(manager)
}
