/** Helm converts these, and nothing else: `1.0` and `007` stay strings. */
const INTEGER = /^(?:0|-?[1-9]\d*)$/

/**
 * Sets `a.b=c`, as Helm's `--set` does. A backslash before a dot keeps it in the key. `convert` makes the value. Returns
 * false if the text is not a pair; the caller knows the flag to name.
 */
export function assignSetValue(
  values: Record<string, unknown>,
  pair: string,
  convert: (text: string) => unknown = setValueOf,
): boolean {
  const equals = pair.indexOf('=')
  const path = pair.slice(0, equals).split(/(?<!\\)\./)
  const keys = path.map((key) => key.replaceAll('\\.', '.'))
  const last = keys.pop()
  if (equals < 1 || last === undefined || [...keys, last].some((key) => key === '' || key === '__proto__')) return false
  let object = values
  for (const key of keys) {
    const inner = Object.hasOwn(object, key) ? object[key] : undefined
    const next = isValues(inner) ? inner : {}
    object[key] = next
    object = next
  }
  object[last] = convert(pair.slice(equals + 1))
  return true
}

/** A text with the type that Helm infers. */
function setValueOf(text: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true'
  if (text === 'null') return null
  return INTEGER.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : text
}

function isValues(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
