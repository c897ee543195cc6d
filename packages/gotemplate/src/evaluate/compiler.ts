/** Turns syntax trees into closures. */
import { printValue } from '../format/printer.ts'
import { shownNode } from '../parse/nodes.ts'
import type {
  ActionNode,
  AnyNode,
  BranchNode,
  ChainNode,
  CommandNode,
  FieldNode,
  IdentifierNode,
  ListNode,
  NumberNode,
  OperandNode,
  PipeNode,
  TemplateNode,
  TreeNode,
  VariableNode,
} from '../parse/nodes.ts'
import { quote } from '../format/quote.ts'
import type { TemplateTree } from '../parse/parser.ts'
import { CALLEE } from '../functions/builtins.ts'
import { FunctionError } from '../values/go-function.ts'
import type { GoFunction, ParameterType } from '../values/go-function.ts'
import { GoComplex, GoInt, GoStruct, goInt, itemsOf } from '../values/values.ts'
import type { GoValue } from '../values/values.ts'
import { elementType, isTrue, typeOf } from '../values/types.ts'
import { sortedKeys } from '../values/sorted-keys.ts'
import { readField, typeInside } from './fields.ts'
import { BREAK, CONTINUE, executeTemplate, ExecutionError, NEXT } from './state.ts'
import type { CompiledTemplate, Execute, Flow, State } from './state.ts'
import { canBeNil, validate } from './validate.ts'

type Evaluate = (state: State) => GoValue
/** Receives the result of the previous command of the pipeline. */
type EvaluateCommand = (state: State, final: GoValue) => GoValue
type Functions = ReadonlyMap<string, GoFunction>

export function compileTree(tree: TemplateTree, functions: Functions): CompiledTemplate {
  const compiler = new TreeCompiler(functions)
  const execute = compiler.list(tree.root)
  return { name: tree.name, execute, slots: compiler.slots }
}

class TreeCompiler {
  slots = 1
  readonly #functions: Functions
  /** The visible variables, innermost last. */
  readonly #scope: { readonly name: string; readonly slot: number }[] = [{ name: '$', slot: 0 }]

  constructor(functions: Functions) {
    this.#functions = functions
  }

  list({ nodes }: ListNode): Execute {
    const statements = nodes.map((node) => this.#statement(node))
    const [first, second] = statements
    if (first === undefined) return () => NEXT
    if (second === undefined) return first
    return (state) => {
      for (const statement of statements) {
        const flow = statement(state)
        if (flow !== NEXT) return flow
      }
      return NEXT
    }
  }

  #statement(node: TreeNode): Execute {
    switch (node.type) {
      case 'text': {
        const { text } = node
        return (state) => {
          state.out += text
          state.meter.checkOutput(state.out.length)
          return NEXT
        }
      }
      case 'action':
        return this.#action(node)
      case 'if':
      case 'with':
        return this.#conditional(node)
      case 'range':
        return this.#range(node)
      case 'template':
        return this.#template(node)
      case 'break':
        return () => BREAK
      default:
        return () => CONTINUE
    }
  }

