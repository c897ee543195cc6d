import { type CommandTree, flattened, type OptionWords } from '../cli/command-tree.ts'
import { shortMeaning } from './short-meaning.ts'

/** A script that completes the commands of a tree in zsh, with their meanings. */
export function zshCompletion(root: CommandTree): string {
  const nodes = flattened(root)
  const paths = nodes.filter(({ path }) => path.length > 0).map(({ path }) => quote(path.join(' ')))
  return `#compdef tenure kubectl-tenure
# Completion of tenure for zsh. Load it with: source <(tenure completion zsh)
_tenure() {
  local cur=\${words[CURRENT]} previous=\${words[CURRENT-1]} at='' word
  local -a choices
  if [[ $cur == --*=* ]]; then
    previous=\${cur%%=*}
    compset -P '*='
  fi
  for word in "\${(@)words[2,CURRENT-1]}"; do
    # The words after it are another command.
    if [[ $word == '--' ]]; then
      _files
      return
    fi
    case "\${at:+$at }$word" in
      (${paths.join('|')})
        at=\${at:+$at }$word
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

if (( ! $+functions[compdef] )); then
  autoload -Uz compinit && compinit
fi
if [[ $funcstack[1] == _tenure ]]; then
  _tenure "$@"
else
  compdef _tenure tenure kubectl-tenure
fi
`
}

function wordCase({ path, commands, argumentValues, options }: CommandTree): string {
  const words = [
    ...commands.map(({ path: own, page }) => described(own.at(-1) ?? '', page.summary)),
    ...argumentValues.map(quote),
  ]
  const names = options.flatMap(({ names: all, meaning }) => all.map((name) => described(name, meaning)))
  return `    (${quote(path.join(' '))})
      if [[ $cur == -* ]]; then
        choices=(${names.join(' ')})
        _describe -o 'option' choices
      else
        choices=(${words.join(' ')})
        _describe 'command' choices
      fi
      ;;`
}

function valueCases({ path, options }: CommandTree): readonly string[] {
  return options.flatMap(({ names, value }) => {
    if (value === undefined) return []
    const patterns = names.map((name) => quote(`${path.join(' ')}:${name}`)).join('|')
    return [`    (${patterns})\n      ${valueAction(value)}\n      return\n      ;;`]
  })
}

function valueAction(value: NonNullable<OptionWords['value']>): string {
  if (value === 'file') return '_files'
  return value === 'text' ? ':' : `choices=(${value.choices.map(quote).join(' ')}); _describe 'value' choices`
}

/** `name:meaning`, as _describe reads it. */
function described(name: string, meaning: string): string {
  return quote(`${name}:${shortMeaning(meaning)}`)
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
