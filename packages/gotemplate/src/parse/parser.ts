/** Parses a template into trees, one for each defined template. */
import { TemplateError } from '../errors.ts'
import { quote } from '../format/quote.ts'
import { Lexer, shownToken } from './lexer.ts'
import type { LexedToken, TokenType } from './lexer.ts'
import { isEmptyTree, shownNode } from './nodes.ts'
import type {
  BranchNode,
  CommandNode,
  JumpNode,
  ListNode,
  OperandNode,
  PipeNode,
  SourceText,
  TreeNode,
  VariableNode,
} from './nodes.ts'
import { parseNumber } from './numbers.ts'
import { unquote } from './unquote.ts'

/** A template that `define` or a file defines. */
export interface TemplateTree {
  readonly name: string
  readonly root: ListNode
}

/** The deepest nesting of parentheses and blocks; Go allows 10,000 parentheses. */
const MAX_DEPTH = 500

interface EndNode {
  readonly type: 'end' | 'else'
  readonly at: number
}

const isEnd = (node: TreeNode | EndNode): node is EndNode => node.type === 'end' || node.type === 'else'

/** Parses the text of the template `name`; `isFunction` says which functions exist. Throws a TemplateError. */
export function parseTrees(
  name: string,
  text: string,
  isFunction: (name: string) => boolean,
): ReadonlyMap<string, TemplateTree> {
  const parser = new Parser({ name, text }, isFunction)
  parser.parse(name)
  return parser.trees
}

class Parser {
  readonly trees = new Map<string, TemplateTree>()
  readonly #source: SourceText
  readonly #lexer: Lexer
  readonly #isFunction: (name: string) => boolean
  readonly #tokens: LexedToken[] = []
  #peeked = 0
  #variables: string[] = ['$']
  #rangeDepth = 0
  #depth = 0
  #actionLine = 0

  constructor(source: SourceText, isFunction: (name: string) => boolean) {
    this.#source = source
    this.#lexer = new Lexer(source.text)
    this.#isFunction = isFunction
  }

  parse(name: string): void {
    const nodes: TreeNode[] = []
    const root: ListNode = { type: 'list', nodes, source: this.#source, at: this.#peek().at }
    while (this.#peek().type !== 'eof') {
      if (this.#peek().type === 'left delimiter') {
        const delimiter = this.#next()
        if (this.#nextNonSpace().type === 'define') {
          this.#definition()
          continue
        }
        this.#backup2(delimiter)
      }
      const node = this.#textOrAction()
      if (isEnd(node)) throw this.#error(`unexpected {{${node.type}}}`)
      nodes.push(node)
    }
    this.#add(name, root)
  }

  #next(): LexedToken {
    if (this.#peeked > 0) this.#peeked--
    else this.#tokens[0] = this.#lexer.next()
    return this.#token(this.#peeked)
  }

  #token(index: number): LexedToken {
    const token = this.#tokens[index]
    if (!token) throw new RangeError('the token was not read')
    return token
  }

