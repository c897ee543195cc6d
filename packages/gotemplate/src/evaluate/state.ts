/** The state of one rendering. */
import { TemplateError } from '../errors.ts'
import { quote } from '../format/quote.ts'
import { shownNode } from '../parse/nodes.ts'
import type { AnyNode } from '../parse/nodes.ts'
import { byteLength } from '../values/bytes.ts'
import type { FunctionContext, Environment, GoFunction } from '../values/go-function.ts'
import type { GoValue } from '../values/values.ts'
import type { Meter } from './meter.ts'

/** How a statement ended. */
export const NEXT = 0
export const BREAK = 1
export const CONTINUE = 2
export type Flow = typeof NEXT | typeof BREAK | typeof CONTINUE

export type Execute = (state: State) => Flow

/** A template that is ready to run. */
export interface CompiledTemplate {
  readonly name: string
  readonly execute: Execute
  /** The number of variables, including `$`. */
  readonly slots: number
}

/** The templates that see each other. */
export interface TemplateSet {
  readonly find: (name: string) => CompiledTemplate | undefined
  /** Parses `text` as a template of its own that sees this set; throws a TemplateError. */
  readonly extend: (text: string) => { readonly set: TemplateSet; readonly main: CompiledTemplate | undefined }
}

export class State {
  dot: GoValue = undefined
  /** Whether `dot` is an element of a container of interfaces: errors then name the type `interface {}`. */
  isDotElement = false
  variables: GoValue[] = []
  /** The slots of variables that are elements, as above. */
  elements: Set<number> | undefined
  /** The node that errors name. */
  node: AnyNode | undefined
  template: CompiledTemplate | undefined
  /** The method that the next call invokes, where the call was compiled for its signature only. */
  method: GoFunction | undefined
  out = ''
  depth = 0
  set: TemplateSet
  readonly meter: Meter
  readonly context: FunctionContext

  constructor(set: TemplateSet, meter: Meter, environment: Environment, functions: (state: State) => TextFunctions) {
    this.set = set
    this.meter = meter
    this.context = {
      environment,
      spend: (steps) => meter.spend(steps),
      allocate: (characters) => meter.allocate(characters),
      spendOnRegexp: (work) => meter.spendOnRegexp(work),
      checkTime: () => meter.checkTime(),
      ...functions(this),
    }
  }

  /** An error at the current node, in Go's form. */
  fail(problem: string): ExecutionError {
    const name = this.template?.name ?? ''
    if (!this.node) return new ExecutionError(`template: ${name}: ${problem}`)
    return new ExecutionError(
      `template: ${location(this.node)}: executing ${quote(name)} at <${shownNode(this.node)}>: ${problem}`,
    )
  }
}

/** The functions that render templates. */
export type TextFunctions = Pick<FunctionContext, 'include' | 'tpl'>

/** An error with its place in the template. */
export class ExecutionError extends TemplateError {
  constructor(message: string, options?: ErrorOptions) {
    super('execution', message, options)
  }
}

function location({ source, at }: AnyNode): string {
  const before = source.text.slice(0, at)
  const lines = before.split('\n')
  return `${source.name}:${lines.length}:${byteLength(lines.at(-1) ?? '')}`
}

/** Runs a template with its own variables and restores those of the caller. */
export function executeTemplate(state: State, template: CompiledTemplate, dot: GoValue): void {
  const { dot: outerDot, isDotElement, variables, elements, template: outer } = state
  state.meter.checkDepth(++state.depth)
  state.dot = dot
  state.isDotElement = false
  state.variables = [dot]
  state.elements = undefined
  state.template = template
  template.execute(state)
  state.depth--
  state.dot = outerDot
  state.isDotElement = isDotElement
  state.variables = variables
  state.elements = elements
  state.template = outer
}

/** Runs a template and returns its output. */
export function capture(state: State, template: CompiledTemplate, dot: GoValue): string {
  const { out, node } = state
  state.out = ''
  executeTemplate(state, template, dot)
  const text = state.out
  state.out = out
  state.node = node
  return text
}
