import type { Random } from '@tenure/kube'
import type { Secret } from '@tenure/kube/kinds'
import type { Engine } from '../engines/engine.ts'
import { hostOf } from './names.ts'

/** Decoded values of a Secret. */
export type SecretData = Readonly<Record<string, string>>

/** In characters; each has nearly 6 bits. */
const PASSWORD_LENGTH = 32
/** Letters and digits need no escaping in a URI, a shell or a configuration file. */
const PASSWORD_LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
/** The largest multiple of the alphabet's size in a byte: bytes from there on would favour the first letters. */
const MAX_FAIR_BYTE = 256 - (256 % PASSWORD_LETTERS.length)

/** A database and a user of its own, not the engine's, which other tools treat in special ways. */
const DEFAULT_DATABASE = 'app'
const DEFAULT_USERNAME = 'app'

export function newPassword(random: Random): string {
  let password = ''
  while (password.length < PASSWORD_LENGTH) {
    for (const byte of random.bytes(PASSWORD_LENGTH)) {
      if (byte < MAX_FAIR_BYTE && password.length < PASSWORD_LENGTH) {
        password += PASSWORD_LETTERS.charAt(byte % PASSWORD_LETTERS.length)
      }
    }
  }
  return password
}

/**
 * The credentials of a database: those of its Secret, completed by new ones. The server keeps the first password that it
 * gets, so an existing one is never replaced.
 */
export function credentialsOf(engine: Engine, existing: SecretData | undefined, random: Random): SecretData {
  const kept = (key: string, fallback: () => string): readonly [string, string] => [key, existing?.[key] || fallback()]
  return Object.fromEntries([
    kept('username', () => (engine.isReplicated ? 'default' : DEFAULT_USERNAME)),
    ...(engine.isReplicated ? [] : [kept('database', () => DEFAULT_DATABASE)]),
    ...engine.passwordKeys.map((key) => kept(key, () => newPassword(random))),
  ])
}

/** The decoded data of a Secret. */
export function secretDataOf(secret: Secret | undefined): SecretData | undefined {
  if (!secret) return undefined
  return Object.fromEntries(
    Object.entries(secret.data ?? {}).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
  )
}

/** The credentials with all that a client needs: host, port and URIs. */
export function connectionSecretData(
  engine: Engine,
  { name, namespace }: { readonly name: string; readonly namespace: string },
  credentials: SecretData,
): SecretData {
  const { username = '', password = '', database } = credentials
  const host = hostOf(name, namespace)
  const [user, secret] = [encodeURIComponent(username), encodeURIComponent(password)]
  const path = database === undefined ? '0' : encodeURIComponent(database)
  return {
    ...credentials,
    host,
    port: String(engine.port),
    uri: `${engine.uriScheme}://${user}:${secret}@${host}:${engine.port}/${path}`,
    ...(engine.jdbcScheme !== undefined && {
      jdbc_uri: `jdbc:${engine.jdbcScheme}://${host}:${engine.port}/${path}?user=${user}&password=${secret}`,
    }),
    ...(engine.secretFile && { [engine.secretFile.name]: engine.secretFile.render(password) }),
  }
}
