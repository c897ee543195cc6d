import type { JsonObject } from '@tenure/kube/model'
import { asJsonObject, asString } from '@tenure/kube/model'

import { append } from '../../model/append.ts'
import { invalidValue, tooLong } from '../../schema/field-errors.ts'
import type { FieldError } from '../../schema/types.ts'
import { createdAt, nameOf } from '../common/columns.ts'
import { MAX_DATA_BYTES, size, validateDataKey, validateImmutable } from '../common/data-keys.ts'
import type { KindTable } from '../common/kind-table.ts'

export const CONFIG_MAPS: KindTable = {
  configmaps: {
    columns: (object, age) => [
      nameOf(object),
      size(object['data']) + size(object['binaryData']),
      age(createdAt(object)),
    ],
    rules: {
      generation: false,
      validate: validateConfigMap,
      validateChange: (object, old) => validateImmutable(object, old, ['data', 'binaryData']),
    },
  },
}

function validateConfigMap(object: JsonObject): FieldError[] {
  const [data, binary] = [asJsonObject(object['data']), asJsonObject(object['binaryData'])]
  const errors: FieldError[] = []
  let bytes = 0
  for (const key of Object.keys(data)) {
    append(errors, validateDataKey('data', key))
    if (Object.hasOwn(binary, key)) {
      errors.push(invalidValue(`data[${key}]`, key, 'duplicate of key present in binaryData'))
    }
    bytes += Buffer.byteLength(asString(data[key]))
  }
  for (const key of Object.keys(binary)) {
    append(errors, validateDataKey('binaryData', key))
    bytes += Buffer.byteLength(asString(binary[key]), 'base64')
  }
  if (bytes > MAX_DATA_BYTES) errors.push(tooLong('[]', MAX_DATA_BYTES))
  return errors
}
