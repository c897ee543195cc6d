import type { BuildContext } from './context.ts'
import { assignments, type Instruction, type Stage, words } from './dockerfile.ts'

/** The build arguments of an image, and the variables in which `tenure version` finds them. */
export const BUILD_ARGUMENTS = {
  VERSION: 'TENURE_VERSION',
  BUILD_TIME: 'TENURE_BUILD_TIME',
  GIT_COMMIT: 'TENURE_GIT_COMMIT',
} as const

export interface LintOptions {
  readonly context: BuildContext
  /** Names of the stages that are images. */
  readonly targets: readonly string[]
  /** The target whose commands read the build arguments. */
  readonly command: string
}

/** Returns the problems of a Dockerfile, each with its line. */
export function lintDockerfile(stages: readonly Stage[], options: LintOptions): readonly string[] {
  return [
    ...stages.flatMap((stage, index) => [
      ...lintBase(stage, namesBefore(stages, index)),
      ...stage.instructions.flatMap((each) => lintInstruction(each, namesBefore(stages, index), options.context)),
    ]),
    ...repeated(stages),
    ...options.targets.flatMap((target) => lintTarget(stages, target)),
    ...lintArguments(stages, options.command),
  ]
}

const namesBefore = (stages: readonly Stage[], index: number): readonly string[] =>
  stages.slice(0, index).flatMap(({ name }) => name ?? [])

function repeated(stages: readonly Stage[]): readonly string[] {
  return stages
    .filter(({ name }, index) => name !== undefined && namesBefore(stages, index).includes(name))
    .map(({ name, line }) => `line ${line}: a second stage ${name}`)
}

function lintBase({ base, line, name }: Stage, former: readonly string[]): readonly string[] {
  return [
    ...(name === undefined ? [`line ${line}: the stage has no name`] : []),
    ...(former.includes(base) ? [] : lintImage(base).map((problem) => `line ${line}: ${problem}`)),
  ]
}

/** An image is the empty one, or has a digest or a tag with a version. */
export function lintImage(image: string): readonly string[] {
  if (image === 'scratch' || /@sha256:[0-9a-f]{64}$/.test(image)) return []
  const tag = /:([^/:]+)$/.exec(image)?.[1]
  return tag !== undefined && /^v?\d+\.\d+/.test(tag) ? [] : [`${image} is not pinned to a version`]
}

function lintInstruction(
  { name, flags, text, exec, line }: Instruction,
  former: readonly string[],
  context: BuildContext,
): readonly string[] {
  const from = flags['from']
  switch (name) {
    case 'ADD':
      return [`line ${line}: ADD fetches and unpacks; use COPY`]
    case 'COPY': {
      if (from !== undefined) return former.includes(from) ? [] : [`line ${line}: no stage ${from} before this one`]
      const missing = words(text)
        .slice(0, -1)
        .filter((source) => !context.has(source))
      return missing.map((source) => `line ${line}: ${source} is not in the build context`)
    }
    case 'ENTRYPOINT':
    case 'CMD':
      return exec ? [] : [`line ${line}: ${name} needs a shell; use the exec form`]
    case 'ARG':
    case 'ENV':
      return assignments(text)
        .filter(([variable]) => /PASSWORD|SECRET|TOKEN|CREDENTIAL|PRIVATE/i.test(variable))
        .map(([variable]) => `line ${line}: ${variable} would stay readable in the image`)
    default:
      return []
  }
}

function lintTarget(stages: readonly Stage[], target: string): readonly string[] {
  const stage = stages.find(({ name }) => name === target)
  if (!stage) return [`there is no target ${target}`]
  const user = stage.instructions.findLast(({ name }) => name === 'USER')?.text
  return [
    ...(user !== undefined && /^[1-9]\d*:[1-9]\d*$/.test(user)
      ? []
      : [`${target} runs as ${user ?? 'root'}; Kubernetes can check only a number that is not 0`]),
    ...(stage.instructions.some(({ name }) => name === 'ENTRYPOINT' || name === 'CMD')
      ? []
      : [`${target} has nothing to run`]),
    ...(stage.platform === undefined ? [] : [`${target} has the files of one platform on all`]),
  ]
}

/** A build argument is declared in the stage, becomes the variable, and stands in a label of each image. */
function lintArguments(stages: readonly Stage[], command: string): readonly string[] {
  const instructions = stages.find(({ name }) => name === command)?.instructions ?? []
  const of = (kind: string): readonly (readonly [string, string])[] =>
    instructions.filter(({ name }) => name === kind).flatMap(({ text }) => assignments(text))
  return Object.entries(BUILD_ARGUMENTS).flatMap(([argument, variable]) => [
    ...(of('ARG').some(([name]) => name === argument) ? [] : [`${command} does not declare ${argument}`]),
    ...(of('ENV').some(([name, value]) => name === variable && value === `$${argument}`)
      ? []
      : [`${command} does not pass ${argument} as ${variable}`]),
  ])
}
