import { readFileSync } from 'node:fs'
import { asError } from '@tenure/kube'
import { leasesConfiguration } from '@tenure/leases'
import { createLogger, readConfiguration } from '@tenure/runtime'
import type { Configuration, Table, Values } from '@tenure/runtime'
import { Command } from 'commander'
import { applicationsConfiguration, runApplications } from './applications.ts'
import { controlPlaneConfiguration, runControlPlane } from './control-plane.ts'
import { leaseCommand } from './lease.ts'
import { leaseControllersConfiguration, runLeaseControllers } from './lease-controllers.ts'
import { runLeases } from './leases.ts'
import { say } from './say.ts'
import { start, startConfiguration } from './start.ts'

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }

const program = new Command('tenure')
  .description('One Kubernetes operator for how long things live and what state they are kept in.')
  .version(manifest.version)
  .showSuggestionAfterError()
  // What follows a command is its own: `leases` has a `--version`, too.
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
serving('applications', applicationsConfiguration, 'make workloads of the Applications of a cluster', runApplications)
serving('leases', leasesConfiguration, 'keep the leases of one kind of a cluster', runLeases)
serving(
  'lease-controllers',
  leaseControllersConfiguration,
  'run a lease controller for every kind that a LeaseController names',
  runLeaseControllers,
)
program.addCommand(leaseCommand())

/** A command that runs until it is told to stop. Its settings come from its table, and so does its help. */
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
