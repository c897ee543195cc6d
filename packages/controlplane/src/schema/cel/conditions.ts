import type { Schema } from '../types.ts'
import { tryCompile } from './compile.ts'
import type { Program } from './engine.ts'
import type { CheckAccess } from './library/authorizer.ts'
import { CelAuthorizer, registerAuthorizer } from './library/authorizer.ts'
import { baseEnvironment } from './library/library.ts'
import type { CelType } from './types.ts'
import { TypeFactory } from './types.ts'

const TEXT: Schema = { type: 'string' }
const named = (...names: readonly string[]): Schema => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, TEXT])),
})
const KIND = named('group', 'version', 'kind')
const RESOURCE = named('group', 'version', 'resource')
const REQUEST: Schema = {
  type: 'object',
  properties: {
    ...named('uid', 'subResource', 'requestSubResource', 'name', 'namespace', 'operation').properties,
    kind: KIND,
    resource: RESOURCE,
    requestKind: KIND,
    requestResource: RESOURCE,
    userInfo: {
      type: 'object',
      properties: {
        ...named('username', 'uid').properties,
        groups: { type: 'array', items: TEXT },
        extra: { type: 'object', additionalProperties: { type: 'array', items: TEXT } },
      },
    },
    dryRun: { type: 'boolean' },
    // The only schema for the CEL type `dyn`.
    options: { intOrString: true },
  },
}

export interface CompiledCondition {
  readonly expression: string
  readonly program: Program | undefined
  /** The error with kube-apiserver's text, if there is no program. */
  readonly error: string | undefined
}

/** The CEL environment of match conditions, created on first use because few webhooks have any. */
function makeLanguage() {
  const environment = baseEnvironment()
  const types = new TypeFactory(environment)
  const request = types.declare(REQUEST, false) as CelType
  environment.registerVariable('object', 'dyn').registerVariable('oldObject', 'dyn')
  environment.registerVariable('request', request.name)
  registerAuthorizer(environment)
  return { environment, types, request }
}

let language: ReturnType<typeof makeLanguage> | undefined

/** Compiles an expression of `matchConditions`. */
export function compileCondition(expression: string): CompiledCondition {
  const { environment, types } = (language ??= makeLanguage())
  const { program, error } = tryCompile(environment, expression, 'bool', types)
  if (error !== 'cel expression must evaluate to a bool') return { expression, program, error }
  const { type } = environment.parse(expression).check()
  return { expression, program: undefined, error: `must evaluate to bool but got ${type ?? 'dyn'}` }
}

export interface ConditionSubject {
  readonly object: unknown
  readonly oldObject: unknown
  readonly request: unknown
  readonly checkAccess: CheckAccess
}

/** Returns the variables of a condition for a request. */
export function conditionContext({
  object,
  oldObject,
  request,
  checkAccess,
}: ConditionSubject): Record<string, unknown> {
  const { request: type } = (language ??= makeLanguage())
  return {
    object: celValue(object ?? null),
    oldObject: celValue(oldObject ?? null),
    request: type.convert(request),
    authorizer: new CelAuthorizer(checkAccess),
  }
}

/** Converts JSON without a schema: integers become int, objects become maps. */
function celValue(value: unknown): unknown {
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value
  if (Array.isArray(value)) return value.map(celValue)
  if (typeof value !== 'object' || value === null) return value
  const map = new Map<string, unknown>()
  for (const [key, item] of Object.entries(value)) if (item !== undefined) map.set(key, celValue(item))
  return map
}
