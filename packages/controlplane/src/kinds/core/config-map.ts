import type { Json } from '../../model/json.ts'
import { asJson, asText } from '../../model/json.ts'
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

function validateConfigMap(object: Json): FieldError[] {
  const [data, binary] = [asJson(object['data']), asJson(object['binaryData'])]
  const errors: FieldError[] = []
  let bytes = 0
  for (const key of Object.keys(data)) {
    errors.push(...validateDataKey('data', key))
    if (Object.hasOwn(binary, key)) {
      errors.push(invalidValue(`data[${key}]`, key, 'duplicate of key present in binaryData'))
    }
    bytes += Buffer.byteLength(asText(data[key]))
  }
  for (const key of Object.keys(binary)) {
    errors.push(...validateDataKey('binaryData', key))
    bytes += Buffer.byteLength(asText(binary[key]), 'base64')
  }
  if (bytes > MAX_DATA_BYTES) errors.push(tooLong('[]', MAX_DATA_BYTES))
  return errors
}
