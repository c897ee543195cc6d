import { hash } from 'node:crypto'

/** Digest of the parts, independent of the order of keys. */
export function revisionOf(...parts: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(parts, sortedKeys), 'hex').slice(0, 16)
}

function sortedKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
