import { Command } from 'commander'
import { checkNames } from '../cli/choose-names.ts'
import { withHelp } from '../cli/command-help.ts'
import { outputOption } from '../cli/output-option.ts'
import { namesArgument } from '../cli/names-argument.ts'
import { OBJECT_FORMATS, type ObjectFormat, printObjects } from '../cli/object-output.ts'
import { operatorEntries } from '../operators.ts'

interface Options {
  readonly output: ObjectFormat
}

/** The command `tenure crds`. */
export function crdsCommand(): Command {
  const known = operatorEntries.map(({ name }) => name)
  const crds = new Command('crds')
    .description('Print the CustomResourceDefinitions of the operators.')
    .addArgument(namesArgument('[operators...]', 'Operators whose definitions are printed. Default: all.', known))
    .addOption(outputOption(OBJECT_FORMATS, 'yaml'))
    .action(async (names: readonly string[], { output }: Options) => {
      checkNames('operator', names, known)
      const chosen = operatorEntries.filter(({ name }) => names.length === 0 || names.includes(name))
      const operators = await Promise.all(chosen.map(({ load }) => load()))
      const objects = operators.flatMap(({ crds: definitions }) => definitions.map((object) => ({ object })))
      if (objects.length === 0) process.stderr.write('These operators have no CustomResourceDefinitions.\n')
      process.stdout.write(printObjects(objects, output))
    })
  return withHelp(crds, {
    examples: [
      { term: 'tenure crds | kubectl apply --server-side -f -', meaning: 'Install or upgrade all definitions.' },
      { term: 'tenure crds applications -o json', meaning: 'Print the definition of Applications for programs.' },
    ],
  })
}
