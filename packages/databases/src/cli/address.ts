import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { asError, SecretValue } from '@tenure/kube'
import { defineConfiguration, readConfiguration } from '@tenure/runtime/configuration'
import { databasesConfig } from '../config.ts'
import { POSTGRES_URL_FILE } from '../embedded-postgres/embedded-postgres.ts'
import { type DatabaseAddress, SSL_MODES } from '../postgres/database.ts'
import { dbArgumentError } from '../platform/argument-error.ts'
import type { DbCliContext, DbCliOptions } from './context.ts'

const DEFAULT_DATA = '.tenure'
const DEFAULT_PORT = 5432

const { dbHost, dbPort, dbUser, dbPassword, dbName, dbSslMode } = databasesConfig
const configuration = defineConfiguration({
  program: 'tenure db',
  summary: 'Databases as rows of PostgreSQL.',
  options: { dbHost, dbPort, dbUser, dbPassword, dbName, dbSslMode },
})
/** Any of them means that the operator's own settings are meant. */
const VARIABLES = ['DB_HOST', 'DB_PORT', 'DB_USER', 'DB_PASSWORD', 'DB_NAME', 'DB_SSL_MODE']

export interface FoundAddress {
  readonly address: DatabaseAddress
  /** Where it was found, for messages. It has no password. */
  readonly source: string
}

/** `--database-url`, then DATABASE_URL, then the DB_ variables, then the file that `npm start` writes. */
export async function findAddress(
  { environment: env, warn }: DbCliContext,
  options: DbCliOptions,
): Promise<FoundAddress> {
  if (options.databaseUrl !== undefined)
    return { address: addressOfUrl(options.databaseUrl, '--database-url'), source: '--database-url' }
  const url = env['DATABASE_URL']
  if (url) return { address: addressOfUrl(url, 'DATABASE_URL'), source: 'DATABASE_URL' }
  if (VARIABLES.some((name) => env[name]))
    return { address: await addressOfVariables(env), source: 'DB_HOST and the other DB_ variables' }
  const file = path.join(env['TENURE_DATA'] || DEFAULT_DATA, POSTGRES_URL_FILE)
  const address = addressOfUrl(await readUrlFile(file), file)
  warn(`No database is named: using the PostgreSQL of ${file}, which npm start wrote.`)
  return { address, source: file }
}

/** The text may hold a password, so no message quotes it. */
function addressOfUrl(text: string, source: string): DatabaseAddress {
  const url = URL.parse(text.trim())
  if (!url || !/^postgres(?:ql)?:$/.test(url.protocol))
    throw dbArgumentError(`${source} is not a URL such as postgres://user@host:5432/database.`)
  const given = url.searchParams.get('sslmode') ?? 'disable'
  const sslMode = SSL_MODES.find((mode) => mode === given)
  if (!sslMode) throw dbArgumentError(`${source} has an unknown sslmode: use ${SSL_MODES.join(', ')}.`)
  const password = decoded(url.password, source)
  return {
    host: decoded(url.hostname, source).replace(/^\[(.*)\]$/, '$1') || 'localhost',
    port: url.port === '' ? DEFAULT_PORT : Number(url.port),
    user: decoded(url.username, source) || dbUser.default,
    password: password === '' ? undefined : new SecretValue(password),
    database: decoded(url.pathname.slice(1), source) || dbName.default,
    sslMode,
  }
}

function decoded(text: string, source: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw dbArgumentError(`${source} has a "%" that is not followed by two hexadecimal digits: write %25 for it.`)
  }
}

async function addressOfVariables(environment: DbCliContext['environment']): Promise<DatabaseAddress> {
  const loaded = await readConfiguration(configuration, { argv: [], environment })
  if (loaded.kind === 'help') throw dbArgumentError(loaded.text)
  const { values } = loaded
  return {
    host: values.dbHost,
    port: values.dbPort,
    user: values.dbUser,
    password: values.dbPassword === undefined ? undefined : new SecretValue(values.dbPassword),
    database: values.dbName,
    sslMode: values.dbSslMode,
  }
}

async function readUrlFile(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw dbArgumentError(
      `No database is named, and ${file} cannot be read (${asError(error).message}). Run npm start here, or set --database-url, DATABASE_URL or DB_HOST.`,
      error,
    )
  }
}
