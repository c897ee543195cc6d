import { type Engine, ENGINE_NAMES, type EngineLayout } from './engine.ts'
import { mariadb } from './mariadb.ts'
import { postgresql } from './postgresql.ts'
import { redis, valkey } from './redis.ts'

export const ENGINES: Readonly<Record<(typeof ENGINE_NAMES)[number], Engine>> = { postgresql, mariadb, redis, valkey }

/** The platform names a type `postgresql` or `db-postgresql`. */
const ALIAS_PREFIX = 'db-'

/** The engine of a resource type; undefined if the operator has none. */
export function engineOf(type: string): Engine | undefined {
  const name = type.startsWith(ALIAS_PREFIX) ? type.slice(ALIAS_PREFIX.length) : type
  const known = ENGINE_NAMES.find((engine) => engine === name)
  return known && ENGINES[known]
}

/** The layout of a major version; undefined if the table does not have it. */
export function layoutOf(engine: Engine, major: string): EngineLayout | undefined {
  const exact = engine.layouts.get(major)
  if (exact) return exact
  const [first = '', second] = major.split('.')
  if (second === undefined) return undefined
  // `12` stands for every series of MariaDB 12, and `11.x`, the moving tag `11`, ends at the last series of 11.
  const last = [...engine.layouts.keys()].findLast((known) => known === first || known.startsWith(`${first}.`))
  return last !== undefined && (last === first || second === 'x') ? engine.layouts.get(last) : undefined
}

/** The supported versions, for messages: `14, 15, 16, 17, 18`. */
export const supportedVersions = (engine: Engine): string => [...engine.layouts.keys()].join(', ')
