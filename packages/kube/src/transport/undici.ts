import type { Dispatcher, Pool, ProxyAgent } from 'undici'

export type { Dispatcher, Pool, ProxyAgent }

/**
 * undici's pool without the rest, loaded when first needed. Importing `undici` as a whole costs 29 MB and 130 ms of CPU
 * over bare Node; its pool alone 15.6 MB and 40 ms, of which TLS is half. The deep path has no types of its own, so the
 * package's are put on it here and nowhere else.
 */
export function loadPool(): typeof Pool {
  const { createRequire } = process.getBuiltinModule('node:module')
  return createRequire(import.meta.url)('undici/lib/dispatcher/pool.js') as typeof Pool
}

/** A proxy needs methods that only the whole package puts on its dispatchers. */
export async function loadProxyAgent(): Promise<typeof ProxyAgent> {
  return (await import('undici')).ProxyAgent
}
