import { silentLogger } from '@tenure/runtime'
import { OUTPUT_FORMATS, outputMeaning } from '@tenure/runtime/cli'
import type { ResourceRow } from '../api/rows.ts'
import { dbArgumentError } from '../platform/argument-error.ts'
import { deleted, paused, resumed } from '../platform/changes.ts'
import { PlatformRows } from '../platform/rows.ts'
import { connectDatabase } from '../postgres/connection.ts'
import { findAddress } from './address.ts'
import { changeDatabase, configChange, createDatabase } from './change.ts'
import type { DbCliContext, DbCliOptions } from './context.ts'
import { dbExitCode, describeDbFailure } from './failures.ts'
import { dbFormatOf, followDatabases, writeDetails, writeRows } from './output.ts'

const MAX_SHOWN_RECORDS = 10

/** One of the commands of `tenure db`, independent of the command line parser. */
export interface DbCommand {
  readonly name: string
  readonly summary: string
  readonly arguments: readonly DbCommandArgument[]
  readonly options: readonly DbCommandOption[]
  /** Resolves with the exit code. Failures are written to standard error. */
  run(context: DbCliContext, operands: readonly string[], options: DbCliOptions): Promise<number>
}

export interface DbCommandArgument {
  readonly name: string
  readonly meaning: string
  /** Takes all further words. Default false. */
  readonly isVariadic?: boolean
}

export interface DbCommandOption {
  /** The option that receives the value. */
  readonly key: keyof DbCliOptions
  /** `-o, --output <format>`. */
  readonly flags: string
  readonly meaning: string
  /** The only values. Default: any. */
  readonly choices?: readonly string[]
  /** May be given several times; the values become a list. Default false. */
  readonly isRepeatable?: boolean
}

const NAME: DbCommandArgument = { name: 'name', meaning: 'Name of the database, or the id of its row.' }
const URL_OPTION: DbCommandOption = {
  key: 'databaseUrl',
  flags: '--database-url <url>',
  meaning:
    'PostgreSQL with the rows. Default: DATABASE_URL, then DB_HOST and so on, then the file postgres-url of npm start.',
}
const OUTPUT: DbCommandOption = {
  key: 'output',
  flags: '-o, --output <format>',
  meaning: outputMeaning(),
  choices: OUTPUT_FORMATS,
}
const WATCH: DbCommandOption = {
  key: 'watch',
  flags: '-w, --watch',
  meaning: 'Show changes as they happen, until Ctrl-C.',
}
const TEAM: DbCommandOption = { key: 'team', flags: '--team <name>', meaning: 'Team of the database.' }
const WAITING: readonly DbCommandOption[] = [
  { key: 'wait', flags: '--no-wait', meaning: 'Write the row and do not wait until the operator is done.' },
  { key: 'timeout', flags: '--timeout <duration>', meaning: 'Stop waiting after this time. Default 10m.' },
]
const CHANGING = [TEAM, ...WAITING, OUTPUT, URL_OPTION]

type Run = (
  context: DbCliContext,
  rows: PlatformRows,
  operands: readonly string[],
  options: DbCliOptions,
) => Promise<number>

