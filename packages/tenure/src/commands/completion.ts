import { Command } from 'commander'
import { withHelp } from '../cli/command-help.ts'
import { commandTree, type CommandTree } from '../cli/command-tree.ts'
import type { CommandEntry } from '../cli/entries.ts'
import { bashCompletion } from '../completion/bash.ts'
import { fishCompletion } from '../completion/fish.ts'
import { zshCompletion } from '../completion/zsh.ts'

interface Shell {
  readonly name: string
  readonly load: string
  readonly print: (root: CommandTree) => string
}

const SHELLS: readonly Shell[] = [
  { name: 'bash', load: 'source <(tenure completion bash)', print: bashCompletion },
  { name: 'zsh', load: 'source <(tenure completion zsh)', print: zshCompletion },
  { name: 'fish', load: 'tenure completion fish | source', print: fishCompletion },
]

/** The command `tenure completion`, for the commands of a table. */
export function completionCommand(entries: readonly CommandEntry[]): Command {
  const completion = new Command('completion').description(
    'Print a script that completes commands, options and values in a shell.',
  )
  for (const { name, load, print } of SHELLS) {
    const shell = completion
      .command(name)
      .description(`Print the script for ${name}.`)
      .action(async () => void process.stdout.write(print(await commandTree(entries, 'tenure'))))
    withHelp(shell, {
      examples: [{ term: load, meaning: 'Complete in this shell, or in all from its start-up file.' }],
    })
  }
  return withHelp(completion, {
    examples: SHELLS.map(({ name, load }) => ({ term: load, meaning: `Complete in ${name}.` })),
  })
}
