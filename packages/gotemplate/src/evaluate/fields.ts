/** Fields of values: `.a.b`. */
import { GoStruct, NamedMap } from '../values/values.ts'
import type { GoValue } from '../values/values.ts'
import type { GoFunction } from '../values/go-function.ts'
import { elementType, typeOf, zeroOf } from '../values/types.ts'
import { methodOf } from '../values/methods.ts'
import type { State } from './state.ts'

/** The static type of a value that was read from `container`. */
export function typeInside(container: GoValue, value: GoValue, name: string): string {
  if (container instanceof GoStruct) return fieldOf(container, name)?.type ?? typeOf(value)
  const type = elementType(container)
  return type === 'interface {}' ? type : typeOf(value)
}

/** Calls a method; the evaluator knows the arguments. */
export type MethodCall = (method: GoFunction) => GoValue

/**
 * Reads one field. `type` is the static type of the receiver, for errors; `hasArguments` tells that the template
 * passes arguments, which only methods take.
 */
export function readField(
  state: State,
  receiver: GoValue,
  name: string,
  type: () => string,
  call: { readonly method: MethodCall; readonly hasArguments: boolean },
): GoValue {
  if (receiver === undefined) return undefined
  if (receiver === null) throw state.fail(`nil pointer evaluating ${type()}.${name}`)
  const method = methodOf(receiver, name)
  if (method) return call.method(method)
  if (receiver instanceof Map) {
    if (call.hasArguments) throw state.fail(`${name} is not a method but has arguments`)
    const value = receiver.get(name)
    if (value !== undefined) return value
    return receiver instanceof NamedMap ? zeroOf(receiver.elem) : null
  }
  if (receiver instanceof GoStruct) {
    const field = fieldOf(receiver, name)
    if (field) {
      if (/^[a-z_]/.test(name)) throw state.fail(`${name} is an unexported field of struct type ${type()}`)
      if (call.hasArguments) throw state.fail(`${name} has arguments but cannot be invoked as function`)
      return field.value
    }
  }
  throw state.fail(`can't evaluate field ${name} in type ${type()}`)
}

function fieldOf(struct: GoStruct, name: string): { readonly type: string; readonly value: GoValue } | undefined {
  const own = struct.fields.find((field) => field.name === name)
  if (own) return own
  for (const field of struct.fields) {
    if (field.isEmbedded === true && field.value instanceof GoStruct) {
      const inner = fieldOf(field.value, name)
      if (inner) return inner
    }
  }
  return undefined
}