export const dbCommands: readonly DbCommand[] = [
  define({
    name: 'create',
    summary: 'Create a database and wait until it runs.',
    arguments: [{ name: 'name', meaning: 'Name of the database and of its Kubernetes objects.' }],
    options: [
      {
        key: 'type',
        flags: '--type <type>',
        meaning: 'Engine: postgresql, mariadb, redis or valkey.',
        choices: ['postgresql', 'mariadb', 'redis', 'valkey'],
      },
      { ...TEAM, meaning: 'Team of the database, created if there is none of that name. Default "default".' },
      { key: 'version', flags: '--version <version>', meaning: 'Version of the engine. Default: the one of its type.' },
      { key: 'replicas', flags: '--replicas <n>', meaning: 'Pods. Default 1.' },
      { key: 'storage', flags: '--storage <size>', meaning: 'Size of the volume, such as 10Gi. Default 1Gi.' },
      {
        key: 'set',
        flags: '--set <key=value>',
        meaning: 'Another config key, such as settings.max_connections=200. Repeatable.',
        isRepeatable: true,
      },
      ...WAITING,
      OUTPUT,
      URL_OPTION,
    ],
    run: (context, rows, [name = ''], options) => createDatabase(context, rows, name, options),
  }),
  define({
    name: 'list',
    summary: 'List databases.',
    arguments: [],
    options: [
      { ...TEAM, meaning: 'Only databases of this team.' },
      { key: 'all', flags: '--all', meaning: 'Deleted ones too.' },
      OUTPUT,
      WATCH,
      URL_OPTION,
    ],
    async run(context, rows, _operands, options) {
      const format = dbFormatOf(options)
      const read = (): Promise<readonly ResourceRow[]> => rows.list({ isAll: options.all ?? false, team: options.team })
      if (options.watch) await followDatabases(context, format, read)
      else writeRows(context, format, await read())
      return 0
    },
  }),
  define({
    name: 'show',
    summary: 'Show a database, its address, its jobs and its audit trail.',
    arguments: [NAME],
    options: [TEAM, OUTPUT, URL_OPTION],
    async run(context, rows, [name = ''], options) {
      const format = dbFormatOf(options)
      const row = await rows.find(name, options.team, 'all')
      const jobs = await rows.jobs(row.id, MAX_SHOWN_RECORDS)
      writeDetails(context, format, row, { jobs, audit: await rows.audit(row.id, MAX_SHOWN_RECORDS) })
      return 0
    },
  }),
  define({
    name: 'scale',
    summary: 'Change the number of pods.',
    arguments: [NAME],
    options: [{ key: 'replicas', flags: '--replicas <n>', meaning: 'Pods.' }, ...CHANGING],
    async run(context, rows, [name = ''], options) {
      const { replicas } = options
      if (replicas === undefined) throw dbArgumentError('--replicas is missing: write the number of pods.')
      return await changeDatabase(context, rows, name, options, (row) =>
        configChange(context, row, [`replicas=${replicas}`]),
      )
    },
  }),
  define({
    name: 'set',
    summary: 'Change config keys.',
    arguments: [
      NAME,
      {
        name: 'key=value',
        meaning: 'Such as storage_size=20Gi, version=16.4 or settings.max_connections=200; null takes a key away.',
        isVariadic: true,
      },
    ],
    options: CHANGING,
    run: (context, rows, [name = '', ...pairs], options) =>
      changeDatabase(context, rows, name, options, (row) => configChange(context, row, pairs)),
  }),
  define({
    name: 'pause',
    summary: 'Stop the pods and keep the volumes.',
    arguments: [NAME],
    options: CHANGING,
    run: (context, rows, [name = ''], options) => changeDatabase(context, rows, name, options, paused),
  }),
  define({
    name: 'resume',
    summary: 'Start the pods of a paused database.',
    arguments: [NAME],
    options: CHANGING,
    run: (context, rows, [name = ''], options) => changeDatabase(context, rows, name, options, resumed),
  }),
  define({
    name: 'delete',
    summary: 'Delete a database; its volumes stay.',
    arguments: [NAME],
    options: [{ key: 'deleteData', flags: '--delete-data', meaning: 'Delete the volumes too.' }, ...CHANGING],
    async run(context, rows, [name = ''], options) {
      const { deleteData: isDataDeleted = false } = options
      const code = await changeDatabase(context, rows, name, options, (row) => deleted(row, isDataDeleted))
      if (!isDataDeleted) context.warn('Its volumes stay. The Secret with their password goes.')
      return code
    },
  }),
]

/** Adds the connection, and the report of failures with their exit codes. */
function define({ run, ...command }: Omit<DbCommand, 'run'> & { readonly run: Run }): DbCommand {
  return {
    ...command,
    async run(context, operands, options) {
      let source = ''
      try {
        const found = await findAddress(context, options)
        source = found.source
        const { clock, random } = context
        const database = connectDatabase({
          address: found.address,
          clock,
          random,
          // A failure is reported once, by the command itself.
          log: silentLogger,
          applicationName: 'tenure-db',
          maxConnections: 1,
        })
        try {
          return await run(context, await PlatformRows.open(database), operands, options)
        } finally {
          await database.close()
        }
      } catch (error) {
        context.warn(describeDbFailure(error, source))
        return dbExitCode(error)
      }
    },
  }
}