  #backup(): void {
    this.#peeked++
  }

  #backup2(token: LexedToken): void {
    this.#tokens[1] = token
    this.#peeked = 2
  }

  #backup3(first: LexedToken, second: LexedToken): void {
    this.#tokens[1] = second
    this.#tokens[2] = first
    this.#peeked = 3
  }

  #peek(): LexedToken {
    if (this.#peeked > 0) return this.#token(this.#peeked - 1)
    this.#peeked = 1
    return (this.#tokens[0] = this.#lexer.next())
  }

  #nextNonSpace(): LexedToken {
    for (;;) {
      const token = this.#next()
      if (token.type !== 'space') return token
    }
  }

  #peekNonSpace(): LexedToken {
    const token = this.#nextNonSpace()
    this.#backup()
    return token
  }

  #error(problem: string): TemplateError {
    return new TemplateError('parse', `template: ${this.#source.name}:${this.#token(0).line}: ${problem}`)
  }

  #unexpected(token: LexedToken, context: string): TemplateError {
    if (token.type !== 'error') return this.#error(`unexpected ${shownToken(token)} in ${context}`)
    let extra = ''
    if (this.#actionLine !== 0 && this.#actionLine !== token.line) {
      const start = token.value.endsWith(' action') ? '' : ' in action'
      extra = `${start} started at ${this.#source.name}:${this.#actionLine}`
    }
    return this.#error(token.value + extra)
  }

  #expect(types: readonly TokenType[], context: string): LexedToken {
    const token = this.#nextNonSpace()
    if (!types.includes(token.type)) throw this.#unexpected(token, context)
    return token
  }

  #add(name: string, root: ListNode): void {
    const old = this.trees.get(name)
    if (!old || isEmptyTree(old.root)) this.trees.set(name, { name, root })
    else if (!isEmptyTree(root)) throw this.#error(`template: multiple definition of template ${quote(name)}`)
  }

  /** A template of its own: its variables and loops are not those of the text around it. */
  #separately<T>(read: () => T): T {
    const [variables, rangeDepth] = [this.#variables, this.#rangeDepth]
    this.#variables = ['$']
    this.#rangeDepth = 0
    const result = read()
    this.#variables = variables
    this.#rangeDepth = rangeDepth
    return result
  }

  #definition(): void {
    const context = 'define clause'
    const name = this.#unquoted(this.#expect(['string', 'raw string'], context))
    this.#expect(['right delimiter'], context)
    const { list, end } = this.#separately(() => this.#itemList())
    if (end.type !== 'end') throw this.#error(`unexpected {{${end.type}}} in ${context}`)
    this.#add(name, list)
  }

  #unquoted({ value }: LexedToken): string {
    const text = unquote(value)
    if (text === undefined) throw this.#error('invalid syntax')
    return text
  }

  #itemList(): { readonly list: ListNode; readonly end: EndNode } {
    const nodes: TreeNode[] = []
    const list: ListNode = { type: 'list', nodes, source: this.#source, at: this.#peekNonSpace().at }
    if (++this.#depth > MAX_DEPTH) throw this.#error('max nesting depth exceeded')
    while (this.#peekNonSpace().type !== 'eof') {
      const node = this.#textOrAction()
      if (isEnd(node)) {
        this.#depth--
        return { list, end: node }
      }
      nodes.push(node)
    }
    throw this.#error('unexpected EOF')
  }

  #textOrAction(): TreeNode | EndNode {
    const token = this.#nextNonSpace()
    if (token.type === 'text') return { type: 'text', text: token.value, source: this.#source, at: token.at }
    if (token.type !== 'left delimiter') throw this.#unexpected(token, 'input')
    this.#actionLine = token.line
    const node = this.#action()
    this.#actionLine = 0
    return node
  }

  #action(): TreeNode | EndNode {
    const token = this.#nextNonSpace()
    switch (token.type) {
      case 'block':
        return this.#block()
      case 'break':
      case 'continue':
        return this.#jump(token.type, token.at)
      case 'else':
        return this.#elseControl()
      case 'end':
        return { type: 'end', at: this.#expect(['right delimiter'], 'end').at }
      case 'if':
      case 'range':
      case 'with':
        return this.#control(token.type)
      case 'template':
        return this.#templateControl()
      default:
    }
    this.#backup()
    const { at } = this.#peek()
    return { type: 'action', pipe: this.#pipeline('command', 'right delimiter'), source: this.#source, at }
  }

  #jump(type: 'break' | 'continue', at: number): JumpNode {
    const token = this.#nextNonSpace()
    if (token.type !== 'right delimiter') throw this.#unexpected(token, `{{${type}}}`)
    if (this.#rangeDepth === 0) throw this.#error(`{{${type}}} outside {{range}}`)
    return { type, source: this.#source, at }
  }

  #elseControl(): EndNode {
    const next = this.#peekNonSpace()
    if (next.type === 'if' || next.type === 'with') return { type: 'else', at: next.at }
    return { type: 'else', at: this.#expect(['right delimiter'], 'else').at }
  }

  #control(type: 'if' | 'range' | 'with'): BranchNode {
    const visible = this.#variables.length
    const pipe = this.#pipeline(type, 'right delimiter')
    if (type === 'range') this.#rangeDepth++
    const { list, end } = this.#itemList()
    if (type === 'range') this.#rangeDepth--
    let elseList: ListNode | undefined
    if (end.type === 'else') {
      if (type !== 'range' && this.#peek().type === type) {
        this.#next()
        if (++this.#depth > MAX_DEPTH) throw this.#error('max nesting depth exceeded')
        elseList = { type: 'list', nodes: [this.#control(type)], source: this.#source, at: end.at }
        this.#depth--
      } else {
        const otherwise = this.#itemList()
        if (otherwise.end.type !== 'end') throw this.#error(`expected end; found {{${otherwise.end.type}}}`)
        elseList = otherwise.list
      }
    }
    this.#variables.length = visible
    return { type, pipe, list, elseList, source: this.#source, at: pipe.at }
  }

  #block(): TreeNode {
    const context = 'block clause'
    const token = this.#nextNonSpace()
    const name = this.#templateName(token, context)
    const pipe = this.#pipeline(context, 'right delimiter')
    const { list, end } = this.#separately(() => this.#itemList())
    if (end.type !== 'end') throw this.#error(`unexpected {{${end.type}}} in ${context}`)
    this.#add(name, list)
    return { type: 'template', name, pipe, source: this.#source, at: token.at }
  }

  #templateControl(): TreeNode {
    const context = 'template clause'
    const token = this.#nextNonSpace()
    const name = this.#templateName(token, context)
    let pipe: PipeNode | undefined
    if (this.#nextNonSpace().type !== 'right delimiter') {
      this.#backup()
      pipe = this.#pipeline(context, 'right delimiter')
    }
    return { type: 'template', name, pipe, source: this.#source, at: token.at }
  }

  #templateName(token: LexedToken, context: string): string {
    if (token.type !== 'string' && token.type !== 'raw string') throw this.#unexpected(token, context)
    return this.#unquoted(token)
  }

  #pipeline(context: string, end: 'right delimiter' | ')'): PipeNode {
    const { at } = this.#peekNonSpace()
    const variables: VariableNode[] = []
    const isAssign = this.#declarations(variables, context)
    const commands: CommandNode[] = []
    for (;;) {
      const token = this.#nextNonSpace()
      if (token.type === end) break
      switch (token.type) {
        case 'bool':
        case 'character':
        case 'complex':
        case 'dot':
        case 'field':
        case 'identifier':
        case 'number':
        case 'nil':
        case 'raw string':
        case 'string':
        case 'variable':
        case '(':
          this.#backup()
          commands.push(this.#command())
          break
        default:
          throw this.#unexpected(token, context)
      }
    }
    if (commands.length === 0) throw this.#error(`missing value for ${context}`)
    for (const [index, { args }] of commands.entries()) {
      const first = args[0]?.type ?? 'nil'
      if (index > 0 && ['bool', 'dot', 'nil', 'number', 'string'].includes(first)) {
        throw this.#error(`non executable command in pipeline stage ${index + 1}`)
      }
    }
    return { type: 'pipe', isAssign, variables, commands, source: this.#source, at }
  }

  /** Reads the variables before `:=` or `=`; returns whether the pipeline assigns. */
  #declarations(variables: VariableNode[], context: string): boolean {
    for (;;) {
      const variable = this.#peekNonSpace()
      if (variable.type !== 'variable') return false
      this.#next()
      // The token after the variable may be a space, which is needed if the variable is an operand.
      const after = this.#peek()
      const next = this.#peekNonSpace()
      if (next.type === 'assign' || next.type === 'declare') {
        this.#nextNonSpace()
        this.#declare(variables, variable)
        return next.type === 'assign'
      }
      if (next.type !== 'char' || next.value !== ',') {
        if (after.type === 'space') this.#backup3(variable, after)
        else this.#backup2(variable)
        return false
      }
      this.#nextNonSpace()
      this.#declare(variables, variable)
      if (context !== 'range' || variables.length >= 2) throw this.#error(`too many declarations in ${context}`)
      if (!['variable', 'right delimiter', ')'].includes(this.#peekNonSpace().type)) {
        throw this.#error('range can only initialize variables')
      }
    }
  }

  #declare(variables: VariableNode[], { at, value }: LexedToken): void {
    variables.push({ type: 'variable', path: value.split('.'), source: this.#source, at })
    this.#variables.push(value)
  }

  #command(): CommandNode {
    const { at } = this.#peekNonSpace()
    const args: OperandNode[] = []
    for (;;) {
      this.#peekNonSpace()
      const operand = this.#operand()
      if (operand) args.push(operand)
      const token = this.#next()
      if (token.type === 'space') continue
      if (token.type === 'right delimiter' || token.type === ')') this.#backup()
      else if (token.type !== 'pipe') throw this.#unexpected(token, 'operand')
      break
    }
    if (args.length === 0) throw this.#error('empty command')
    return { type: 'command', args, source: this.#source, at }
  }

  #operand(): OperandNode | undefined {
    const node = this.#term()
    if (!node || this.#peek().type !== 'field') return node
    const { at } = this.#peek()
    const path: string[] = []
    while (this.#peek().type === 'field') path.push(this.#next().value.slice(1))
    switch (node.type) {
      case 'field':
      case 'variable':
        return { ...node, path: [...node.path, ...path], at }
      case 'bool':
      case 'string':
      case 'number':
      case 'nil':
      case 'dot':
        throw this.#error(`unexpected . after term ${quote(shownNode(node))}`)
      default:
        return { type: 'chain', node, path, source: this.#source, at }
    }
  }

  #term(): OperandNode | undefined {
    const token = this.#nextNonSpace()
    const place = { source: this.#source, at: token.at }
    switch (token.type) {
      case 'identifier':
        if (!this.#isFunction(token.value)) throw this.#error(`function ${quote(token.value)} not defined`)
        return { type: 'identifier', name: token.value, ...place }
      case 'dot':
      case 'nil':
        return { type: token.type, ...place }
      case 'variable':
        if (!this.#variables.includes(token.value)) throw this.#error(`undefined variable ${quote(token.value)}`)
        return { type: 'variable', path: [token.value], ...place }
      case 'field':
        return { type: 'field', path: [token.value.slice(1)], ...place }
      case 'bool':
        return { type: 'bool', value: token.value === 'true', ...place }
      case 'character':
      case 'complex':
      case 'number':
        return { type: 'number', value: this.#number(token.value, token.type), ...place }
      case '(': {
        if (++this.#depth > MAX_DEPTH) throw this.#error('max expression depth exceeded')
        const pipe = this.#pipeline('parenthesized pipeline', ')')
        this.#depth--
        return pipe
      }
      case 'string':
      case 'raw string':
        return { type: 'string', literal: token.value, value: this.#unquoted(token), ...place }
      default:
    }
    this.#backup()
    return undefined
  }

  #number(text: string, type: 'character' | 'complex' | 'number'): ReturnType<typeof parseNumber> {
    try {
      return parseNumber(text, type)
    } catch (error) {
      throw this.#error((error as Error).message)
    }
  }
}
