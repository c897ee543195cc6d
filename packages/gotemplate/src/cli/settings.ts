/** Values from files and from `--set`. */
import { TemplateError } from '../errors.ts'
import { parseYaml, YamlProblem } from '../data/yaml.ts'
import type { GoMap, GoValue } from '../values/values.ts'
import { GoInt } from '../values/values.ts'

/** Merges the files, the later ones over the earlier ones, and then applies the settings. */
export function withSettings(files: readonly string[], settings: readonly string[]): GoMap {
  const values: GoMap = new Map()
  for (const file of files) merge(values, readValues(file))
  for (const setting of settings) {
    // A comma separates settings unless a backslash is before it.
    for (const each of setting.split(/(?<!\\),/)) apply(values, each.replaceAll('\\,', ','))
  }
  return values
}

function readValues(text: string): GoMap {
  try {
    const value = parseYaml(text)
    if (value instanceof Map) return value
    if (value === null) return new Map()
  } catch (error) {
    if (!(error instanceof YamlProblem)) throw error
    throw new TemplateError('values', error.message, { cause: error })
  }
  throw new TemplateError('values', 'The values must be a mapping.')
}

function merge(target: GoMap, source: GoMap): void {
  for (const [key, value] of source) {
    const old = target.get(key)
    if (old instanceof Map && value instanceof Map) merge(old, value)
    else target.set(key, value)
  }
}

function apply(values: GoMap, setting: string): void {
  const equals = setting.indexOf('=')
  if (equals < 0) throw new TemplateError('values', `--set ${setting} has no value: write key=value.`)
  const path = setting
    .slice(0, equals)
    .split(/(?<!\\)\./)
    .map((name) => name.replaceAll('\\.', '.'))
  const last = path.pop() ?? ''
  let table = values
  for (const name of path) {
    const next = table.get(name)
    if (next instanceof Map) table = next
    else {
      const created: GoMap = new Map()
      table.set(name, created)
      table = created
    }
  }
  table.set(last, typed(setting.slice(equals + 1)))
}

/** Helm's types of settings: whole numbers, booleans, null, lists in braces, else text. */
function typed(text: string): GoValue {
  if (text === 'true' || text === 'false') return text === 'true'
  if (text === 'null') return null
  if (/^(?:0|-?[1-9]\d{0,17})$/.test(text)) return new GoInt('int64', BigInt(text))
  if (/^\{.*\}$/s.test(text))
    return text
      .slice(1, -1)
      .split(',')
      .filter((item) => item !== '')
      .map(typed)
  return text
}
