import { asJsonObject, isJsonObject, type JsonObject } from '@tenure/kube/model'

/** The changes that the operator recorded in the details of an audit row. Rows of other programs have none. */
export function recordedChanges(details: unknown): readonly JsonObject[] {
  const { changes } = asJsonObject(details)
  return Array.isArray(changes) ? changes.filter(isJsonObject) : []
}

/** One line for each change, `replicas: 1 → 3`, or the error that was recorded instead. */
export function changeLines(details: unknown): readonly string[] {
  const lines = recordedChanges(details).map(({ field, from, to }) =>
    from === undefined
      ? `${plainText(field)}: ${plainText(to)}`
      : `${plainText(field)}: ${plainText(from)} → ${plainText(to)}`,
  )
  if (lines.length > 0) return lines
  const { error } = asJsonObject(details)
  return typeof error === 'string' && error !== '' ? [error] : []
}

/** A value of a row in a sentence: text as it is, anything else as JSON. */
export function plainText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '-')
}
