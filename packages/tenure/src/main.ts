import { readFileSync } from 'node:fs'
import { asError } from '@tenure/kube'
import { silentLogger, stopSignals } from '@tenure/runtime'
import { type Configuration, readConfiguration, type Table, type Values } from '@tenure/runtime/configuration'
import { Command } from 'commander'
import { clusterOperatorEntries, operatorEntries } from './operators.ts'
import { say } from './say.ts'

/** Milliseconds after a signal at which a process that serves people on this machine ends in any case. */
const STOP_DEADLINE_MS = 4_500

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }

const program = new Command('tenure')
  .description('One Kubernetes operator for how long things live and what state they are kept in.')
  .version(manifest.version)
  .showSuggestionAfterError()
  // Options after a command belong to it: `leases` has its own `--version`.
  .enablePositionalOptions()

serving('start', 'start everything, with nothing installed', async () => {
  const { start, startConfiguration } = await import('./start.ts')
  return configured(
    startConfiguration,
    async (settings, signal) => {
      say(`Tenure ${manifest.version}`)
      await start(settings, signal)
      say('Stopped.')
    },
    STOP_DEADLINE_MS,
  )
})
serving('controlplane', 'run the embedded control plane alone', async () => {
  const [{ controlPlaneConfiguration, runControlPlane }, { loggerOf }] = await Promise.all([
    import('./control-plane.ts'),
    import('./log-settings.ts'),
  ])
  return configured(
    controlPlaneConfiguration,
    async (settings, signal) => {
      say(`Tenure ${manifest.version}`)
      const log = await loggerOf(settings)
      await runControlPlane({ directory: settings.data, port: settings.port, log, say }, signal)
      say('Stopped.')
    },
    STOP_DEADLINE_MS,
  )
})
for (const { name, load } of [...operatorEntries, ...clusterOperatorEntries]) {
  serving(name, `run the operator of ${name.replaceAll('-', ' ')}`, async () => {
    const [operator, { operatorConfiguration, runOperator }] = await Promise.all([load(), import('./run-operator.ts')])
    return configured(operatorConfiguration(operator), (settings, signal) => runOperator(operator, settings, signal))
  })
}
await commands('lease', 'show and change the leases of objects', async () =>
  (await import('./commands/lease.ts')).leaseCommand(),
)
await commands('claim', 'take a claim, or run a command with one', async () =>
  (await import('./commands/claim.ts')).claimCommand(),
)
await commands('init', 'create the files of a new operator', async () => (await import('./init/init.ts')).initCommand())
await commands('db', 'create, show and change databases', async () => (await import('./commands/db.ts')).dbCommand())

/** A command with commands of its own, which are loaded only if they are named. */
async function commands(name: string, summary: string, load: () => Promise<Command>): Promise<void> {
  // Also `tenure help <name>`.
  if (process.argv.slice(2, 4).includes(name)) program.addCommand(await load())
  else program.command(name).description(summary)
}

/** Settings and what runs with them, loaded when a command is used. */
interface Program {
  run(argv: readonly string[]): Promise<void>
}

function configured<T extends Table>(
  configuration: Configuration<T>,
  run: (settings: Values<T>, signal: AbortSignal) => Promise<void>,
  deadline?: number,
): Program {
  return {
    async run(argv) {
      const loaded = await readConfiguration(configuration, { argv, environment: process.env })
      if (loaded.kind === 'help') return say(loaded.text)
      // A terminal that closes takes its output with it; the stop must go on.
      for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined)
      const stop = stopSignals({ log: silentLogger, deadline })
      try {
        await run(loaded.values, stop.signal)
      } finally {
        stop.dispose()
      }
    },
  }
}

/** A command that runs until it is stopped. Its settings and its help come from its table. */
function serving(name: string, summary: string, load: () => Promise<Program>): void {
  const command = program.command(name).description(summary).helpOption(false)
  command.allowUnknownOption().allowExcessArguments()
  command.action(async () => (await load()).run(command.args))
}

try {
  await program.parseAsync(process.argv)
} catch (error) {
  process.stderr.write(`${asError(error).message}\n`)
  process.exitCode = 1
}
