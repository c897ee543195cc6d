import { readFile } from 'node:fs/promises'
import { asError } from '@tenure/kube'
import { assignSetValue } from '@tenure/runtime/cli'
import { readYaml } from '@tenure/yaml'
import type { ClaimCliOptions } from './context.ts'
import { argumentError } from './exit-codes.ts'

type Values = Record<string, unknown>

/** The values of the file, then those of `--set` and `--set-string`, which win. Undefined if there are none. */
export async function readValues(
  options: Pick<ClaimCliOptions, 'values' | 'set' | 'setString'>,
): Promise<Values | undefined> {
  const { values: file, set = [], setString = [] } = options
  if (file === undefined && set.length + setString.length === 0) return undefined
  const values = file === undefined ? {} : await valuesFile(file)
  for (const pair of set) assign(values, '--set', pair)
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

function assign(values: Values, flag: string, pair: string, convert?: (text: string) => unknown): void {
  if (assignSetValue(values, pair, convert)) return
  throw argumentError(`${flag} ${pair} is not a value: write key=value, such as browser.version=120.`)
}

function isValues(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
