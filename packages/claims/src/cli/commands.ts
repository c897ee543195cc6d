import { OUTPUT_FORMATS, outputMeaning } from '@tenure/runtime/cli'
import { addressOf, clientOf, timeoutOf } from './client.ts'
import type { ClaimCliContext, ClaimCliOptions } from './context.ts'
import { argumentError, describeFailure, EXIT_CODES, isUsageError } from './exit-codes.ts'
import { expiry, followClaims, formatOf, nameOf, writeDetails, writeList, writeValue } from './output.ts'
import { takeClaim } from './take.ts'

/** `tenure claim` or one of its subcommands, independent of the command line parser. */
export interface ClaimCommand {
  readonly name: string
  readonly summary: string
  readonly arguments: readonly ClaimCommandArgument[]
  readonly options: readonly ClaimCommandOption[]
  /** Resolves with the exit code. Failures are written to standard error. */
  run(context: ClaimCliContext, args: ClaimCommandArguments, options: ClaimCliOptions): Promise<number>
}

export interface ClaimCommandArguments {
  readonly operands: readonly string[]
  /** The words after `--`; undefined without it. */
  readonly commandLine?: readonly string[] | undefined
}

export interface ClaimCommandArgument {
  readonly name: string
  readonly meaning: string
}

export interface ClaimCommandOption {
  /** The option that receives the value. */
  readonly key: keyof ClaimCliOptions
  /** `-o, --output <format>`. */
  readonly flags: string
  readonly meaning: string
  /** The only values. Default: any. */
  readonly choices?: readonly string[]
  /** May be given several times; the values become a list. Default false. */
  readonly isRepeatable?: boolean
}

const URL_OPTION: ClaimCommandOption = {
  key: 'url',
  flags: '--url <url>',
  meaning: 'Address of the claims API. Default: CLAIMS_URL, then http://localhost:8080.',
}
const TOKEN: ClaimCommandOption = {
  key: 'token',
  flags: '--token <token>',
  meaning: 'Bearer token. Default: CLAIMS_TOKEN, which other users of the machine cannot see.',
}
const TIMEOUT: ClaimCommandOption = {
  key: 'timeout',
  flags: '--timeout <duration>',
  meaning: 'Give up after this time, with all retries. Default: 3m to take a claim, 30s otherwise.',
}
const TTL: ClaimCommandOption = {
  key: 'ttl',
  flags: '--ttl <duration>',
  meaning: 'Time to live, such as 5m or 1h30m. Default: the one of the pool.',
}
const OUTPUT: ClaimCommandOption = {
  key: 'output',
  flags: '-o, --output <format>',
  meaning: outputMeaning(),
  choices: OUTPUT_FORMATS,
}
const CONNECTION = [URL_OPTION, TOKEN, TIMEOUT]
const ID: ClaimCommandArgument = { name: 'id', meaning: 'Id of the claim.' }

/** `tenure claim` itself. */
export const claimCommand: ClaimCommand = define({
  name: 'claim',
  summary: 'Take a claim and print it, or run a command with it.',
  arguments: [],
  options: [
    { key: 'pool', flags: '--pool <name>', meaning: 'Pool to take the claim from. Default: the pool "default".' },
    TTL,
    {
      key: 'set',
      flags: '--set <key=value>',
      meaning: 'Value for the template, as .Values.claim.<key>. Repeatable.',
      isRepeatable: true,
    },
    {
      key: 'setString',
      flags: '--set-string <key=value>',
      meaning: 'As --set, but always a string. Repeatable.',
      isRepeatable: true,
    },
    { key: 'values', flags: '--values <file>', meaning: 'YAML or JSON file with values for the template.' },
    {
      ...OUTPUT,
      meaning: 'Output format: table, json, yaml, name or env (lines for a shell). Default table.',
      choices: ['table', 'json', 'yaml', 'name', 'env'],
    },
    ...CONNECTION,
  ],
  async run(context, { operands, commandLine }, options) {
    const [first] = operands
    if (first === undefined) return await takeClaim(context, commandLine, options)
    const names = claimSubcommands.map(({ name }) => name).join(', ')
    throw argumentError(
      `${JSON.stringify(first)} is not a subcommand (${names}). To run a command with a claim, write -- before it.`,
    )
  },
})

export const claimSubcommands: readonly ClaimCommand[] = [
  define({
    name: 'renew',
    summary: 'Extend a claim, counted from now.',
    arguments: [ID],
    options: [TTL, ...CONNECTION],
    async run(context, { operands: [id = ''] }, options) {
      const grant = await clientOf(context, options).renew(id, { ttl: options.ttl, timeout: timeoutOf(options) })
      context.write(`claim ${id} expires at ${expiry(grant.expiresAt, context)}`)
      return 0
    },
  }),
  define({
    name: 'release',
    summary: 'Delete a claim and its resources.',
    arguments: [ID],
    options: CONNECTION,
    async run(context, { operands: [id = ''] }, options) {
      await clientOf(context, options).release(id, { timeout: timeoutOf(options) })
      context.write(`claim ${id} released`)
      return 0
    },
  }),
  define({
    name: 'list',
    summary: 'List claims and the state of the pools.',
    arguments: [],
    options: [
      OUTPUT,
      { key: 'watch', flags: '-w, --watch', meaning: 'Show claims as they come and go, until Ctrl-C.' },
      ...CONNECTION,
    ],
    async run(context, _args, options) {
      const format = formatOf(options)
      if (options.watch) {
        const client = clientOf(context, options)
        await followClaims(context, format, async () => (await client.list({ timeout: timeoutOf(options) })).claims)
        return 0
      }
      writeList(context, format, await clientOf(context, options).list({ timeout: timeoutOf(options) }))
      return 0
    },
  }),
  define({
    name: 'show',
    summary: 'Show a claim and its resources.',
    arguments: [ID],
    options: [OUTPUT, ...CONNECTION],
    async run(context, { operands: [id = ''] }, options) {
      const format = formatOf(options)
      const claim = await clientOf(context, options).get(id, { timeout: timeoutOf(options) })
      if (format === 'json' || format === 'yaml') writeValue(context, format, claim)
      else if (format === 'name') context.write(nameOf(claim))
      else writeDetails(context, claim)
      return 0
    },
  }),
]

/** Adds the report of failures and their exit codes. */
function define(command: ClaimCommand): ClaimCommand {
  return {
    ...command,
    async run(context, args, options) {
      try {
        return await command.run(context, args, options)
      } catch (error) {
        context.warn(describeFailure(error, addressOf(context, options)))
        return isUsageError(error) ? EXIT_CODES.usage : EXIT_CODES.failed
      }
    },
  }
}
