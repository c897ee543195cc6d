/** Arguments are checked against the types of parameters. */
import type { ParameterType } from '../values/go-function.ts'
import { GoList, NamedMap } from '../values/values.ts'
import type { GoValue } from '../values/values.ts'
import { typeOf } from '../values/types.ts'
import type { State } from './state.ts'

const NILABLE: ReadonlySet<ParameterType> = new Set([
  'reflect.Value',
  'interface {}',
  '[]interface {}',
  'map[string]interface {}',
  '*semver.Version',
  'io.Writer',
])

export const canBeNil = (type: ParameterType): boolean => NILABLE.has(type)

/** The value as an argument of the type; throws if it does not fit. */
export function validate(state: State, value: GoValue, type: ParameterType): GoValue {
  if (value === undefined) {
    if (type === 'reflect.Value') return undefined
    if (canBeNil(type)) return null
    throw state.fail(`invalid value; expected ${type}`)
  }
  if (isAssignable(value, type)) return value
  throw state.fail(`wrong type for value; expected ${type}; got ${value === null ? 'interface {}' : typeOf(value)}`)
}

function isAssignable(value: Exclude<GoValue, undefined>, type: ParameterType): boolean {
  switch (type) {
    case 'reflect.Value':
    case 'interface {}':
      return true
    case 'string':
      return typeof value === 'string'
    case 'bool':
      return typeof value === 'boolean'
    case 'float64':
      return typeof value === 'number'
    case 'map[string]interface {}':
      return value instanceof Map && (!(value instanceof NamedMap) || value.type === 'chartutil.Values')
    case '[]interface {}':
      return Array.isArray(value) || (value instanceof GoList && value.type === type)
    default:
      return value !== null && typeOf(value) === type
  }
}
