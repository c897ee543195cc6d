import type { JsonObject } from '@tenure/kube/model'
import { asJsonObject, asString, isJsonObject, valueAtPath } from '@tenure/kube/model'

import { append } from '../../model/append.ts'
import { filledUnset, withField } from '../../model/json.ts'
import { invalidValue, required, tooLong } from '../../schema/field-errors.ts'
import type { FieldError } from '../../schema/types.ts'
import { createdAt, nameOf } from '../common/columns.ts'
import { MAX_DATA_BYTES, size, validateDataKey, validateImmutable } from '../common/data-keys.ts'
import type { KindTable } from '../common/kind-table.ts'
import { unchanged } from '../common/labels.ts'

export const SECRETS: KindTable = {
  secrets: {
    columns: (object, age) => [nameOf(object), asString(object['type']), size(object['data']), age(createdAt(object))],
    rules: {
      generation: false,
      defaults: defaultSecret,
      validate: validateSecret,
      validateChange: (object, old) => [
        ...unchanged('type', object['type'], old['type']),
        ...validateImmutable(object, old, ['data']),
      ],
      selectableFields: { type: (object) => asString(valueAtPath(object, 'type')) },
    },
  },
}

/** Moves `stringData` to `data`; it takes precedence. */
function defaultSecret(given: JsonObject): JsonObject {
  let secret = filledUnset(given, { type: 'Opaque' })
  const texts = secret['stringData']
  if (isJsonObject(texts) && Object.keys(texts).length > 0) {
    const encoded = Object.entries(texts).map(([key, text]) => [key, Buffer.from(asString(text)).toString('base64')])
    const data: unknown = Object.fromEntries([...Object.entries(asJsonObject(secret['data'])), ...encoded])
    secret = withField(secret, 'data', data)
  }
  return withField(secret, 'stringData', undefined)
}

/** Keys that a secret must have, by its type. */
const REQUIRED_KEYS = new Map([
  ['kubernetes.io/dockercfg', ['.dockercfg']],
  ['kubernetes.io/dockerconfigjson', ['.dockerconfigjson']],
  ['kubernetes.io/ssh-auth', ['ssh-privatekey']],
  ['kubernetes.io/tls', ['tls.crt', 'tls.key']],
])

function validateSecret(object: JsonObject): FieldError[] {
  const data = asJsonObject(object['data'])
  const type = asString(object['type'])
  const errors: FieldError[] = []
  let bytes = 0
  for (const [key, value] of Object.entries(data)) {
    append(errors, validateDataKey('data', key))
    bytes += Buffer.byteLength(asString(value), 'base64')
  }
  if (bytes > MAX_DATA_BYTES) errors.push(tooLong('data', MAX_DATA_BYTES))
  for (const key of REQUIRED_KEYS.get(type) ?? []) {
    if (!Object.hasOwn(data, key)) errors.push(required(`data[${key}]`))
    else if (type.startsWith('kubernetes.io/docker')) append(errors, validateDockerConfig(key, asString(data[key])))
  }
  if (type === 'kubernetes.io/basic-auth' && !Object.hasOwn(data, 'username') && !Object.hasOwn(data, 'password')) {
    errors.push(required('data[username]'), required('data[password]'))
  }
  if (type === 'kubernetes.io/service-account-token') {
    const key = 'kubernetes.io/service-account.name'
    if (!valueAtPath(object, 'metadata', 'annotations', key)) errors.push(required(`metadata.annotations[${key}]`))
  }
  return errors
}

function validateDockerConfig(key: string, encoded: string): FieldError[] {
  const text = Buffer.from(encoded, 'base64').toString()
  try {
    if (isJsonObject(JSON.parse(text))) return []
  } catch {
    // Reported below.
  }
  const detail =
    text === '' ? 'unexpected end of JSON input' : `invalid character '${text[0]}' looking for beginning of value`
  return [invalidValue(`data[${key}]`, '<secret contents redacted>', detail)]
}
