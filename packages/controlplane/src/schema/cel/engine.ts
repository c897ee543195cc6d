import type { Environment } from '@marcbachmann/cel-js'

import { charge, chargeSize } from './cost.ts'
import { contains, isEqual } from './library/objects.ts'
import * as strings from './library/strings.ts'

/**
 * The only module that knows the engine's syntax tree. After type-checking it adds costs to the nodes, replaces equality and
 * string functions by those of Kubernetes, and finds references.
 */

/** The used part of the engine's nodes, most of which its own types omit. */
export interface Tree {
  readonly op: string
  args: unknown
  readonly pos?: number
  readonly start?: number
  readonly checkedType?: { readonly name: string }
  readonly meta: {
    readonly alternate?: Tree
    readonly macro?: Readonly<Record<string, unknown>>
  }
  handle?: (...args: unknown[]) => unknown
  evaluate: (evaluator: unknown, tree: Tree, context: unknown) => unknown
}

export interface Program {
  readonly usesOldSelf: boolean
  run(context: Readonly<Record<string, unknown>>): unknown
}

/** An error in an expression, with its position. */
export class CelSyntaxError extends Error {
  /** Zero-based. */
  readonly position: number

  constructor(message: string, position: number) {
    super(message)
    this.position = position
  }
}

type Fields = ReadonlyMap<string, ReadonlyMap<string, string>>

/** Parses and type-checks an expression. Throws the engine's error or a CelSyntaxError. */
export function compileExpression(
  environment: Environment,
  expression: string,
  returns: 'bool' | 'string',
  fields: Fields,
): Program {
  const parsed = environment.parse(expression)
  const checked = parsed.check()
  if (!checked.valid) throw checked.error ?? new Error('invalid expression')
  if (checked.type !== returns) {
    throw new CelSyntaxError(
      returns === 'bool' ? 'cel expression must evaluate to a bool' : 'messageExpression must evaluate to a string',
      -1,
    )
  }
  const instrument = new Instrument(fields)
  instrument.visit(parsed.ast as unknown as Tree)
  return { usesOldSelf: instrument.usesOldSelf, run: (context) => parsed(context) }
}

/** Methods whose behaviour or cost differs from the engine's. */
const METHODS: ReadonlyMap<string, (...args: never[]) => unknown> = new Map<string, (...args: never[]) => unknown>([
  ['matches', strings.matches],
  ['substring', strings.substring],
  ['lowerAscii', strings.lowerAscii],
  ['upperAscii', strings.upperAscii],
  ['trim', strings.trim],
  ['split', strings.split],
  ['join', strings.join],
])

class Instrument {
  usesOldSelf = false
  readonly #fields: Fields
  readonly #mixed = new Set<Tree>()
  #nodes = 0

  constructor(fields: Fields) {
    this.#fields = fields
  }

  visit(tree: Tree): void {
    this.#nodes += 1
    const { alternate, macro } = tree.meta
    if (alternate) this.visit(alternate)
    else if (macro) this.#macro(macro)
    else this.#plain(tree)
  }

