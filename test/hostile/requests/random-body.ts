import type { Random } from '@tenure/kube'
import {
  type HostileRequest,
  MAX_BYTES,
  JSON_TYPE,
  YAML_TYPE,
  APPLY,
  JSON_PATCH,
  MERGE,
  STRATEGIC,
  PROTOBUF,
  many,
  json,
} from './request.ts'

const TYPES = [JSON_TYPE, YAML_TYPE, APPLY, JSON_PATCH, MERGE, STRATEGIC, PROTOBUF]
const WORDS = [
  'metadata',
  'name',
  'spec',
  'status',
  'data',
  'labels',
  'kind',
  'apiVersion',
  '__proto__',
  'constructor',
  '',
  'items',
  'rules',
  'a',
]

/** A random value with about `size` parts. */
function randomValue(random: Random, size: number, depth = 0): unknown {
  const chosen = random.fraction()
  if (size <= 1 || depth > 40) {
    return [null, true, -1, 1e308, '', 'a'.repeat(Math.floor(random.fraction() * 300)), '\u2028', [], {}][
      Math.floor(chosen * 9)
    ]
  }
  const count = Math.max(1, Math.floor(random.fraction() * Math.min(size, 50)))
  const parts = many(count, () => randomValue(random, size / count, depth + 1))
  if (chosen < 0.4) return parts
  return Object.fromEntries(parts.map((part, index) => [pick(random, WORDS) || `k${index}`, part]))
}

/** A random body and content type for any route. */
export function randomBody(random: Random): Pick<HostileRequest, 'type' | 'body'> {
  const type = pick(random, TYPES) ?? JSON_TYPE
  const kind = random.fraction()
  if (kind < 0.1) return { type, body: Buffer.from(random.bytes(1 + Math.floor(random.fraction() * 5_000))) }
  const text = type === JSON_PATCH ? randomPatch(random) : json(randomValue(random, 2 ** (random.fraction() * 13)))
  const length = kind < 0.2 ? Math.floor(random.fraction() * text.length) : MAX_BYTES
  return { type, body: text.slice(0, length) }
}

function randomPatch(random: Random): string {
  const path = (): string => `/${pick(random, WORDS)}/${Math.floor(random.fraction() * 3)}`
  const operation = (): object => ({
    op: pick(random, ['add', 'remove', 'replace', 'move', 'copy', 'test', 'x']),
    path: path(),
    from: path(),
    value: randomValue(random, 8),
  })
  return json(many(1 + Math.floor(random.fraction() * 500), operation))
}

function pick<T>(random: Random, from: readonly T[]): T | undefined {
  return from[Math.floor(random.fraction() * from.length)]
}
