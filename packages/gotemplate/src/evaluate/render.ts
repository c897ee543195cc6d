/** Renders a template. */
import { TemplateError } from '../errors.ts'
import { quote } from '../format/quote.ts'
import { systemNow, systemRandomBytes, systemTimeZone } from '../system.ts'
import { normalize } from '../values/bytes.ts'
import { FunctionError } from '../values/go-function.ts'
import type { Environment } from '../values/go-function.ts'
import type { GoValue } from '../values/values.ts'
import { withWork } from '../values/work.ts'
import { fromJavaScript } from '../data/outside-values.ts'
import { Meter } from './meter.ts'
import type { RenderLimits } from './meter.ts'
import { capture, ExecutionError, State } from './state.ts'
import type { TextFunctions } from './state.ts'
import { ROOT_NAME } from './template-set.ts'
import type { Templates } from './template-set.ts'

export interface RenderOptions {
  /** Limits of this rendering. */
  readonly limits?: RenderLimits
  /** Milliseconds since 1970, for `now` and the time limit. Default: the clock of the machine. */
  readonly now?: () => number
  /** Randomness for `randAlphaNum`, `uuidv4` and the like. Default: node:crypto. */
  readonly randomBytes?: (count: number) => Uint8Array
  /** The IANA name of the local time zone. Default: that of the machine. */
  readonly timeZone?: string
  /** Finds objects for `lookup`, as JSON-like values. Default: an empty map for every object. */
  readonly lookup?: (apiVersion: string, kind: string, namespace: string, name: string) => unknown
}

/** Helm's limit of nested `include` calls of one template. */
const MAX_NESTED_NAMES = 1000

/** Runs the template `name` of a set; `data` is its dot. */
export function execute(set: Templates, name: string, data: GoValue, options: RenderOptions): string {
  const meter = new Meter(options.limits ?? {}, options.now ?? systemNow)
  const state = new State(set, meter, environmentOf(options), textFunctions)
  const template = set.find(name)
  if (!template)
    throw new ExecutionError(`template: no template ${quote(name)} associated with template ${quote(ROOT_NAME)}`)
  try {
    return withWork(
      (steps) => meter.spend(steps),
      () => withoutNoValue(normalize(capture(state, template, data))),
    )
  } catch (error) {
    // The stack of the machine may be smaller than the limits allow for; the YAML writer has a limit of its own.
    if (error instanceof RangeError && /call stack|max depth/i.test(error.message)) {
      throw new TemplateError('limit', 'The template or its values are nested too deep.', { cause: error })
    }
    if (error instanceof RangeError && /string length/i.test(error.message)) {
      throw new TemplateError('limit', meter.outputMessage, { cause: error })
    }
    throw error
  }
}

/** Go prints an absent value with these words, and Helm removes them. */
const withoutNoValue = (text: string): string => text.replaceAll('<no value>', '')

function environmentOf(options: RenderOptions): Environment {
  const { lookup } = options
  return {
    now: options.now ?? systemNow,
    randomBytes: options.randomBytes ?? systemRandomBytes,
    get timeZone() {
      return options.timeZone ?? systemTimeZone()
    },
    lookup: (apiVersion, kind, namespace, name) => {
      const found = lookup?.(apiVersion, kind, namespace, name)
      return found === undefined || found === null ? new Map<string, GoValue>() : fromJavaScript(found)
    },
  }
}

function textFunctions(state: State): TextFunctions {
  const nested = new Map<string, number>()
  return {
    include: (name, data) => {
      const count = nested.get(name)
      if (count !== undefined && count > MAX_NESTED_NAMES) {
        throw new FunctionError(`rendering template has a nested reference name: ${name}: unable to execute template`)
      }
      const template = state.set.find(name)
      if (!template) {
        throw new FunctionError(`template: no template ${quote(name)} associated with template ${quote(ROOT_NAME)}`)
      }
      nested.set(name, (count ?? 0) + 1)
      const text = capture(state, template, data === null ? undefined : data)
      nested.set(name, count ?? 0)
      return text
    },
    tpl: (text, data) => {
      const outer = state.set
      state.meter.spend(text.length >>> 4)
      const { set, main } = parseText(state, text)
      state.set = set
      try {
        return main ? withoutNoValue(capture(state, main, data === null ? undefined : data)) : ''
      } catch (error) {
        if (!(error instanceof ExecutionError)) throw error
        throw new FunctionError(`error during tpl function execution for ${quote(text)}: ${error.message}`)
      } finally {
        state.set = outer
      }
    },
  }
}

function parseText(state: State, text: string): ReturnType<Templates['extend']> {
  try {
    return state.set.extend(normalize(text))
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error
    throw new FunctionError(`cannot parse template ${quote(text)}: ${error.message}`)
  }
}
