import { SecretValue, TenureError } from '@tenure/kube'
import type { DatabasesSettings } from '../config.ts'
import type { DatabaseAddress } from './database.ts'

export type ServerSettings = Pick<
  DatabasesSettings,
  'dbHost' | 'dbName' | 'dbPassword' | 'dbPort' | 'dbSslMode' | 'dbUser'
>

/** The server of the settings. Throws if it needs a password and none is set: the operator could only wait for ever. */
export function serverAddress(settings: ServerSettings): DatabaseAddress {
  const { dbHost, dbName, dbPassword, dbPort, dbSslMode, dbUser } = settings
  if (!dbPassword && needsPassword(dbHost)) {
    throw new TenureError(
      'TENURE_DATABASE_PASSWORD_MISSING',
      `DB_PASSWORD is not set, and the PostgreSQL server ${dbHost} needs it: set it to the password of the user ${dbUser}.`,
    )
  }
  const password = dbPassword ? new SecretValue(dbPassword) : undefined
  return { host: dbHost, port: dbPort, user: dbUser, password, database: dbName, sslMode: dbSslMode }
}

/** A Unix socket tells the server which user connects, and `tenure start` knows the password of its own server. */
function needsPassword(host: string): boolean {
  return host !== 'embedded' && !host.startsWith('/')
}
