/** The first document of a YAML text as a tree. What its scalars mean and whether keys repeat is not decided here. */
import { COLLECTION_STYLE, EVENT_ID, getScalarValue, parseEvents, SCALAR_STYLE, YAMLException } from 'js-yaml'
import type { DocumentEvent, Event, MappingEvent, ScalarEvent, SequenceEvent } from 'js-yaml'
import { DEEPEST } from '../../registry/json-text.ts'

interface Placed {
  /** Where it begins in the text, with its anchor and tag; -1 for a scalar that is not written. */
  readonly start: number
}

export interface YamlScalar extends Placed {
  readonly kind: 'scalar'
  readonly text: string
  /** In full, as in `tag:yaml.org,2002:int`; empty without one. */
  readonly tag: string
  readonly isPlain: boolean
  readonly end: number
}

export interface YamlSequence extends Placed {
  readonly kind: 'sequence'
  readonly items: readonly YamlNode[]
}

export interface YamlMapping extends Placed {
  readonly kind: 'mapping'
  readonly isFlow: boolean
  readonly entries: readonly (readonly [key: YamlNode, value: YamlNode])[]
}

export interface YamlAlias extends Placed {
  readonly kind: 'alias'
  readonly name: string
  readonly target: YamlNode
  readonly end: number
}

export type YamlNode = YamlScalar | YamlSequence | YamlMapping | YamlAlias

export const STANDARD_TAG = 'tag:yaml.org,2002:'

/** Undefined if there is nothing but comments. Throws an Error that says what can not be read. */
export function readDocument(text: string): YamlNode | undefined {
  if (CONTROL.test(text)) throw new Error('yaml: control characters are not allowed')
  const source = firstDocument(text)
  try {
    return new Builder(source, parseEvents(source, { maxDepth: DEEPEST })).document()
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    const line = error.mark ? `line ${error.mark.line + 1}: ` : ''
    throw new Error(`yaml: ${line}${error.reason}`, { cause: error })
  }
}

const CONTROL = /[^\t\n\r -~\u0085\u00A0-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u
const MARKER = /(?<=^|[\r\n])(?:---|\.\.\.)(?=[ \t\r\n]|$)/g
const ONLY_COMMENTS = /^\uFEFF?(?:(?:[ \t]*(?:#[^\r\n]*)?|%[^\r\n]*)(?:\r\n?|\n))*$/

/** The real server reads one document, and does not look whether what follows it is YAML. */
function firstDocument(text: string): string {
  let hasBegun = false
  for (const { 0: marker, index } of text.matchAll(MARKER)) {
    if (hasBegun || marker !== '---' || !ONLY_COMMENTS.test(text.slice(0, index))) return text.slice(0, index)
    hasBegun = true
  }
  return text
}

class Builder {
  readonly #source: string
  readonly #events: readonly Event[]
  readonly #anchors = new Map<string, YamlNode>()
  readonly #handles = new Map([['!!', STANDARD_TAG]])
  #next = 0

  constructor(source: string, events: readonly Event[]) {
    this.#source = source
    this.#events = events
  }

  document(): YamlNode | undefined {
    const event = this.#events[this.#next++]
    if (event?.type !== EVENT_ID.DOCUMENT) return undefined
    this.#declare(event)
    return this.#node()
  }

  #declare({ directives }: DocumentEvent): void {
    for (const directive of directives) {
      if (directive.kind === 'tag') this.#handles.set(directive.handle, directive.prefix)
    }
  }

  #node(): YamlNode {
    const event = this.#events[this.#next++]
    switch (event?.type) {
      case EVENT_ID.SCALAR:
        return this.#anchored(event, this.#scalar(event))
      case EVENT_ID.SEQUENCE: {
        const items: YamlNode[] = []
        // Named before it is filled: what is in it may refer to it, which is found when it is read.
        const node = this.#anchored(event, { kind: 'sequence', start: startOf(event, event.start), items })
        while (!this.#ends()) items.push(this.#node())
        return node
      }
      case EVENT_ID.MAPPING: {
        const entries: (readonly [YamlNode, YamlNode])[] = []
        const isFlow = event.style === COLLECTION_STYLE.FLOW
        const node = this.#anchored(event, { kind: 'mapping', start: startOf(event, event.start), isFlow, entries })
        while (!this.#ends()) entries.push([this.#node(), this.#node()])
        return node
      }
      case EVENT_ID.ALIAS: {
        const name = this.#source.slice(event.anchorStart, event.anchorEnd)
        const target = this.#anchors.get(name)
        if (!target) throw new Error(`yaml: unknown anchor '${name}' referenced`)
        return { kind: 'alias', start: event.anchorStart, end: event.anchorEnd, name, target }
      }
      default:
        throw new Error('yaml: did not find expected node content')
    }
  }

  #ends(): boolean {
    if (this.#events[this.#next]?.type !== EVENT_ID.POP) return false
    this.#next++
    return true
  }

  #scalar(event: ScalarEvent): YamlScalar {
    const isPlain = event.style === SCALAR_STYLE.PLAIN
    const isBlock = event.style === SCALAR_STYLE.LITERAL_BLOCK || event.style === SCALAR_STYLE.FOLDED_BLOCK
    return {
      kind: 'scalar',
      text: getScalarValue(this.#source, event),
      tag: this.#tag(event),
      isPlain,
      // A block's text begins below the sign that begins the block.
      start: startOf(event, isBlock ? event.valueStart - 1 : event.valueStart),
      end: isPlain || isBlock ? event.valueEnd : event.valueEnd + 1,
    }
  }

  #tag({ tagStart, tagEnd }: ScalarEvent): string {
    if (tagStart < 0) return ''
    const written = this.#source.slice(tagStart, tagEnd)
    if (written.startsWith('!<')) return written.slice(2, -1)
    const handle = /^!\w*!/.exec(written)?.[0] ?? '!'
    const prefix = this.#handles.get(handle)
    return prefix === undefined || written === '!' ? written : prefix + written.slice(handle.length)
  }

  #anchored<Node extends YamlNode>({ anchorStart, anchorEnd }: ScalarEvent | SequenceEvent | MappingEvent, node: Node) {
    if (anchorStart >= 0) this.#anchors.set(this.#source.slice(anchorStart, anchorEnd), node)
    return node
  }
}

function startOf({ anchorStart, tagStart }: ScalarEvent | SequenceEvent | MappingEvent, own: number): number {
  const written = [own, anchorStart, tagStart].filter((at) => at >= 0)
  return written.length === 0 ? -1 : Math.min(...written)
}
