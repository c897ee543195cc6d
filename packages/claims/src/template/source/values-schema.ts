import { TenureError } from '@tenure/kube'
import { isJsonObject, type JsonObject } from '@tenure/kube/model'
import { readYaml } from '@tenure/yaml'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { RE2JS } from 're2js'

/** Checks the values of a caller: the first problem with its path, or undefined. */
export type ValuesCheck = (values: JsonObject) => string | undefined

/** Patterns run in linear time, because callers choose the texts that they match. */
function linearPattern(pattern: string): { test(text: string): boolean; toString(): string } {
  const compiled = RE2JS.compile(pattern)
  // Ajv tells patterns apart by their text.
  return { test: (text) => compiled.test(text), toString: () => pattern }
}
linearPattern.code = 'RE2'

/** Compiles a JSON Schema, in JSON or YAML. Throws a TenureError that names the file. */
export function valuesCheck(text: string, path: string): ValuesCheck {
  const ajv = new Ajv2020({ strict: false, allErrors: false, code: { regExp: linearPattern } })
  addFormats.default(ajv)
  try {
    const schema: unknown = readYaml(text).value
    if (!isJsonObject(schema) && typeof schema !== 'boolean') throw new Error('it is not a mapping')
    const validate = ajv.compile(schema)
    return (values) => {
      if (validate(values)) return undefined
      const [error] = validate.errors ?? []
      return `values${pathOf(error?.instancePath ?? '')} ${error?.message ?? 'is invalid'}`
    }
  } catch (cause) {
    const message = `The JSON Schema ${path} cannot be used: ${(cause as Error).message}.`
    throw new TenureError('TENURE_CONFIGURATION_INVALID', message, { cause, fate: 'terminal' })
  }
}

/** `/users/0/name` as `.users[0].name`. */
function pathOf(pointer: string): string {
  const parts = pointer.split('/').slice(1)
  return parts
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part}`))
    .join('')
}
