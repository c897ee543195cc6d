/** The functions of sprig and Helm that read and print JSON, YAML and TOML. */
import { FunctionError } from '../values/go-function.ts'
import type { FunctionContext, GoFunction } from '../values/go-function.ts'
import { normalize, toDisplay } from '../values/bytes.ts'
import { GoList, itemsOf, NamedMap } from '../values/values.ts'
import type { GoValue } from '../values/values.ts'
import { fn } from '../functions/define.ts'
import { JsonProblem, readJson } from './json-read.ts'
import type { ReadJson } from './json-read.ts'
import { writeJson } from './json-write.ts'
import type { JsonWriteOptions } from './json-write.ts'
import { readToml, TomlProblem } from './toml-read.ts'
import { writeToml } from './toml-write.ts'
import { parseYaml, prettyYamlText, yamlText, YamlProblem } from './yaml.ts'

const MAP = 'map[string]interface {}'
const LIST = '[]interface {}'

/** The name that encoding/json gives to a value of the wrong type. */
function jsonTypeName(value: GoValue): string {
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'string') return 'string'
  // A number that is out of range was read as nil.
  if (typeof value === 'number' || value === null) return 'number'
  return itemsOf(value) ? 'array' : 'object'
}

const wrongType = (value: GoValue, type: string): string =>
  `json: cannot unmarshal ${jsonTypeName(value)} into Go value of type ${type}`

/** The map that a text holds; an error becomes its entry `Error`. */
function toMap(read: () => ReadJson, prefix: string): GoValue {
  try {
    const { value, outOfRange } = read()
    // A null in JSON makes the map nil; sigs.k8s.io/yaml leaves the empty map as it is.
    if (value === null && !outOfRange) return prefix === '' ? new NamedMap(MAP, 'interface {}', null) : new Map()
    if (!(value instanceof Map)) return new Map([['Error', prefix + wrongType(value, MAP)]])
    return outOfRange ? new Map([...value, ['Error', outOfRange.message]]) : value
  } catch (error) {
    return new Map([['Error', messageOf(error)]])
  }
}

/** The list that a text holds; an error becomes its only item. */
function toList(read: () => ReadJson, prefix: string): GoValue {
  try {
    const { value, outOfRange } = read()
    if (value === null && !outOfRange) return prefix === '' ? new GoList(LIST, null) : []
    if (value === null || !itemsOf(value)) return [prefix + wrongType(value, LIST)]
    return outOfRange ? [outOfRange.message] : value
  } catch (error) {
    return [messageOf(error)]
  }
}

function messageOf(error: unknown): string {
  if (error instanceof JsonProblem || error instanceof YamlProblem || error instanceof TomlProblem) return error.message
  throw error
}

const inRange = (value: GoValue): ReadJson => ({ value, outOfRange: undefined })

const JSON_PREFIX = 'error unmarshaling JSON: while decoding JSON: '

/** The text, or nothing if the value cannot be expressed. */
function orEmpty(write: () => string, context: FunctionContext): string {
  let text: string
  try {
    text = write()
  } catch (error) {
    if (error instanceof FunctionError) return ''
    throw error
  }
  context.allocate(text.length)
  return text
}

const jsonFunction = (name: string, options: JsonWriteOptions, isErrorHidden: boolean): GoFunction =>
  fn(name, ['interface {}'], ([value], context) =>
    isErrorHidden ? orEmpty(() => writeJson(value, options), context) : writeJson(value, options),
  )

const trimNewline = (text: string): string => (text.endsWith('\n') ? text.slice(0, -1) : text)

/** Work grows with the text. */
function charged(text: string, context: FunctionContext): string {
  context.spend(text.length >>> 3)
  return normalize(text)
}

const PRETTY: JsonWriteOptions = { indent: '  ' }
const RAW: JsonWriteOptions = { isHtmlEscaped: false }

export const dataFunctions: readonly GoFunction[] = [
  jsonFunction('toJson', {}, true),
  jsonFunction('mustToJson', {}, false),
  jsonFunction('toPrettyJson', PRETTY, true),
  jsonFunction('mustToPrettyJson', PRETTY, false),
  jsonFunction('toRawJson', RAW, false),
  jsonFunction('mustToRawJson', RAW, false),
  fn('fromJson', ['string'], ([text], context) => toMap(() => readJson(toDisplay(charged(text, context))), '')),
  fn('fromJsonArray', ['string'], ([text], context) => toList(() => readJson(toDisplay(charged(text, context))), '')),
  fn('mustFromJson', ['string'], ([text], context) => {
    try {
      const { value, outOfRange } = readJson(toDisplay(charged(text, context)))
      if (outOfRange) throw outOfRange
      return value
    } catch (error) {
      throw new FunctionError(messageOf(error))
    }
  }),
  fn('toYaml', ['interface {}'], ([value], context) => orEmpty(() => trimNewline(yamlText(value)), context)),
  fn('toYamlPretty', ['interface {}'], ([value], context) =>
    orEmpty(() => trimNewline(prettyYamlText(value)), context),
  ),
  fn('fromYaml', ['string'], ([text], context) => toMap(() => inRange(parseYaml(charged(text, context))), JSON_PREFIX)),
  fn('fromYamlArray', ['string'], ([text], context) =>
    toList(() => inRange(parseYaml(charged(text, context))), JSON_PREFIX),
  ),
  fn('toToml', ['interface {}'], ([value]) => writeToml(value)),
  fn('fromToml', ['string'], ([text], context) => toMap(() => inRange(readToml(charged(text, context))), '')),
]
