/** Templates that see each other, and their compiled forms. */
import { FUNCTIONS } from '../functions/all.ts'
import { isEmptyTree } from '../parse/nodes.ts'
import { parseTrees } from '../parse/parser.ts'
import type { TemplateTree } from '../parse/parser.ts'
import { compileTree } from './compiler.ts'
import type { CompiledTemplate, TemplateSet } from './state.ts'

/** Helm gives this name to its root template and to the text of `tpl`. */
export const ROOT_NAME = 'gotpl'

/** A parsed template whose closures are made on first use. */
interface Definition {
  readonly tree: TemplateTree
  compiled: CompiledTemplate | undefined
}

type Definitions = ReadonlyMap<string, Definition>

/** Texts of `tpl`, which templates render again and again; the oldest first. */
const parsed = new Map<string, Definitions>()
const MAX_CACHED_TEXTS = 100
const MAX_CACHED_LENGTH = 100_000

export class Templates implements TemplateSet {
  readonly #definitions: Map<string, Definition>

  private constructor(definitions: Map<string, Definition>) {
    this.#definitions = definitions
  }

  /** Parses a text under a name. Throws a TemplateError. */
  static parse(name: string, text: string): Templates {
    return new Templates(new Map(define(name, text)))
  }

  find(name: string): CompiledTemplate | undefined {
    const definition = this.#definitions.get(name)
    return definition && compiled(definition)
  }

  extend(text: string): { readonly set: TemplateSet; readonly main: CompiledTemplate | undefined } {
    const added = cached(text)
    const main = added.get(ROOT_NAME)
    const definitions = new Map(this.#definitions)
    for (const [name, definition] of added) {
      // An empty definition does not replace another one.
      if (!definitions.has(name) || !isEmptyTree(definition.tree.root)) definitions.set(name, definition)
    }
    return { set: new Templates(definitions), main: main && compiled(main) }
  }
}

function compiled(definition: Definition): CompiledTemplate {
  return (definition.compiled ??= compileTree(definition.tree, FUNCTIONS))
}

function define(name: string, text: string): Definitions {
  const trees = parseTrees(name, text, (word) => FUNCTIONS.has(word))
  return new Map([...trees].map(([key, tree]) => [key, { tree, compiled: undefined }]))
}

function cached(text: string): Definitions {
  const known = parsed.get(text)
  if (known) return known
  const definitions = define(ROOT_NAME, text)
  if (text.length <= MAX_CACHED_LENGTH) {
    if (parsed.size >= MAX_CACHED_TEXTS) parsed.delete(parsed.keys().next().value ?? '')
    parsed.set(text, definitions)
  }
  return definitions
}
