import { Command } from 'commander'
import { checkNames } from '../cli/choose-names.ts'
import { withHelp } from '../cli/command-help.ts'
import { outputOption } from '../cli/output-option.ts'
import { namesArgument } from '../cli/names-argument.ts'
import { OBJECT_FORMATS, type ObjectFormat, printObjects } from '../cli/object-output.ts'
import { operatorManifests } from '../manifests/index.ts'

interface Options {
  readonly output: ObjectFormat
  readonly image?: string
}

/** The command `tenure manifests`. */
export function manifestsCommand(): Command {
  const known = operatorManifests.map(({ name }) => name)
  const manifests = new Command('manifests')
    .description('Print the objects that run the operators on a cluster, with their permissions.')
    .addArgument(
      namesArgument(
        '[operators...]',
        `Any of ${known.join(', ')}. Default: all operators, without lease-admission.`,
        known,
      ),
    )
    .option('--image <image>', 'Image of the operators. Default: that of the manifests in deploy/.')
    .addOption(outputOption(OBJECT_FORMATS, 'yaml'))
    .action(async (names: readonly string[], { output, image }: Options) => {
      checkNames('manifest', names, known)
      const chosen = operatorManifests.filter(({ name, isOptional = false }) =>
        names.length === 0 ? !isOptional : names.includes(name),
      )
      const options = (name: string): Parameters<(typeof chosen)[number]['load']>[0] => ({
        image,
        apply: `tenure manifests ${name} | kubectl apply -f -`,
        applyDefinitions: 'tenure crds | kubectl apply --server-side -f -',
      })
      const entries = await Promise.all(chosen.map(({ name, load }) => load(options(name))))
      process.stdout.write(printObjects(entries.flat(), output))
    })
  return withHelp(manifests, {
    examples: [
      { term: 'tenure manifests claims | kubectl apply -f -', meaning: 'Run the claims operator on a cluster.' },
      { term: 'tenure manifests --image registry.example/tenure:1', meaning: 'Print all, with an image of your own.' },
    ],
  })
}
