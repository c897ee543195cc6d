import { canonicalJson } from './json.ts'

const LETTERS = 'bcdfghjklmnpqrstvwxz2456789'

/**
 * A short name for a value: FNV-1a of its JSON, written as Kubernetes writes such hashes. The numbers differ from the
 * real ones, which hash Go's own dump of its structs.
 */
export function shortHash(value: unknown, collisions = 0): string {
  let hash = 0x811c9dc5
  for (const byte of Buffer.from(`${canonicalJson(value)}${collisions > 0 ? `#${collisions}` : ''}`)) {
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0
  }
  return String(hash).replaceAll(/\d/g, (digit) => LETTERS.charAt(digit.charCodeAt(0) % LETTERS.length))
}
