import path from 'node:path'

/** Programs that only wait: without anything, and with a TLS connection to the API server. */
export const BARE_PROGRAMS = {
  bare: path.join(import.meta.dirname, 'programs/bare.mjs'),
  tls: path.join(import.meta.dirname, 'programs/tls.mjs'),
} as const
