import type { Dispatcher, Pool, ProxyAgent } from 'undici'

export type { Dispatcher, Pool, ProxyAgent }

/**
 * Loads only undici's pool. Importing all of `undici` costs 29 MB and 130 ms of CPU over bare Node, its pool 15.6 MB and
 * 40 ms, half of it for TLS. The deep path has no types, so this is the only place that casts to those of the package.
 */
export function loadPool(): typeof Pool {
  const { createRequire } = process.getBuiltinModule('node:module')
  return createRequire(import.meta.url)('undici/lib/dispatcher/pool.js') as typeof Pool
}

/** A proxy needs methods that only the whole package adds to its dispatchers. */
export async function loadProxyAgent(): Promise<typeof ProxyAgent> {
  return (await import('undici')).ProxyAgent
}
