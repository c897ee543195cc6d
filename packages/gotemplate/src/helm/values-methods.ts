/** `.Values` has methods: `.Values.AsMap`, `.Values.YAML` and others. */
import { yamlText } from '../data/yaml.ts'
import { quote } from '../format/quote.ts'
import { fn } from '../functions/define.ts'
import { FunctionError } from '../values/go-function.ts'
import type { GoFunction } from '../values/go-function.ts'
import { registerMethods } from '../values/methods.ts'
import { NamedMap } from '../values/values.ts'
import type { GoMap, GoValue } from '../values/values.ts'

export const VALUES_TYPE = 'chartutil.Values'

/** A map of the type of `.Values`. */
export const valuesMap = (entries: Iterable<readonly [string, GoValue]>): NamedMap =>
  new NamedMap(VALUES_TYPE, 'interface {}', entries)

function table(values: GoMap, path: string): GoMap {
  let found = values
  for (const name of path.split('.')) {
    const next = found.get(name)
    if (!(next instanceof Map)) throw new FunctionError(`${quote(name)} is not a table`)
    found = next
  }
  return found instanceof NamedMap ? found : valuesMap(found)
}

function pathValue(values: GoMap, path: string): GoValue {
  if (path === '') throw new FunctionError('YAML path cannot be empty')
  const names = path.split('.')
  const key = names.pop() ?? ''
  let parent = values
  try {
    if (names.length > 0) parent = table(values, names.join('.'))
  } catch {
    throw new FunctionError(`${quote(key)} is not a value`)
  }
  const value = parent.get(key)
  if (value === undefined || value instanceof Map) throw new FunctionError(`${quote(key)} is not a value`)
  return value
}

const method = (
  name: string,
  make: (values: GoMap) => GoFunction,
): readonly [string, (receiver: GoValue) => GoFunction] => [
  name,
  (receiver) => make(receiver instanceof Map ? receiver : new Map()),
]

registerMethods(
  VALUES_TYPE,
  new Map([
    method('AsMap', (values) => fn('AsMap', [], () => new Map(values))),
    method('YAML', (values) => fn('YAML', [], () => yamlText(values))),
    method('Table', (values) => fn('Table', ['string'], ([path]) => table(values, path))),
    method('PathValue', (values) => fn('PathValue', ['string'], ([path]) => pathValue(values, path))),
    method('Encode', () => fn('Encode', ['io.Writer'], () => null)),
  ]),
)
