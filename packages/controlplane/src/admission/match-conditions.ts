import { forbidden } from '../errors.ts'
import type { AdmissionAttributes } from '../registry/request.ts'
import type { Program } from '../schema/cel/engine.ts'
import type { CelType } from '../schema/cel/types.ts'
import type { Schema } from '../schema/types.ts'
import type { SeenObjects } from './matching.ts'
import type { ReviewRequest } from './review.ts'
import type { MatchCondition, Webhook } from './webhook.ts'

/** What all conditions of a webhook may cost for one request. */
const BUDGET = 2_500_000

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
    // The one way to say `dyn` in a schema.
    options: { intOrString: true },
  },
}

interface Compiled {
  readonly expression: string
  readonly program: Program | undefined
  readonly error: string
}

type Engine = Awaited<ReturnType<typeof loadEngine>>

async function loadEngine() {
  // Few webhooks have conditions, and CEL is large.
  const [{ compileExpression }, { baseEnvironment }, { TypeFactory }, { metered }] = await Promise.all([
    import('../schema/cel/engine.ts'),
    import('../schema/cel/library.ts'),
    import('../schema/cel/types.ts'),
    import('../schema/cel/cost.ts'),
  ])
  const environment = baseEnvironment()
  const types = new TypeFactory(environment)
  const request = types.declare(REQUEST, false) as CelType
  environment.registerVariable('object', 'dyn').registerVariable('oldObject', 'dyn')
  environment.registerVariable('request', request.name)
  const compile = ({ expression }: MatchCondition): Compiled => {
    try {
      const program = compileExpression(environment, expression, 'bool', types.fieldsOf)
      return { expression, program, error: '' }
    } catch (error) {
      return { expression, program: undefined, error: `compilation error: compilation failed: ${wordsOf(error)}` }
    }
  }
  return { compile, metered, request }
}

let engine: Promise<Engine> | undefined
const compiled = new WeakMap<Webhook, readonly Compiled[]>()

/**
 * False if a condition is false: the webhook is not called. A condition that can not be judged is taken for false where
 * failures are ignored, and refuses the request where they are not. There is no `authorizer` here.
 */
export async function conditionsHold(
  webhook: Webhook,
  { definition, name }: AdmissionAttributes,
  request: ReviewRequest,
  { object, oldObject }: SeenObjects,
): Promise<boolean> {
  const { compile, metered, request: requestType } = await (engine ??= loadEngine())
  let conditions = compiled.get(webhook)
  if (!conditions) compiled.set(webhook, (conditions = webhook.matchConditions.map(compile)))
  const context = {
    object: celValue(object ?? null),
    oldObject: celValue(oldObject ?? null),
    request: requestType.convert(request),
  }
  let left = BUDGET
  const errors: string[] = []
  for (const { expression, program, error } of conditions) {
    if (!program) {
      errors.push(error)
      continue
    }
    const { spent, result } = metered(left, () => program.run(context))
    left -= spent
    if (result === false) return false
    if (result !== true) errors.push(`expression '${expression}' resulted in error: ${wordsOf(result)}`)
  }
  if (errors.length === 0) return true
  if (webhook.isFailureIgnored) return false
  const distinct = [...new Set(errors)]
  throw forbidden(definition, name, distinct.length === 1 ? (distinct[0] ?? '') : `[${distinct.join(', ')}]`)
}

/** JSON without a schema: whole numbers are int, objects are maps. */
function celValue(value: unknown): unknown {
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value
  if (Array.isArray(value)) return value.map(celValue)
  if (typeof value !== 'object' || value === null) return value
  const map = new Map<string, unknown>()
  for (const [key, item] of Object.entries(value)) if (item !== undefined) map.set(key, celValue(item))
  return map
}

function wordsOf(error: unknown): string {
  const { summary, message } = error as { readonly summary?: unknown; readonly message?: unknown }
  const text = String(summary ?? message ?? error)
  const key = /^No such key: (.*)$/.exec(text)
  const variable = /^Unknown variable: (.*)$/.exec(text)
  if (variable) return `undeclared reference to '${variable[1]}' (in container '')`
  return key ? `no such key: ${key[1]}` : text
}
