const LETTERS = 'bcdfghjklmnpqrstvwxz2456789'

/**
 * A short hash for names: FNV-1a of the value's JSON, encoded as in Kubernetes. The values differ from upstream, which
 * hashes Go's dump of its structs.
 */
export function shortHash(value: unknown, collisions = 0): string {
  let hash = 0x811c9dc5
  for (const byte of Buffer.from(`${canonicalJson(value)}${collisions > 0 ? `#${collisions}` : ''}`)) {
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0
  }
  return String(hash).replaceAll(/\d/g, (digit) => LETTERS.charAt(digit.charCodeAt(0) % LETTERS.length))
}

/** JSON with sorted keys, so that equal values have equal text. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${canonicalJson(field)}`).join(',')}}`
}
