import { Command } from 'commander'
import { type BuildInfo, readBuildInfo } from '../build-info.ts'
import { withHelp } from '../cli/command-help.ts'
import { outputOption } from '../cli/output-option.ts'
import { valueText } from '@tenure/runtime/cli'

const FORMATS = ['text', 'json', 'yaml']

/** The command `tenure version`. */
export function versionCommand(): Command {
  const version = new Command('version')
    .description('Print the version, the build and the platform.')
    .addOption(outputOption(FORMATS, 'text'))
    .action(({ output }: { readonly output: string }) => {
      const info = readBuildInfo()
      process.stdout.write(output === 'json' || output === 'yaml' ? `${valueText(output, info)}\n` : inWords(info))
    })
  return withHelp(version, { examples: [{ term: 'tenure version -o json', meaning: 'Print it for programs.' }] })
}

function inWords({ version, buildTime, gitCommit, node, platform }: BuildInfo): string {
  const lines = [
    `Tenure ${version}`,
    buildTime && `Built: ${buildTime}`,
    gitCommit && `Commit: ${gitCommit}`,
    `Node: ${node}`,
    `Platform: ${platform}`,
  ]
  return lines
    .filter(Boolean)
    .map((line) => `${line}\n`)
    .join('')
}
