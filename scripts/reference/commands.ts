import type { HelpEntry } from '@tenure/runtime/cli'
import { COMMAND_EXIT_CODES, SERVING_EXIT_CODES } from '../../packages/tenure/src/cli/exit-codes.ts'
import { type CommandTree, commandTree, flattened } from '../../packages/tenure/src/cli/command-tree.ts'
import { commandTable } from '../../packages/tenure/src/command-table.ts'
import { code, table } from './markdown.ts'

const INTRODUCTION = `# Commands

Generated from the commands by \`npm run reference\`: do not edit. \`--help\` prints the same. In a checkout the command is \`npx tenure\`
after \`npm ci\`, or \`npm run -s tenure --\`.
`

const AFTER = `## Exit codes

Of commands that end by themselves; \`tenure claim\` with a command has more.

${entries(['Code', 'Meaning'], COMMAND_EXIT_CODES)}
Of commands that run until they are stopped:

${entries(['Code', 'Meaning'], SERVING_EXIT_CODES)}
Wrong words are reported in one line that says what to write instead. Colours are only on a terminal, and not with \`NO_COLOR\`.

## Completion

\`tenure completion\` prints a script that completes commands, options, their values and files. Load it in the start-up file of your shell:

\`\`\`bash
source <(tenure completion bash)    # ~/.bashrc
source <(tenure completion zsh)     # ~/.zshrc
tenure completion fish | source     # ~/.config/fish/config.fish
\`\`\`

## As a plugin of kubectl

\`npm ci\` also links the command as \`kubectl-tenure\`. If it is on the PATH, \`kubectl tenure\` runs it, and its help calls it so:

\`\`\`bash
export PATH="$PWD/node_modules/.bin:$PATH"
kubectl tenure help lease
\`\`\`
`

/** Returns the reference page of all commands. */
export async function commandsReference(): Promise<string> {
  const root = await commandTree(commandTable, 'tenure')
  const overview = entries(
    ['Command', 'Meaning'],
    root.commands.map(({ path, page }) => ({
      term: `[tenure ${path.join(' ')}](#tenure-${path.join('-')})`,
      meaning: page.summary,
    })),
    (text) => text,
  )
  const sections = flattened(root)
    .filter(({ path }) => path.length > 0)
    .map(sectionOf)
  return [INTRODUCTION, overview, AFTER, ...sections].join('\n')
}

function sectionOf({ path, page, isServing }: CommandTree): string {
  const name = `tenure ${path.join(' ')}`
  const { exitCodes = [], examples = [], commands = [] } = page
  const parts = [
    `${path.length > 1 ? '###' : '##'} ${name}`,
    `\`\`\`\n${page.usage}\n\`\`\``,
    page.summary,
    entries(['Argument', 'Meaning'], page.arguments ?? []),
    entries(['Command', 'Meaning'], commands),
    isServing
      ? `Options: [its settings](configuration.md#${name.replaceAll(' ', '-')}), \`--config\` and \`--help\`.`
      : entries(['Option', 'Meaning'], page.options ?? []),
    entries(['Example', 'Meaning'], examples),
    isUsual(exitCodes) ? '' : entries(['Exit code', 'Meaning'], exitCodes),
  ]
  return `${parts
    .map((part) => part.trimEnd())
    .filter(Boolean)
    .join('\n\n')}\n`
}

/** Whether the section on exit codes has them. */
function isUsual(exitCodes: readonly HelpEntry[]): boolean {
  return [[], COMMAND_EXIT_CODES, SERVING_EXIT_CODES].some(
    (usual) => JSON.stringify(usual) === JSON.stringify(exitCodes),
  )
}

function entries(head: readonly string[], rows: readonly HelpEntry[], format = code): string {
  if (rows.length === 0) return ''
  return table(
    head,
    rows.map(({ term, meaning }) => [format(term), meaning]),
  )
}
