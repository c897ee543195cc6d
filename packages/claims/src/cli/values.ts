import { readFile } from 'node:fs/promises'
import { asError } from '@tenure/kube'
import { readYaml } from '@tenure/yaml'
import type { ClaimCliOptions } from './context.ts'
import { argumentError } from './exit-codes.ts'

type Values = Record<string, unknown>

/** Helm converts these, and nothing else: `1.0` and `007` stay strings. */
const INTEGER = /^(?:0|-?[1-9]\d*)$/

/** The values of the file, then those of `--set` and `--set-string`, which win. Undefined if there are none. */
export async function readValues(
  options: Pick<ClaimCliOptions, 'values' | 'set' | 'setString'>,
): Promise<Values | undefined> {
  const { values: file, set = [], setString = [] } = options
  if (file === undefined && set.length + setString.length === 0) return undefined
  const values = file === undefined ? {} : await valuesFile(file)
  for (const pair of set) assign(values, '--set', pair, typed)
  for (const pair of setString) assign(values, '--set-string', pair, String)
  return values
}

async function valuesFile(file: string): Promise<Values> {
  let value: unknown
  try {
    value = readYaml(await readFile(file, 'utf8')).value ?? {}
  } catch (error) {
    throw argumentError(`--values ${file} cannot be read: ${asError(error).message}`, error)
  }
  if (!isValues(value)) throw argumentError(`--values ${file} must hold an object, not ${JSON.stringify(value)}.`)
  return value
}

/** Sets `a.b=c`. A backslash before a dot keeps it in the key. */
function assign(values: Values, flag: string, pair: string, convert: (text: string) => unknown): void {
  const equals = pair.indexOf('=')
  const path = pair.slice(0, equals).split(/(?<!\\)\./)
  const keys = path.map((key) => key.replaceAll('\\.', '.'))
  const last = keys.pop()
  if (equals < 1 || last === undefined || [...keys, last].some((key) => key === '' || key === '__proto__')) {
    throw argumentError(`${flag} ${pair} is not a value: write key=value, such as browser.version=120.`)
  }
  let object = values
  for (const key of keys) {
    const inner = Object.hasOwn(object, key) ? object[key] : undefined
    const next: Values = isValues(inner) ? inner : {}
    object[key] = next
    object = next
  }
  object[last] = convert(pair.slice(equals + 1))
}

function typed(text: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true'
  if (text === 'null') return null
  return INTEGER.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : text
}

function isValues(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
