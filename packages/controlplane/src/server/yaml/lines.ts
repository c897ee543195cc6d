/** Where in a text something is, in lines as people count them. */
import type { YamlMapping, YamlNode } from './document.ts'

export class Lines {
  readonly #text: string
  #starts: readonly number[] | undefined

  constructor(text: string) {
    this.#text = text
  }

  /** The line on which the value of this key begins, as the real server sees it. */
  ofValue(mapping: YamlMapping, key: YamlNode, value: YamlNode): number {
    return this.#lineAt(value.start >= 0 ? value.start : this.#absent(mapping, key))
  }

  /** A value that is not there is where its colon is, or, without one or in braces, where what follows begins. */
  #absent({ isFlow }: YamlMapping, key: YamlNode): number {
    const end = 'end' in key && key.end >= 0 ? key.end : Math.max(key.start, 0)
    const next = this.#afterSpace(end)
    return isFlow && this.#text[next] === ':' ? this.#afterSpace(next + 1) : next
  }

  #afterSpace(from: number): number {
    const space = /(?:\s|(?<=\s)#[^\r\n]*)*/y
    space.lastIndex = from
    space.test(this.#text)
    return Math.min(space.lastIndex, this.#text.length)
  }

  #lineAt(at: number): number {
    this.#starts ??= [0, ...[...this.#text.matchAll(/\r\n?|\n/g)].map(({ 0: end, index }) => index + end.length)]
    let [low, high] = [0, this.#starts.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#starts[middle] ?? 0) <= at) low = middle + 1
      else high = middle
    }
    return low
  }
}