  #action(node: ActionNode): Execute {
    const evaluate = this.#pipeline(node.pipe)
    if (node.pipe.variables.length > 0) {
      return (state) => {
        state.meter.step()
        state.node = node
        evaluate(state)
        return NEXT
      }
    }
    return (state) => {
      state.meter.step()
      state.node = node
      const value = evaluate(state)
      if (typeof value === 'string') state.out += value
      else {
        state.node = node
        state.out += printed(value)
      }
      state.meter.checkOutput(state.out.length)
      return NEXT
    }
  }

  #conditional(node: BranchNode): Execute {
    const visible = this.#scope.length
    const evaluate = this.#pipeline(node.pipe)
    const body = this.list(node.list)
    const otherwise = node.elseList ? this.list(node.elseList) : undefined
    this.#scope.length = visible
    if (node.type === 'if') {
      return (state) => {
        state.meter.step()
        state.node = node
        if (isTrue(evaluate(state))) return body(state)
        return otherwise ? otherwise(state) : NEXT
      }
    }
    return (state) => {
      state.meter.step()
      state.node = node
      const value = evaluate(state)
      if (!isTrue(value)) return otherwise ? otherwise(state) : NEXT
      const { dot, isDotElement } = state
      state.dot = value
      state.isDotElement = false
      const flow = body(state)
      state.dot = dot
      state.isDotElement = isDotElement
      return flow
    }
  }

  #range(node: BranchNode): Execute {
    const visible = this.#scope.length
    const evaluate = this.#pipeline(node.pipe)
    const slots = node.pipe.variables.map((variable) => this.#slotOf(variable.path[0] ?? '') ?? 0)
    const body = this.list(node.list)
    const otherwise = node.elseList ? this.list(node.elseList) : undefined
    this.#scope.length = visible
    // One variable is the element; of two, the first is the index or key.
    const [elementSlot, indexSlot] = slots.length > 1 ? [slots[1], slots[0]] : [slots[0], undefined]
    return (state) => {
      state.meter.step()
      state.node = node
      const value = evaluate(state)
      const loop = new Loop(state, body, elementSlot, indexSlot)
      const hasRun = loop.over(value, slots.length > 1)
      return hasRun || !otherwise ? NEXT : otherwise(state)
    }
  }

  #template(node: TemplateNode): Execute {
    const evaluate = node.pipe ? this.#pipeline(node.pipe) : undefined
    return (state) => {
      state.meter.step()
      state.node = node
      const template = state.set.find(node.name)
      if (!template) throw state.fail(`template ${quote(node.name)} not defined`)
      executeTemplate(state, template, evaluate?.(state))
      return NEXT
    }
  }

  #slotOf(name: string): number | undefined {
    return this.#scope.findLast((variable) => variable.name === name)?.slot
  }

  #pipeline(pipe: PipeNode): Evaluate {
    const commands = pipe.commands.map((command, index) => this.#command(command, index > 0))
    const evaluate = chained(pipe, commands)
    if (pipe.variables.length === 0) return evaluate
    const slots = pipe.variables.map(({ path: [name = ''] }) => {
      if (pipe.isAssign) return { name, slot: this.#slotOf(name) }
      const slot = this.slots++
      this.#scope.push({ name, slot })
      return { name, slot }
    })
    return (state) => {
      const value = evaluate(state)
      for (const { name, slot } of slots) {
        if (slot === undefined) throw state.fail(`undefined variable: ${name}`)
        state.variables[slot] = value
        state.elements?.delete(slot)
      }
      return value
    }
  }

  #command(command: CommandNode, hasFinal: boolean): EvaluateCommand {
    const [first, ...args] = command.args
    if (!first) throw new RangeError('a command without operands')
    switch (first.type) {
      case 'field':
      case 'variable':
      case 'chain':
        return this.#fields(first, args, hasFinal)
      case 'identifier':
        return this.#function(first, command, args, hasFinal)
      default:
    }
    if (args.length > 0 || hasFinal) {
      return (state) => {
        if (first.type !== 'pipe') state.node = first
        throw state.fail(`can't give argument to non-function ${shownNode(first)}`)
      }
    }
    if (first.type === 'pipe') return this.#pipeline(first)
    return constant(first)
  }

  /** A field chain, whose last field may be a method with arguments. */
  #fields(
    node: FieldNode | VariableNode | ChainNode,
    args: readonly OperandNode[],
    hasFinal: boolean,
  ): EvaluateCommand {
    const path = node.type === 'variable' ? node.path.slice(1) : node.path
    const start = this.#chainStart(node)
    if (path.length === 0) {
      if (args.length > 0 || hasFinal) {
        return (state) => {
          start(state)
          throw state.fail(`can't give argument to non-function ${shownNode(node)}`)
        }
      }
      return start
    }
    const slot = node.type === 'variable' ? this.#slotOf(node.path[0] ?? '') : undefined
    const isElement = (state: State): boolean =>
      node.type === 'field' ? state.isDotElement : slot !== undefined && state.elements?.has(slot) === true
    const methods = new Map<GoFunction['name'], EvaluateCommand>()
    const callMethod = (state: State, method: GoFunction, withArguments: boolean, final: GoValue): GoValue => {
      const key = `${method.name} ${method.parameters.join()} ${method.isVariadic} ${withArguments}`
      let call = methods.get(key)
      if (!call) {
        const signature = { ...method, call: () => null }
        call = this.#call(signature, node, withArguments ? args : [], withArguments && hasFinal)
        methods.set(key, call)
      }
      // The cached call has the signature only: each receiver has a function of its own.
      state.method = method
      return call(state, final)
    }
    const last = path.length - 1
    const hasArguments = args.length > 0 || hasFinal
    return (state, final) => {
      let receiver = start(state)
      let container: GoValue
      for (let index = 0; index <= last; index++) {
        const name = path[index] ?? ''
        const isLast = index === last
        if (receiver instanceof Map && receiver.constructor === Map && !(isLast && hasArguments)) {
          container = receiver
          const value: GoValue = receiver.get(name)
          receiver = value === undefined ? null : value
          continue
        }
        const [from, current] = [container, receiver]
        const type = (): string => {
          if (index === 0) return current === null || isElement(state) ? 'interface {}' : typeOf(current)
          return typeInside(from, current, path[index - 1] ?? '')
        }
        container = receiver
        receiver = readField(state, receiver, name, type, {
          method: (method) => callMethod(state, method, isLast, final),
          hasArguments: isLast && hasArguments,
        })
      }
      return receiver
    }
  }

  #chainStart(node: FieldNode | VariableNode | ChainNode): Evaluate {
    if (node.type === 'field') {
      return (state) => {
        state.node = node
        return state.dot
      }
    }
    if (node.type === 'variable') {
      const [name = ''] = node.path
      const slot = this.#slotOf(name)
      return (state) => {
        state.node = node
        if (slot === undefined) throw state.fail(`undefined variable: ${name}`)
        return state.variables[slot]
      }
    }
    if (node.node.type === 'nil') {
      return (state) => {
        state.node = node
        throw state.fail(`indirection through explicit nil in ${shownNode(node)}`)
      }
    }
    const inner = this.#operand(node.node)
    return (state) => {
      state.node = node
      return inner(state)
    }
  }

  /** An operand that is not a constant. */
  #operand(node: OperandNode): Evaluate {
    switch (node.type) {
      case 'field':
      case 'variable':
      case 'chain': {
        const evaluate = this.#fields(node, [], false)
        return (state) => {
          state.node = node
          return evaluate(state, undefined)
        }
      }
      case 'identifier': {
        const evaluate = this.#function(node, node, [], false)
        return (state) => {
          state.node = node
          return evaluate(state, undefined)
        }
      }
      case 'pipe': {
        const evaluate = this.#pipeline(node)
        return (state) => {
          state.node = node
          return evaluate(state)
        }
      }
      default:
        return constant(node)
    }
  }

  #function(node: IdentifierNode, command: AnyNode, args: readonly OperandNode[], hasFinal: boolean): EvaluateCommand {
    const found = this.#functions.get(node.name)
    if (!found) {
      return (state) => {
        state.node = node
        throw state.fail(`${quote(node.name)} is not a defined function`)
      }
    }
    if (node.name === 'and' || node.name === 'or') return this.#shortCircuit(node, args, hasFinal)
    const call = this.#call(found, command, args, hasFinal)
    return (state, final) => {
      state.node = node
      return call(state, final)
    }
  }

  #shortCircuit(node: IdentifierNode, args: readonly OperandNode[], hasFinal: boolean): EvaluateCommand {
    if (args.length === 0 && !hasFinal) {
      return (state) => {
        state.node = node
        throw state.fail(`wrong number of args for ${node.name}: want at least 1 got 0`)
      }
    }
    const operands = args.map((arg) => this.#argument(arg, 'reflect.Value'))
    const isDecided = node.name === 'or'
    return (state, final) => {
      state.node = node
      let value: GoValue
      for (const operand of operands) {
        value = operand(state)
        if (isTrue(value) === isDecided) return value
      }
      return hasFinal ? final : value
    }
  }

  /** A call with arguments of the right number and types. */
  #call(
    { name, parameters, isVariadic, call }: GoFunction,
    node: AnyNode,
    args: readonly OperandNode[],
    hasFinal: boolean,
  ): EvaluateCommand {
    const count = args.length + (hasFinal ? 1 : 0)
    const fixed = isVariadic ? parameters.length - 1 : parameters.length
    if (isVariadic ? count < fixed : count !== fixed) {
      const wanted = isVariadic ? `want at least ${fixed} got ${args.length}` : `want ${fixed} got ${count}`
      return (state) => {
        throw state.fail(`wrong number of args for ${name}: ${wanted}`)
      }
    }
    const typeAt = (index: number): ParameterType =>
      parameters[Math.min(index, parameters.length - 1)] ?? 'interface {}'
    const operands = args.map((arg, index) => this.#argument(arg, typeAt(index)))
    const finalType = typeAt(count - 1)
    const invoke = (state: State, values: readonly GoValue[]): GoValue => {
      state.meter.step()
      const outer = state.template
      try {
        const method = state.method
        state.method = undefined
        state.meter.checkArguments(values)
        const result = (method?.call ?? call)(values, state.context)
        state.meter.checkResult(result)
        return result
      } catch (error) {
        if (!(error instanceof FunctionError || error instanceof ExecutionError)) throw error
        state.template = outer
        state.node = node
        const message = name === 'call' ? error.message.replace(CALLEE, () => callee(args, values)) : error.message
        throw state.fail(`error calling ${name}: ${message}`)
      }
    }
    return (state, final) => {
      const { method } = state
      state.method = undefined
      const values: GoValue[] = []
      for (const operand of operands) values.push(operand(state))
      if (hasFinal) values.push(validate(state, final, finalType))
      state.method = method
      return invoke(state, values)
    }
  }

  #argument(node: OperandNode, type: ParameterType): Evaluate {
    switch (node.type) {
      case 'nil':
        if (canBeNil(type)) return placed(node, type === 'reflect.Value' ? undefined : null)
        return (state) => {
          state.node = node
          throw state.fail(`cannot assign nil to ${type}`)
        }
      case 'dot':
        return (state) => {
          state.node = node
          return validate(state, state.dot, type)
        }
      case 'field':
      case 'variable':
      case 'chain':
      case 'identifier':
      case 'pipe': {
        const evaluate = this.#operand(node)
        if (type === 'reflect.Value') return evaluate
        if (type === 'interface {}') {
          return (state) => {
            const value = evaluate(state)
            return value === undefined ? null : value
          }
        }
        return (state) => validate(state, evaluate(state), type)
      }
      default:
        return typedConstant(node, type)
    }
  }
}

