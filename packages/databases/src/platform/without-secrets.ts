import { isJsonObject, type JsonObject } from '@tenure/kube/model'

/** A key with such a name should not be there; its value is not shown. */
const SECRET_KEY = /pass|secret|token|credential/i
const HIDDEN = '<hidden>'

/** A document of a row without the values that may be passwords. */
export function withoutSecrets(document: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(document).map(([key, value]) => [key, SECRET_KEY.test(key) ? HIDDEN : shown(value)]),
  )
}

function shown(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shown)
  return isJsonObject(value) ? withoutSecrets(value) : value
}
