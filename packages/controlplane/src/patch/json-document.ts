import { isJsonObject, ownValue, setOwnValue } from '@tenure/kube/model'
import { EditableList } from './editable-list.ts'
import { notApplicable } from './errors.ts'
import { isList } from './json.ts'

type OwnedObject = Record<string, unknown>

/**
 * A document that a JSON patch changes. Each container is copied at most once per patch, when it changes first; from then
 * on the document owns it and changes it in place. All containers around an owned one are owned.
 */
export class JsonDocument {
  #root: unknown
  readonly #owned = new WeakSet<object>()

  constructor(root: unknown) {
    this.#root = root
  }

  /** The value as plain JSON. It remains part of the document: the caller does not change or keep it. */
  get(tokens: readonly string[]): unknown {
    return this.#plain(this.#find(tokens))
  }

  /** A value that the caller may keep and insert again. */
  copy(tokens: readonly string[]): unknown {
    const value = this.#plain(this.#find(tokens))
    this.#disown(value)
    return value
  }

  /** The document as plain JSON. */
  get root(): unknown {
    return (this.#root = this.#plain(this.#root))
  }

  set root(value: unknown) {
    this.#root = value
  }

  add(tokens: readonly string[], value: unknown): void {
    const { container, token } = this.#change(tokens)
    if (!(container instanceof EditableList)) setOwnValue(container, token, value)
    else if (token === '-') container.insert(container.length, value)
    else container.insert(indexOf(token, container.length + 1, container.length), value)
  }

  replace(tokens: readonly string[], value: unknown): void {
    const { container, token } = this.#change(tokens)
    if (container instanceof EditableList) container.set(indexOf(token, container.length, container.length - 1), value)
    else setOwnValue(container, token, value)
  }

  /** Removes a value and returns it. */
  remove(tokens: readonly string[]): unknown {
    const { container, token } = this.#change(tokens)
    if (container instanceof EditableList) {
      const index = indexOf(token, container.length, container.length - 1)
      const value = container.get(index)
      container.remove(index)
      return value
    }
    if (!Object.hasOwn(container, token)) throw notApplicable()
    const value = container[token]
    delete container[token]
    return value
  }

  /** The value at the tokens; undefined if its container lacks it. */
  #find(tokens: readonly string[]): unknown {
    let current = this.#root
    for (const [depth, token] of tokens.entries()) {
      current = childOf(current, token)
      if (depth < tokens.length - 1 && (current === undefined || current === null)) throw notApplicable()
    }
    return current
  }

  /** The innermost container of the tokens, ready to be changed. */
  #change(tokens: readonly string[]): { readonly container: OwnedObject | EditableList; readonly token: string } {
    let container = this.#own(this.#root)
    this.#root = container
    for (const token of tokens.slice(0, -1)) {
      const child = this.#own(childOf(container, token))
      if (container instanceof EditableList) {
        container.set(indexOf(token, container.length, container.length - 1), child)
      } else setOwnValue(container, token, child)
      container = child
    }
    return { container, token: tokens.at(-1) ?? '' }
  }

  #own(value: unknown): OwnedObject | EditableList {
    if (value instanceof EditableList) return value
    if (isList(value)) return new EditableList(value)
    if (!isJsonObject(value)) throw notApplicable()
    if (this.#owned.has(value)) return value
    const copy: OwnedObject = { ...value }
    this.#owned.add(copy)
    return copy
  }

  /** Turns the owned parts of a value into plain JSON. The lists in it are no longer owned. */
  #plain(value: unknown): unknown {
    if (value instanceof EditableList) return value.items().map((item) => this.#plain(item))
    if (!isJsonObject(value) || !this.#owned.has(value)) return value
    const owned = value as OwnedObject
    for (const key of Object.keys(owned)) {
      const item = owned[key]
      const plain = this.#plain(item)
      if (plain !== item) setOwnValue(owned, key, plain)
    }
    return owned
  }

  /** Makes the next change copy these objects again, because they are now in two places. */
  #disown(value: unknown): void {
    if (isList(value)) value.forEach((item) => this.#disown(item))
    else if (isJsonObject(value) && this.#owned.delete(value)) {
      for (const key of Object.keys(value)) this.#disown(value[key])
    }
  }
}

function childOf(container: unknown, token: string): unknown {
  if (container instanceof EditableList) return container.get(indexOf(token, container.length, container.length - 1))
  if (isList(container)) return container[indexOf(token, container.length, container.length - 1)]
  if (isJsonObject(container)) return ownValue(container, token)
  throw notApplicable()
}

/** An index into a list of `length`, at most `last`. */
function indexOf(token: string, length: number, last: number): number {
  if (!/^[+-]?\d{1,15}$/.test(token)) throw notApplicable()
  const given = Number(token)
  const at = given < 0 ? given + length : given
  if (at < 0 || at > last) throw notApplicable()
  return at
}