/** Runs the commands of a pipeline, each with the result of the one before. */
function chained(pipe: PipeNode, commands: readonly EvaluateCommand[]): Evaluate {
  const [only] = commands
  if (only && commands.length === 1) {
    return (state) => {
      state.node = pipe
      const value = only(state, undefined)
      return value === null ? undefined : value
    }
  }
  return (state) => {
    state.node = pipe
    let value: GoValue
    for (const command of commands) {
      value = command(state, value)
      if (value === null) value = undefined
    }
    return value
  }
}

/** The first argument of `call` as the template spells it. */
function callee(args: readonly OperandNode[], values: readonly GoValue[]): string {
  const [node] = args
  if (node) return shownNode(node)
  const [value] = values
  return typeof value === 'string' ? value : `<${typeOf(value)} Value>`
}

/** A value as an action prints it. */
function printed(value: GoValue): string {
  if (value === undefined || value === null) return '<no value>'
  if (value instanceof GoStruct) {
    if (value.options.text) return value.options.text()
    if (value.isPointer)
      return printValue(new GoStruct(value.type, value.fields, { ...value.options, isPointer: false }))
  }
  return printValue(value)
}

/** A value that does not change; errors after it name its node. */
function placed(node: OperandNode, value: GoValue): Evaluate {
  return (state) => {
    state.node = node
    return value
  }
}

