import { readFileSync } from 'node:fs'
import { asError } from '@tenure/kube'
import { createLogger } from '@tenure/runtime'
import { type Configuration, readConfiguration, type Table, type Values } from '@tenure/runtime/configuration'
import { Command } from 'commander'
import { claimCommand } from './claim.ts'
import { controlPlaneConfiguration, runControlPlane } from './control-plane.ts'
import { leaseCommand } from './lease.ts'
import { clusterOperators, operators } from './operators.ts'
import { operatorConfiguration, runOperator } from './run-operator.ts'
import { say } from './say.ts'
import { start, startConfiguration } from './start.ts'

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }

const program = new Command('tenure')
  .description('One Kubernetes operator for how long things live and what state they are kept in.')
  .version(manifest.version)
  .showSuggestionAfterError()
  // Options after a command belong to it: `leases` has its own `--version`.
  .enablePositionalOptions()

serving('start', startConfiguration, 'start everything, with nothing installed', async (settings, signal) => {
  say(`Tenure ${manifest.version}`)
  await start(settings, signal)
  say('Stopped.')
})
serving('controlplane', controlPlaneConfiguration, 'run the embedded control plane alone', async (settings, signal) => {
  say(`Tenure ${manifest.version}`)
  const log = await createLogger({ level: settings.verbose ? 'info' : 'warn', format: 'text' })
  await runControlPlane({ directory: settings.data, port: settings.port, log, say }, signal)
  say('Stopped.')
})
for (const operator of [...operators, ...clusterOperators]) {
  serving(operator.name, operatorConfiguration(operator), asCommandSummary(operator.summary), (settings, signal) =>
    runOperator(operator, settings, signal),
  )
}
program.addCommand(leaseCommand())
program.addCommand(claimCommand())

/** Commander lists commands in lower case and without a full stop. */
function asCommandSummary(summary: string): string {
  return `${summary.charAt(0).toLowerCase()}${summary.slice(1).replace(/\.$/, '')}`
}

/** A command that runs until it is stopped. Its settings and its help come from its table. */
function serving<T extends Table>(
  name: string,
  configuration: Configuration<T>,
  summary: string,
  run: (settings: Values<T>, signal: AbortSignal) => Promise<void>,
): void {
  const command = program.command(name).description(summary).helpOption(false)
  command.allowUnknownOption().allowExcessArguments()
  command.action(async () => {
    const loaded = await readConfiguration(configuration, { argv: command.args, environment: process.env })
    if (loaded.kind === 'help') return say(loaded.text)
    const stop = new AbortController()
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort(new Error(signal)))
    return run(loaded.values, stop.signal)
  })
}

try {
  await program.parseAsync(process.argv)
} catch (error) {
  process.stderr.write(`${asError(error).message}\n`)
  process.exitCode = 1
}
