import { type CommandTree, flattened, type OptionWords } from '../cli/command-tree.ts'
import { shortMeaning } from './short-meaning.ts'

/** A script that completes the commands of a tree in fish, with their meanings. */
export function fishCompletion(root: CommandTree): string {
  const nodes = flattened(root)
  const paths = nodes.filter(({ path }) => path.length > 0).map(({ path }) => quote(path.join(' ')))
  return `# Completion of tenure for fish. Load it with: tenure completion fish | source
set -g __tenure_commands ${paths.join(' ')}

function __tenure_at --description 'Whether the command line has reached a command'
  set -l at ''
  for word in (commandline -opc)[2..]
    # The words after it are another command.
    test "$word" = -- && return 1
    set -l next (string trim -- "$at $word")
    contains -- "$next" $__tenure_commands && set at $next
  end
  test "$at" = "$argv[1]"
end

complete -c tenure -f
complete -c tenure -n 'contains -- -- (commandline -opc)' -F
${nodes.flatMap(lines).join('\n')}
complete -c kubectl-tenure -w tenure
`
}

function lines(node: CommandTree): readonly string[] {
  const condition = `-n ${quote(`__tenure_at ${quote(node.path.join(' '))}`)}`
  const words = node.commands.map(
    ({ path, page }) =>
      `complete -c tenure ${condition} -a ${quote(path.at(-1) ?? '')} -d ${quote(shortMeaning(page.summary))}`,
  )
  const values =
    node.argumentValues.length > 0 ? [`complete -c tenure ${condition} -a ${quote(node.argumentValues.join(' '))}`] : []
  const options = node.options.map(
    ({ names, meaning, value }) =>
      `complete -c tenure ${condition} ${names.map(nameFlag).join(' ')}${valueFlags(value)} -d ${quote(shortMeaning(meaning))}`,
  )
  return [...words, ...values, ...options]
}

function nameFlag(name: string): string {
  return name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`
}

function valueFlags(value: OptionWords['value']): string {
  if (value === undefined) return ''
  if (value === 'file') return ' -r -F'
  return value === 'text' ? ' -x' : ` -x -a ${quote(value.choices.join(' '))}`
}

function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