/** A constant as a command or as an argument of any type. */
function constant(node: OperandNode): Evaluate {
  switch (node.type) {
    case 'bool':
    case 'string':
      return placed(node, node.value)
    case 'number':
      return idealConstant(node)
    case 'dot':
      return (state) => {
        state.node = node
        return state.dot
      }
    default:
      return (state) => {
        state.node = node
        throw state.fail('nil is not a command')
      }
  }
}

/** The value of a number whose type is open: an int where possible. */
function idealConstant(node: NumberNode): Evaluate {
  const { text, int, uint, float, complex } = node.value
  if (complex) {
    return placed(node, new GoComplex(...complex))
  }
  const isHexInteger = /^0[xX]/.test(text) && text.length > 2 && !/[pP]/.test(text)
  const isFloat = float !== undefined && !isHexInteger && !text.startsWith("'") && /[.eEpP]/.test(text)
  const value = isFloat ? float : int !== undefined ? goInt(int) : undefined
  return (state) => {
    state.node = node
    if (value === undefined && uint !== undefined) throw state.fail(`${text} overflows int`)
    return value
  }
}

function typedConstant(node: OperandNode, type: ParameterType): Evaluate {
  const expected = (what: string): Evaluate => {
    return (state) => {
      state.node = node
      throw state.fail(`expected ${what}; found ${shownNode(node)}`)
    }
  }
  const number = node.type === 'number' ? node.value : undefined
  switch (type) {
    case 'bool':
      return node.type === 'bool' ? constant(node) : expected('bool')
    case 'string':
      return node.type === 'string' ? constant(node) : expected('string')
    case 'float64': {
      const float = number?.float
      return float === undefined ? expected('float') : placed(node, float)
    }
    case 'int':
    case 'int64':
    case 'time.Duration': {
      if (number?.int === undefined) return expected('integer')
      const value = type === 'time.Duration' ? new GoInt('int64', number.int, type) : new GoInt(type, number.int)
      return placed(node, value)
    }
    case 'uint32': {
      if (number?.uint === undefined) return expected('unsigned integer')
      const value = new GoInt('uint32', BigInt.asUintN(32, number.uint))
      return placed(node, value)
    }
    case 'interface {}':
    case 'reflect.Value':
      return constant(node)
    default:
      return (state) => {
        state.node = node
        throw state.fail(`can't handle ${shownNode(node)} for arg of type ${type}`)
      }
  }
}