  #plain(tree: Tree): void {
    if (tree.op === 'id' && tree.args === 'oldSelf') this.usesOldSelf = true
    if (tree.op === 'comprehension') {
      this.#comprehension(tree)
      return
    }
    if (tree.op === 'rcall' && (tree.args as readonly [string])[0] === 'format') {
      for (const argument of childrenOf((tree.args as readonly unknown[])[2])) this.#mixed.add(argument)
    }
    for (const child of childrenOf(tree.args)) this.visit(child)
    this.#price(tree)
  }

  #price(tree: Tree): void {
    const handle = tree.handle
    switch (tree.op) {
      case '==':
        tree.handle = (a, b) => isEqual(a, b)
        return
      case '!=':
        tree.handle = (a, b) => !isEqual(a, b)
        return
      case 'in':
        tree.handle = (value, collection) => contains(collection, value)
        return
      case '+':
        tree.handle = (a, b, ...rest) => {
          chargeSize(sizeOf(a) + sizeOf(b))
          return handle?.(a, b, ...rest)
        }
        return
      case '&&':
        logical(tree, false)
        return
      case '||':
        logical(tree, true)
        return
      case 'list':
        this.#checkList(tree)
        return
      case 'call':
        this.#checkPattern(tree)
        return
      case 'rcall':
        this.#checkPattern(tree)
        this.#method(tree)
        return
      default:
    }
  }

  #method(tree: Tree): void {
    const [name] = tree.args as readonly [string]
    const { handle } = tree
    const own = METHODS.get(name)
    tree.handle = (args, ...rest) => {
      const values = args as readonly unknown[]
      chargeSize(sizeOf(values[0]))
      const isText = typeof values[0] === 'string'
      if (isText && (name === 'indexOf' || name === 'lastIndexOf')) {
        const search = name === 'indexOf' ? strings.indexOf : strings.lastIndexOf
        return search(...(values as [string, string, bigint?]))
      }
      if (own && (isText || name === 'join')) return own(...(values as never[]))
      return handle?.(args, ...rest)
    }
  }

  /** Validates that a list has one element type, except for arguments of `format`. */
  #checkList(tree: Tree): void {
    if (this.#mixed.has(tree)) return
    const items = childrenOf(tree.args)
    const first = items[0]?.checkedType?.name
    for (const item of items) {
      const name = item.checkedType?.name
      if (name === first || name === undefined || first === undefined || /dyn|<T>|<K, V>/.test(name + first)) continue
      throw new CelSyntaxError(`expected type '${first}' but found '${name}'`, item.start ?? 0)
    }
  }

  /** Compiles literal patterns, so that an invalid one is a compile error. */
  #checkPattern(tree: Tree): void {
    const [name, ...rest] = tree.args as readonly [string, ...unknown[]]
    if (name !== 'matches' && name !== 'find' && name !== 'findAll') return
    const patterns = childrenOf(rest.at(-1)).filter(({ op, args }) => op === 'value' && typeof args === 'string')
    const pattern = name === 'matches' ? patterns.at(-1) : patterns[0]
    if (!pattern) return
    try {
      strings.checkPattern(pattern.args as string)
    } catch {
      throw new CelSyntaxError(`invalid ${name} argument`, pattern.start ?? pattern.pos ?? 0)
    }
  }

  /** Each iteration is charged for its step. */
  #comprehension(tree: Tree): void {
    const { iterable, init, step } = tree.args as { readonly iterable: Tree; readonly init: Tree; readonly step: Tree }
    this.visit(iterable)
    this.visit(init)
    const before = this.#nodes
    this.visit(step)
    const cost = this.#nodes - before
    wrapEvaluation(step, (evaluate, evaluator, context) => {
      charge(cost)
      return evaluate(evaluator, step, context)
    })
  }

  #macro(macro: Readonly<Record<string, unknown>>): void {
    const has = macro['macroHasProps']
    if (Array.isArray(has)) {
      this.#has(has as readonly Tree[])
      return
    }
    // `ast` is the macro's own node.
    for (const [name, child] of Object.entries(macro)) if (name !== 'ast' && isTree(child)) this.visit(child)
  }

  /** Validates the field of `has`, which the engine does not check. */
  #has(nodes: readonly Tree[]): void {
    const root = nodes.at(-1)
    if (!root) return
    this.visit(root)
    let type = root.checkedType?.name
    for (const node of nodes.slice(0, -1).toReversed()) {
      const fields = type === undefined ? undefined : this.#fields.get(type)
      if (!fields) return
      const [, name] = node.args as readonly [Tree, string]
      type = fields.get(name)
      if (type === undefined) throw new CelSyntaxError(`undefined field '${name}'`, (node.pos ?? 0) - 1)
    }
  }
}

type Evaluate = Tree['evaluate']

/** A node replaces its `evaluate` on first use, so the property is intercepted. */
function wrapEvaluation(
  tree: Tree,
  wrapper: (evaluate: Evaluate, evaluator: unknown, context: unknown) => unknown,
): void {
  let inner = tree.evaluate
  const evaluate: Evaluate = (evaluator, node, context) => inner.call(tree, evaluator, node, context)
  const wrapped: Evaluate = (evaluator, _, context) => wrapper(evaluate, evaluator, context)
  Object.defineProperty(tree, 'evaluate', {
    get: () => wrapped,
    set: (next: Evaluate) => {
      inner = next === wrapped ? inner : next
    },
  })
}

/** Evaluates both sides: a deciding side wins over an error, and the first of two errors is thrown. */
function logical(tree: Tree, decides: boolean): void {
  const [left, right] = tree.args as readonly [Tree, Tree]
  const attempt = (side: Tree, evaluator: unknown, context: unknown): unknown => {
    try {
      return side.evaluate(evaluator, side, context)
    } catch (error) {
      return error
    }
  }
  wrapEvaluation(tree, (_, evaluator, context) => {
    const first = attempt(left, evaluator, context)
    if (first === decides) return decides
    const second = attempt(right, evaluator, context)
    if (second === decides) return decides
    if (typeof first !== 'boolean') throw asError(first)
    if (typeof second !== 'boolean') throw asError(second)
    return !decides
  })
}

function asError(value: unknown): Error {
  return value instanceof Error ? value : new Error('no such overload')
}

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && 'op' in value && 'meta' in value
}

function childrenOf(args: unknown): Tree[] {
  if (isTree(args)) return [args]
  return Array.isArray(args) ? args.flatMap(childrenOf) : []
}

function sizeOf(value: unknown): number {
  if (typeof value === 'string' || Array.isArray(value)) return value.length
  return value instanceof Map ? value.size : 0
}
