import type { Environment } from '@marcbachmann/cel-js'

import { fieldPathOf } from '../field-path.ts'
import type { Rule, Schema } from '../types.ts'
import type { Program } from './engine.ts'
import { CelSyntaxError, compileExpression } from './engine.ts'
import { hasRules } from './has-rules.ts'
import { baseEnvironment } from './library/library.ts'
import type { CelType } from './types.ts'
import { TypeFactory } from './types.ts'

/** The compiled rules of a schema and of its children. Children without rules are left out. */
export interface Validator {
  readonly schema: Schema
  readonly type: CelType
  readonly rules: readonly CompiledRule[]
  readonly properties: ReadonlyMap<string, Validator>
  readonly additional: Validator | undefined
  readonly items: Validator | undefined
}

export interface CompiledRule {
  readonly rule: Rule
  /** Undefined if the rule does not compile; then `error` is set. */
  readonly program: Program | undefined
  readonly error: string | undefined
  readonly message: Program | undefined
  readonly messageError: string | undefined
  /** `fieldPath` in the form of errors. */
  readonly fieldPath: string | undefined
}

const validators = new WeakMap<Schema, { readonly validator: Validator | undefined }>()

/** Returns the compiled rules of a custom resource's schema, or undefined if it has none. Cached. */
export function validatorOf(schema: Schema): Validator | undefined {
  let known = validators.get(schema)
  if (!known) {
    known = { validator: hasRules(schema) ? new Compiler().compile(schema) : undefined }
    validators.set(schema, known)
  }
  return known.validator
}

class Compiler {
  readonly #environment: Environment = baseEnvironment()
  readonly #types = new TypeFactory(this.#environment)

  compile(schema: Schema): Validator | undefined {
    const type = this.#types.declare(schema, true)
    return type && this.#validator(schema, type)
  }

  #validator(schema: Schema, type: CelType): Validator | undefined {
    if (!hasRules(schema)) return undefined
    const properties = new Map<string, Validator>()
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      const field = type.fields?.get(name)
      const validator = field && this.#validator(property, field.type)
      if (validator) properties.set(name, validator)
    }
    const { items, additionalProperties } = schema
    return {
      schema,
      type,
      rules: (schema.rules ?? []).map((rule) => this.#rule(rule, schema, type)),
      properties,
      items: items && type.element && this.#validator(items, type.element),
      additional:
        typeof additionalProperties === 'object' && type.element
          ? this.#validator(additionalProperties, type.element)
          : undefined,
    }
  }

  #rule(rule: Rule, schema: Schema, type: CelType): CompiledRule {
    const old = rule.optionalOldSelf ? `optional<${type.name}>` : type.name
    const environment = this.#environment.clone().registerVariable('self', type.name).registerVariable('oldSelf', old)
    const main = tryCompile(environment, rule.rule, 'bool', this.#types)
    const message =
      rule.messageExpression === undefined || main.error !== undefined
        ? undefined
        : tryCompile(environment, rule.messageExpression, 'string', this.#types)
    return {
      rule,
      program: main.program,
      error: main.error,
      message: message?.program,
      messageError:
        message?.error === undefined
          ? undefined
          : `messageExpression ${message.error}`.replace(/^messageExpression (?=messageExpression )/, ''),
      fieldPath: rule.fieldPath === undefined ? undefined : fieldPathOf(rule.fieldPath, schema),
    }
  }
}

/** Compiles an expression. Returns the program or the error. */
export function tryCompile(
  environment: Environment,
  expression: string,
  returns: 'bool' | 'string',
  types: TypeFactory,
): { readonly program: Program | undefined; readonly error: string | undefined } {
  try {
    return { program: compileExpression(environment, expression, returns, types.fieldsOf), error: undefined }
  } catch (error) {
    return { program: undefined, error: describe(error, expression) }
  }
}

/** The used part of the engine's errors. */
interface EngineError {
  readonly code?: string
  readonly summary?: string
  readonly message: string
  readonly range?: { readonly start: number; readonly end: number }
  readonly node?: { readonly op?: string; readonly args?: unknown }
}

/** Formats an error as cel-go does: `compilation failed: ERROR: <input>:1:5: undefined field 'zz'`, with a marker line. */
function describe(error: unknown, expression: string): string {
  if (error instanceof CelSyntaxError && error.position < 0) return error.message
  const { code, summary, message, range } = error as EngineError
  const position =
    error instanceof CelSyntaxError ? error.position : placeOf(error as EngineError, range?.start ?? 0, expression)
  const before = expression.slice(0, position)
  const line = before.split('\n').length
  const column = position - (before.lastIndexOf('\n') + 1)
  const source = expression.split('\n')[line - 1] ?? ''
  const why = error instanceof CelSyntaxError ? error.message : toCelGoMessage(code, summary ?? message)
  return `compilation failed: ERROR: <input>:${line}:${column + 1}: ${why}\n | ${source}\n | ${'.'.repeat(column)}^`
}

/** cel-go reports the position of a field's dot, and of an operator between its operands. */
function placeOf({ code, node }: EngineError, start: number, expression: string): number {
  if (code === 'no_such_key') return Math.max(0, start - 1)
  const [left] = code === 'no_such_overload' && Array.isArray(node?.args) ? (node.args as readonly unknown[]) : []
  const end = (left as { readonly end?: number } | undefined)?.end
  const operator = end === undefined ? -1 : expression.indexOf(node?.op ?? '', end)
  return operator < 0 ? start : operator
}

const TYPE_NAMES: readonly (readonly [RegExp, string])[] = [
  [/google\.protobuf\.Timestamp/g, 'timestamp'],
  [/google\.protobuf\.Duration/g, 'duration'],
  [/Object\d+/g, 'object'],
]

/** Translates the engine's message to that of cel-go. */
function toCelGoMessage(code: string | undefined, summary: string): string {
  const text = TYPE_NAMES.reduce((words, [pattern, name]) => words.replace(pattern, name), summary)
  const field = /^No such key: (.*)$/.exec(text)
  if (field) return `undefined field '${field[1]}'`
  const variable = /^Unknown variable: (.*)$/.exec(text)
  if (variable) return `undeclared reference to '${variable[1]}' (in container '')`
  const binary = /^no such overload: (.+) (==|!=|<=|>=|<|>|\+|-|\*|\/|%|in) (.+)$/.exec(text)
  if (binary) {
    const operator = binary[2] === 'in' ? '@in' : `_${binary[2]}_`
    return `found no matching overload for '${operator}' applied to '(${binary[1]}, ${binary[3]})'`
  }
  const unary = /^no such overload: ([!-])(.+)$/.exec(text)
  if (unary) return `found no matching overload for '${unary[1]}_' applied to '(${unary[2]})'`
  const method = /^found no matching overload for '(.+)\.(\w+)\((.*)\)'$/.exec(text)
  if (method) {
    const all = method[3] === '' ? `${method[1]}.()` : `${method[1]}.(${method[3]})`
    return `found no matching overload for '${method[2]}' applied to '${all}'`
  }
  const call = /^found no matching overload for '(\w+)\((.*)\)'$/.exec(text)
  if (call) return `found no matching overload for '${call[1]}' applied to '(${call[2]})'`
  const logical = /^Logical operator requires bool operands, got '(.+)'$/.exec(text)
  if (logical) return `expected type 'bool' but found '${logical[1]}'`
  const mixed = /expected type '(.+)' but found '(.+)'$/.exec(text)
  if (mixed) return `expected type '${mixed[1]}' but found '${mixed[2]}'`
  return code === 'unexpected_token' || code === 'parse_error' ? `Syntax error: ${text}` : text
}
