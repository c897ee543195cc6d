import type { JsonObject } from '@tenure/kube/model'
import { isJsonObject } from '@tenure/kube/model'

import { append } from '../../model/append.ts'
import { invalidValue } from '../field-errors.ts'
import { schemaFromOpenApi } from '../openapi/convert.ts'
import type { FieldError, Schema } from '../types.ts'
import { noReferences } from '../validation/no-references.ts'
import { process } from '../validation/process.ts'

/** Validates that defaults match their schema and have no unknown fields. */
export function checkDefaults(schema: JsonObject, path: string, isRoot = false): FieldError[] {
  const errors: FieldError[] = []
  const value = schema['default']
  if (value !== undefined && value !== null) {
    const whole = isRoot ? { ...schema, 'x-kubernetes-embedded-resource': true } : schema
    append(errors, checkDefault(whole, value, `${path}.default`))
  }
  if (isJsonObject(schema['items'])) append(errors, checkDefaults(schema['items'], `${path}.items`))
  if (isJsonObject(schema['properties'])) {
    for (const [name, property] of Object.entries(schema['properties'])) {
      if (isJsonObject(property)) append(errors, checkDefaults(property, `${path}.properties[${name}]`))
    }
  }
  return errors
}

function checkDefault(schema: JsonObject, value: unknown, path: string): FieldError[] {
  // The default is wrapped in a field so that its `metadata` is not taken for that of a resource.
  const holder: Schema = { type: 'object', properties: { value: schemaFromOpenApi({ ...schema, default: undefined }) } }
  const { errors, unknown } = process(holder, noReferences, { value }, { default: false, prune: true })
  const unknownErrors = unknown.length > 0 ? [invalidValue(path, value, 'must not have unknown fields')] : []
  return [...unknownErrors, ...errors.map((error) => atPath(error, path))]
}

/** kube-apiserver validates the default alone, so its path is in `field` but not in `message`. */
function atPath({ reason, field, message }: FieldError, path: string): FieldError {
  const within = field === 'value' ? '' : field.replace(/^value/, '')
  return {
    reason,
    field: field === '<nil>' ? path : `${path}${within}`,
    message: message
      .replace(/^(Invalid value: (?:"(?:[^"\\]|\\.)*"|\S+): )value(\.?)/, '$1')
      .replace(/^(Invalid value: "": )"value\.?/, '$1"')
      .replace(/ in value\.?(\S*)$/, ' in $1'),
  }
}
