import { readVersion } from './build-info.ts'
import { type CommandEntry, commands, serving } from './cli/entries.ts'
import { clusterOperatorEntries, operatorEntries } from './operators.ts'
import { say } from './say.ts'

/** Milliseconds after a signal at which a process that serves people on this machine ends in any case. */
const STOP_DEADLINE_MS = 4_500

/** The commands in the order of the help. Each is loaded when it is used. */
export const commandTable: readonly CommandEntry[] = [
  serving('start', 'Start everything, with nothing installed.', async () => {
    const [{ start, startConfiguration }, { configured }] = await Promise.all([
      import('./start.ts'),
      import('./cli/serving.ts'),
    ])
    return configured(
      startConfiguration,
      async (settings, signal) => {
        say(`Tenure ${readVersion()}`)
        await start(settings, signal)
        say('Stopped.')
      },
      {
        deadline: STOP_DEADLINE_MS,
        examples: [
          { term: 'tenure start', meaning: 'Keep the data in .tenure, and print the addresses.' },
          { term: 'tenure start --data /tmp/try --port 3100', meaning: 'Start a second one beside it.' },
        ],
      },
    )
  }),
  serving('controlplane', 'Run the embedded control plane alone.', async () => {
    const [{ controlPlaneConfiguration, runControlPlane }, { loggerOf }, { configured }] = await Promise.all([
      import('./control-plane.ts'),
      import('@tenure/runtime/cli'),
      import('./cli/serving.ts'),
    ])
    return configured(
      controlPlaneConfiguration,
      async (settings, signal) => {
        say(`Tenure ${readVersion()}`)
        const log = await loggerOf(settings)
        await runControlPlane({ directory: settings.data, port: settings.port, log, say }, signal)
        say('Stopped.')
      },
      {
        deadline: STOP_DEADLINE_MS,
        examples: [{ term: 'tenure controlplane --data /tmp/try', meaning: 'Serve a Kubernetes API for tests.' }],
      },
    )
  }),
  serving('operator', 'Run all operators on a cluster, in one process.', async () => {
    const [{ combinedConfiguration, runCombinedOperators }, { configured }, ...operators] = await Promise.all([
      import('./combined-operators.ts'),
      import('./cli/serving.ts'),
      ...operatorEntries.map(({ load }) => load()),
    ])
    return configured(
      combinedConfiguration(operators),
      (settings, signal) => runCombinedOperators(operators, settings, signal),
      {
        examples: [
          { term: 'tenure operator --operators applications,claims', meaning: 'Run two operators.' },
          { term: 'tenure operator --without databases', meaning: 'Run all but one.' },
        ],
      },
    )
  }),
  ...[...operatorEntries, ...clusterOperatorEntries].map(({ name, load, examples }) =>
    serving(name, `Run the ${name.replaceAll('-', ' ')} operator on a cluster.`, async () => {
      const [operator, { operatorConfiguration, runOperator }, { configured }] = await Promise.all([
        load(),
        import('./run-operator.ts'),
        import('./cli/serving.ts'),
      ])
      return configured(
        operatorConfiguration(operator),
        (settings, signal) => runOperator(operator, settings, signal),
        { examples },
      )
    }),
  ),
  commands('status', 'Show what is managed, what is in trouble and what ends next.', async () =>
    (await import('./commands/status.ts')).statusCommand(),
  ),
  commands('get', 'List what is managed.', async () => (await import('./commands/get.ts')).getCommand()),
  commands('events', 'Show events about what is managed.', async () =>
    (await import('./commands/events.ts')).eventsCommand(),
  ),
  commands('doctor', 'Check the cluster, the database and this machine, and say what to do.', async () =>
    (await import('./commands/doctor.ts')).doctorCommand(),
  ),
  commands('claim', 'Take a claim, or run a command with one.', async () =>
    (await import('./commands/claim.ts')).claimCommand(),
  ),
  commands('lease', 'Show and change the leases of objects.', async () =>
    (await import('./commands/lease.ts')).leaseCommand(),
  ),
  commands('db', 'Create, show and change databases.', async () => (await import('./commands/db.ts')).dbCommand()),
  commands('crds', 'Print the CustomResourceDefinitions of the operators.', async () =>
    (await import('./commands/crds.ts')).crdsCommand(),
  ),
  commands('manifests', 'Print the objects that run the operators on a cluster.', async () =>
    (await import('./commands/manifests.ts')).manifestsCommand(),
  ),
  commands('init', 'Create the files of a new operator.', async () => (await import('./init/init.ts')).initCommand()),
  commands('completion', 'Print a script that completes commands in bash, zsh or fish.', async () =>
    (await import('./commands/completion.ts')).completionCommand(commandTable),
  ),
  commands('version', 'Print the version, the build and the platform.', async () =>
    (await import('./commands/version.ts')).versionCommand(),
  ),
]
