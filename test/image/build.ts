import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { root } from '../house/sources.ts'
import { assignments, type Instruction, parseDockerfile, type Stage, words } from './dockerfile.ts'

/** The file system and the configuration of an image. */
export interface Image {
  readonly root: string
  readonly entrypoint: readonly string[]
  readonly command: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  /** `65532:65532`. */
  readonly user: string
  remove(): void
}

/** Steps that are done on this machine: the packages are installed. */
const DONE_HERE = /^npm ci /

/**
 * Carries out the Dockerfile's instructions on this machine: RUN steps run here, in folders that stand for those of the image.
 * The repository stands for the working directory with its sources, and the packages are installed in it.
 */
export function buildImage(target: string, buildArguments: Readonly<Record<string, string>>): Image {
  const stages = parseDockerfile(readFileSync(path.join(root, 'deploy/image/Dockerfile'), 'utf8'))
  const temporary = mkdtempSync(path.join(tmpdir(), 'tenure-image-'))
  const builds = new Map<string, StageBuild>()
  const build = (name: string): StageBuild => {
    const stage = stages.find((each) => each.name === name)
    if (!stage) throw new Error(`There is no stage ${name}`)
    const known = builds.get(name) ?? new StageBuild(stage, path.join(temporary, name), buildArguments, build)
    builds.set(name, known)
    return known
  }
  const { folder, entrypoint, command, environment, user } = build(target)
  return {
    root: folder,
    entrypoint,
    command,
    environment,
    user,
    remove: () => rmSync(temporary, { recursive: true, force: true }),
  }
}

class StageBuild {
  readonly folder: string
  readonly environment: Record<string, string> = {}
  entrypoint: readonly string[] = []
  command: readonly string[] = []
  user = ''
  readonly #arguments: Record<string, string> = {}
  readonly #given: Readonly<Record<string, string>>
  readonly #stageOf: (name: string) => StageBuild
  #workdir = '/'
  /** The sources were copied from the build context, so the repository stands for the working directory. */
  #hasSources = false

  constructor(
    { instructions }: Stage,
    folder: string,
    given: Readonly<Record<string, string>>,
    stageOf: (name: string) => StageBuild,
  ) {
    this.folder = folder
    this.#given = given
    this.#stageOf = stageOf
    mkdirSync(folder, { recursive: true, mode: 0o755 })
    for (const instruction of instructions) this.#carryOut(instruction)
  }

  #carryOut({ name, flags, text, exec, line }: Instruction): void {
    switch (name) {
      case 'ARG':
        for (const [argument, value] of assignments(text)) this.#arguments[argument] = this.#given[argument] ?? value
        return
      case 'ENV':
        for (const [variable, value] of assignments(text)) this.environment[variable] = this.#expand(value)
        return
      case 'WORKDIR':
        this.#workdir = text
        mkdirSync(this.#place(text), { recursive: true })
        return
      case 'COPY':
        return this.#copy(words(text), flags['from'])
      case 'RUN':
        return DONE_HERE.test(text) ? undefined : this.#run(text, line)
      case 'USER':
        this.user = text
        return
      case 'ENTRYPOINT':
        this.entrypoint = exec ?? []
        return
      case 'CMD':
        this.command = exec ?? []
        return
      case 'LABEL':
        return
      default:
        throw new Error(`Line ${line}: ${name} is not carried out here`)
    }
  }

  #copy(places: readonly string[], from: string | undefined): void {
    if (from === undefined) {
      this.#hasSources = true
      return
    }
    const target = this.#place(places.at(-1) ?? '/')
    for (const place of places.slice(0, -1)) cpSync(this.#stageOf(from).#place(place), target, { recursive: true })
  }

  /** Variables with an absolute path name a place of the image. */
  #run(text: string, line: number): void {
    const places = Object.entries(this.environment).map(([name, value]) => [
      name,
      value.startsWith('/') ? this.#place(value) : value,
    ])
    const { status, stderr } = spawnSync('sh', ['-euc', text], {
      cwd: this.#hasSources ? root : this.#place(this.#workdir),
      env: {
        ...process.env,
        ...Object.fromEntries(places),
        PATH: `${path.dirname(process.execPath)}:${process.env['PATH']}`,
      },
      encoding: 'utf8',
    })
    if (status !== 0) throw new Error(`Line ${line}: RUN ended with ${status}: ${stderr}`)
  }

  #place(place: string): string {
    return path.join(this.folder, path.resolve(this.#workdir, place))
  }

  #expand(value: string): string {
    return value.replaceAll(
      /\$\{?(\w+)\}?/g,
      (_, name: string) => this.#arguments[name] ?? this.environment[name] ?? '',
    )
  }
}
