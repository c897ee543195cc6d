/** Helm's own functions, except those for data formats. */
import { fn } from '../functions/define.ts'
import { FunctionError } from '../values/go-function.ts'
import type { GoFunction } from '../values/go-function.ts'

/** Helm finds the message of `fail` and `required` in a longer error by these marks. */
export const ERROR_START = 'HELM_ERR_START'
export const ERROR_END = 'HELM_ERR_END'

const marked = (message: string): FunctionError => new FunctionError(ERROR_START + message + ERROR_END)

export const helmFunctions: readonly GoFunction[] = [
  fn('include', ['string', 'interface {}'], ([name, data], context) => context.include(name, data)),
  fn('tpl', ['string', 'interface {}'], ([text, data], context) => context.tpl(text, data)),
  fn('required', ['string', 'interface {}'], ([message, value]) => {
    if (value === null || value === '') throw marked(message)
    return value
  }),
  fn('fail', ['string'], ([message]) => {
    throw marked(message)
  }),
  fn('lookup', ['string', 'string', 'string', 'string'], ([apiVersion, kind, namespace, name], { environment }) =>
    environment.lookup(apiVersion, kind, namespace, name),
  ),
  // Helm looks nothing up unless it is allowed to.
  fn('getHostByName', ['string'], () => ''),
]
