import type { KubeObject } from '../model/object.ts'

const BEGIN = ',"managedFields":['
/** Ends the metadata in place of what was cut, and marks the item. Who reads a list sets the kind of its items anyway. */
const MARK = '},"kind":0'

/**
 * Parses items without the managedFields that nobody wants: often a quarter of the text, to be dropped next. Only of
 * lists that are written as Go servers write those of their own kinds: items begin with their metadata, which ends with
 * the managedFields, and do not name their kind. What is parsed first shows whether they are.
 *
 * What is cut begins at `,"managedFields":[`, which its quotes keep from being part of a string, and ends with the next
 * `]`, if that is the last of its object. Was it within a string, then all strings that follow are inside out, up to
 * another mark, which does not fit in there, or up to the end: that is no JSON. Nor is it if another array ended there,
 * because one bracket is left over. And if it was not the item's own metadata, then the mark is not behind that.
 * Whenever it was not right, the text is parsed as it is.
 */
export class ManagedFieldsCutter {
  /** As it stands in an entry. */
  readonly #wanted: readonly string[]
  #state: 'looking' | 'cutting' | 'off'

  /** `managedFieldsOf` are those whose entries are wanted: objects that have such keep all of theirs. */
  constructor(managedFieldsOf: readonly string[]) {
    this.#wanted = managedFieldsOf.map((manager) => `"manager":"${manager}"`)
    this.#state = managedFieldsOf.every(isWrittenAsItIs) ? 'looking' : 'off'
  }

  /** The items in the text of an array. Undefined if it is not JSON. */
  parse(text: string): readonly KubeObject[] | undefined {
    const cut = this.#state === 'cutting' ? this.#parseCut(text) : undefined
    if (cut) return cut
    const items = parseJson(text) as readonly KubeObject[] | undefined
    if (items) this.#state = this.#state === 'looking' && items.every(isWrittenInGo) ? 'cutting' : 'off'
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

/** Undefined if it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Whether all marks are in items, each behind the metadata. */
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

function isWrittenInGo(item: KubeObject): boolean {
  return Object.keys(item)[0] === 'metadata' && item.kind === undefined
}

/** In a name of other characters, JSON may write some in more than one way. */
function isWrittenAsItIs(manager: string): boolean {
  return /^[\w ./:@-]+$/.test(manager)
}
