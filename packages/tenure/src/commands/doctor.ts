import { TenureError } from '@tenure/kube'
import { terminalOf } from '@tenure/runtime/cli'
import type { Command } from 'commander'
import { readVersion } from '../build-info.ts'
import { withHelp } from '../cli/command-help.ts'
import { outputOption } from '../cli/output-option.ts'
import { clusterCommand } from './cluster/command.ts'
import { reportUnconnected, runDoctor } from './doctor/run-doctor.ts'
import type { OwnVersions } from './doctor/versions.ts'

const EXAMPLES = [
  { term: 'tenure doctor', meaning: 'Check everything that the kubeconfig reaches.' },
  { term: 'tenure doctor -o json', meaning: 'Print the findings for a program.' },
]

const EXIT_CODES = [
  { term: '0', meaning: 'Nothing is wrong.' },
  { term: '1', meaning: 'Something is wrong, or the check failed.' },
  { term: '2', meaning: 'An option or an argument is wrong; nothing was done.' },
]

/** The command `tenure doctor`. */
export function doctorCommand(): Command {
  const command = clusterCommand(
    'doctor',
    'check the connection, permissions, definitions, webhooks, database, clock and leaders',
    async (context, options) => {
      const { operators } = await import('../loaded-operators.ts')
      return await runDoctor(context, options, { operators, versions: ownVersions() })
    },
    (error, options) => {
      if (!(error instanceof TenureError) || !error.code.startsWith('TENURE_KUBECONFIG_')) return undefined
      const { env, stdout } = process
      const write = (text: string): void => void stdout.write(`${text}\n`)
      return reportUnconnected({ terminal: terminalOf(stdout, env), write }, options, error, ownVersions())
    },
  ).addOption(outputOption(['table', 'json', 'yaml']))
  return withHelp(command, { examples: EXAMPLES, exitCodes: EXIT_CODES })
}

function ownVersions(): OwnVersions {
  return { tenure: readVersion(), node: process.versions.node }
}
