/** Helm's functions for YAML. */
import { readYaml, writeYaml } from '@tenure/yaml'
import type { YamlValue } from '@tenure/yaml'

import { hasInvalidBytes, normalize, toBytes, toDisplay } from '../values/bytes.ts'
import { FunctionError } from '../values/go-function.ts'
import { GoComplex, GoInt, GoList, GoStruct, itemsOf, NamedMap } from '../values/values.ts'
import type { GoValue } from '../values/values.ts'
import { work } from '../values/work.ts'
import { fromJavaScript } from './outside-values.ts'
import { bytesOf, jsonFields, writeJson } from './json-write.ts'

/** Malformed YAML, with the message of sigs.k8s.io/yaml. */
export class YamlProblem extends Error {}

export function parseYaml(text: string): GoValue {
  if (hasInvalidBytes(text)) throw new YamlProblem('error converting YAML to JSON: yaml: invalid leading UTF-8 octet')
  try {
    return fromJavaScript(readYaml(text).value)
  } catch (error) {
    throw new YamlProblem(`error converting YAML to JSON: ${(error as Error).message}`)
  }
}

/** As sigs.k8s.io/yaml prints it. Throws if the value has no JSON form. */
export const yamlText = (value: GoValue): string => writeYaml(asJson(value))

/** As go-yaml 3 prints it with an indentation of two. */
export const prettyYamlText = (value: GoValue): string => writeYaml(asYaml(value), { style: 'pretty' })

/** The value that JSON makes of it. */
function asJson(value: GoValue): YamlValue {
  work(typeof value === 'string' ? 1 + (value.length >>> 6) : 1)
  if (value === null || value === undefined) return null
  switch (typeof value) {
    case 'string':
      return asJsonText(value)
    case 'number':
      if (!Number.isFinite(value)) throw new FunctionError('json: unsupported value')
      return value
    case 'boolean':
      return value
    default:
  }
  if (value instanceof GoInt) return value.value
  if (value instanceof NamedMap && value.isNil) return null
  if (value instanceof Map) return new Map([...value].map(([key, item]) => [asJsonKey(key), asJson(item)]))
  if (value instanceof GoStruct) {
    if (value.options.json) return asJson(value.options.json())
    return new Map(jsonFields(value).map(([key, item]) => [key, asJson(item)]))
  }
  if (value instanceof GoList) {
    if (value.isNil) return null
    if (value.type === '[]uint8') return bytesOf(value).toString('base64')
  }
  const items = itemsOf(value)
  if (!items) throw new FunctionError('json: unsupported type')
  return items.map(asJson)
}

/** Characters that JSON does not escape but YAML does not accept. */
const UNREADABLE = /[\u007F-\u0084\u0086-\u009F\uFFFE\uFFFF]/

/** A mark at the start of a line, which ends a document even in quotes. */
const DOCUMENT_MARK = /\u0085(?:---|\.\.\.)[ \u0085]/

/** Text after JSON, which YAML reads: it takes NEL for a line break and folds it. */
function asJsonText(text: string): string {
  const shown = toDisplay(text)
  if (UNREADABLE.test(shown)) throw new FunctionError('yaml: control characters are not allowed')
  if (DOCUMENT_MARK.test(shown)) throw new FunctionError('yaml: found unexpected document indicator')
  return shown.replaceAll(/ *\u0085(?: *\u0085)* */g, (breaks) => {
    const count = breaks.replaceAll(' ', '').length
    return count === 1 ? ' ' : '\n'.repeat(count - 1)
  })
}

/** The quoted text of a key, in characters; YAML reads no longer ones. */
const MAX_KEY_LENGTH = 1024

/** A key after JSON, which YAML reads: it must be on one line. */
function asJsonKey(key: string): string {
  const text = asJsonText(key)
  if (key.includes('\u0085')) throw new FunctionError('yaml: mapping values are not allowed in this context')
  // An escaped character is six times as long.
  if (key.length * 6 > MAX_KEY_LENGTH && Array.from(writeJson(key)).length > MAX_KEY_LENGTH) {
    throw new FunctionError("yaml: could not find expected ':'")
  }
  return text
}

/** The value as go-yaml sees it without JSON. */
function asYaml(value: GoValue): YamlValue {
  work(typeof value === 'string' ? 1 + (value.length >>> 6) : 1)
  if (value === null || value === undefined) return null
  if (typeof value === 'string') {
    const text = normalize(value)
    return hasInvalidBytes(text) ? toBytes(text) : text
  }
  if (typeof value !== 'object') return value
  if (value instanceof GoInt) return value.value
  if (value instanceof Map) return new Map([...value].map(([key, item]) => [key, asYaml(item)]))
  if (value instanceof GoStruct) {
    if (value.options.json) return asYaml(value.options.json())
    return new Map(
      value.fields
        .filter(({ name }) => /^[A-Z]/.test(name))
        .map(({ name, value: field }) => [name.toLowerCase(), asYaml(field)]),
    )
  }
  if (value instanceof GoComplex) throw new FunctionError('cannot marshal type: complex128')
  return (itemsOf(value) ?? []).map(asYaml)
}
