/** A name for use in SQL text. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** Text that PostgreSQL can store: without NUL, and with every surrogate in a pair. */
export function storableText(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed()
}

/** JSON text for a json or jsonb parameter. Strings and keys that PostgreSQL cannot store are repaired. */
export function storableJson(value: unknown): string {
  return JSON.stringify(repaired(value)) ?? 'null'
}

function repaired(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value)
  if (Array.isArray(value)) return value.map(repaired)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [storableText(key), repaired(item)]))
}
