import { type CommandTree, flattened, type OptionWords } from '../cli/command-tree.ts'

/** A script that completes the commands of a tree in bash. */
export function bashCompletion(root: CommandTree): string {
  const nodes = flattened(root)
  const paths = nodes.filter(({ path }) => path.length > 0).map(({ path }) => quote(path.join(' ')))
  return `# Completion of tenure for bash. Load it with: source <(tenure completion bash)
_tenure_words() {
  COMPREPLY=($(compgen -W "$1" -- "$cur"))
}

_tenure_files() {
  compopt -o filenames 2>/dev/null
  local IFS=$'\\n'
  COMPREPLY=($(compgen -f -- "$cur"))
}

_tenure() {
  local cur=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]} at='' index
  COMPREPLY=()
  # Bash splits --option=value at the sign.
  if [[ $cur == '=' ]]; then
    cur=''
  elif [[ $previous == '=' ]]; then
    previous=\${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((index = 1; index < COMP_CWORD; index++)); do
    # The words after it are another command.
    if [[ \${COMP_WORDS[index]} == '--' ]]; then
      _tenure_files
      return
    fi
    case "\${at:+$at }\${COMP_WORDS[index]}" in
      ${paths.join(' | ')})
        at=\${at:+$at }\${COMP_WORDS[index]}
        ;;
    esac
  done
  case "$at:$previous" in
${nodes.flatMap(valueCases).join('\n')}
  esac
  case "$at" in
${nodes.map(wordCase).join('\n')}
  esac
}

complete -F _tenure tenure kubectl-tenure
`
}

function wordCase({ path, commands, argumentValues, options }: CommandTree): string {
  const names = options.flatMap((option) => option.names)
  const words = [...commands.map((command) => command.path.at(-1) ?? ''), ...argumentValues]
  return `    ${quote(path.join(' '))})
      if [[ $cur == -* ]]; then _tenure_words ${quote(names.join(' '))}; else _tenure_words ${quote(words.join(' '))}; fi
      ;;`
}

function valueCases({ path, options }: CommandTree): readonly string[] {
  return options.flatMap(({ names, value }) => {
    if (value === undefined) return []
    const patterns = names.map((name) => quote(`${path.join(' ')}:${name}`)).join(' | ')
    return [`    ${patterns})\n      ${valueAction(value)}\n      return\n      ;;`]
  })
}

function valueAction(value: NonNullable<OptionWords['value']>): string {
  if (value === 'file') return '_tenure_files'
  return value === 'text' ? ':' : `_tenure_words ${quote(value.choices.join(' '))}`
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
