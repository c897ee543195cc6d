/** sprig's functions on values of any type. */
import type { GoFunction } from '../values/go-function.ts'
import { kindOf, typeOf } from '../values/types.ts'
import { isDeepEqual, isEmpty } from './conversions.ts'
import { fn, variadic } from './define.ts'

export const defaultFunctions: readonly GoFunction[] = [
  variadic('default', ['interface {}'], 'interface {}', ([fallback], given) => {
    const [value = null] = given
    return isEmpty(value) ? fallback : value
  }),
  fn('empty', ['interface {}'], ([value]) => isEmpty(value)),
  variadic('coalesce', [], 'interface {}', (_args, values) => values.find((value) => !isEmpty(value)) ?? null),
  variadic('all', [], 'interface {}', (_args, values) => values.every((value) => !isEmpty(value))),
  variadic('any', [], 'interface {}', (_args, values) => values.some((value) => !isEmpty(value))),
  fn('ternary', ['interface {}', 'interface {}', 'bool'], ([yes, no, condition]) => (condition ? yes : no)),
  fn('typeOf', ['interface {}'], ([value]) => typeOf(value)),
  fn('typeIs', ['string', 'interface {}'], ([type, value]) => typeOf(value) === type),
  fn('typeIsLike', ['string', 'interface {}'], ([type, value]) => {
    const actual = typeOf(value)
    return actual === type || actual === `*${type}`
  }),
  fn('kindOf', ['interface {}'], ([value]) => kindOf(value)),
  fn('kindIs', ['string', 'interface {}'], ([kind, value]) => kindOf(value) === kind),
  fn('deepEqual', ['interface {}', 'interface {}'], ([a, b]) => isDeepEqual(a, b)),
]