/** The iterations of one `range`. */
class Loop {
  readonly #state: State
  readonly #body: Execute
  readonly #elementSlot: number | undefined
  readonly #indexSlot: number | undefined

  constructor(state: State, body: Execute, elementSlot: number | undefined, indexSlot: number | undefined) {
    this.#state = state
    this.#body = body
    this.#elementSlot = elementSlot
    this.#indexSlot = indexSlot
  }

  /** Returns false if there is nothing to iterate over. */
  over(value: GoValue, hasTwoVariables: boolean): boolean {
    if (value === undefined || value === null) return false
    const state = this.#state
    const { dot, isDotElement } = state
    const hasRun = this.#iterate(value, hasTwoVariables)
    state.dot = dot
    state.isDotElement = isDotElement
    return hasRun
  }

  #iterate(value: GoValue, hasTwoVariables: boolean): boolean {
    const isElement = elementType(value) === 'interface {}'
    const items = itemsOf(value)
    if (items) {
      for (let index = 0; index < items.length; index++) {
        const key = this.#indexSlot === undefined ? undefined : goInt(index)
        if (this.#once(key, items[index], isElement) === BREAK) break
      }
      return items.length > 0
    }
    if (value instanceof Map) {
      // The loop visits the entries that were there at its start.
      const keys = sortedKeys(value)
      const elements = keys.map((key) => value.get(key))
      for (const [index, key] of keys.entries()) {
        if (this.#once(key, elements[index], isElement) === BREAK) break
      }
      return keys.length > 0
    }
    if (!(value instanceof GoInt)) throw this.#state.fail(`range can't iterate over ${printValue(value)}`)
    if (hasTwoVariables) {
      throw this.#state.fail(`can't use ${printValue(value)} to iterate over more than one variable`)
    }
    for (let index = 0n; index < value.value; index++) {
      if (this.#once(undefined, new GoInt(value.kind, index, value.named), false) === BREAK) break
    }
    return value.value > 0n
  }

  #once(key: GoValue, element: GoValue, isElement: boolean): Flow {
    const state = this.#state
    state.meter.step()
    state.dot = element
    state.isDotElement = isElement
    if (this.#elementSlot !== undefined) {
      state.variables[this.#elementSlot] = element
      if (isElement) (state.elements ??= new Set()).add(this.#elementSlot)
      else state.elements?.delete(this.#elementSlot)
    }
    if (this.#indexSlot !== undefined) state.variables[this.#indexSlot] = key
    return this.#body(state)
  }
}
