/** One instruction of a Dockerfile: `COPY --from=bundle /bundle /app`. */
export interface Instruction {
  /** In upper case. */
  readonly name: string
  /** `from` and `bundle` of `--from=bundle`. */
  readonly flags: Readonly<Record<string, string>>
  /** The rest of the line, with continued lines joined. */
  readonly text: string
  /** The JSON array of the exec form; undefined for the shell form. */
  readonly exec: readonly string[] | undefined
  readonly line: number
}

export interface Stage {
  /** Undefined: the stage has no name. */
  readonly name: string | undefined
  /** The image or stage that it begins with, with build arguments replaced by their defaults. */
  readonly base: string
  readonly platform: string | undefined
  readonly line: number
  readonly instructions: readonly Instruction[]
}

/** Reads what our Dockerfiles use: no here-documents, and no other escape character. */
export function parseDockerfile(text: string): readonly Stage[] {
  const stages: (Stage & { readonly instructions: Instruction[] })[] = []
  const defaults = new Map<string, string>()
  for (const instruction of instructionsOf(text)) {
    const last = stages.at(-1)
    if (instruction.name === 'FROM') stages.push(stageOf(instruction, defaults))
    else if (last) last.instructions.push(instruction)
    else if (instruction.name === 'ARG') {
      for (const [name, value] of assignments(instruction.text)) defaults.set(name, value)
    } else throw new Error(`Line ${instruction.line}: ${instruction.name} before the first FROM`)
  }
  return stages
}

/** The names and values of `ARG a b=c` and `ENV a=b c="d e"`. */
export function assignments(text: string): readonly (readonly [name: string, value: string])[] {
  return [...text.matchAll(/([\w.]+)(?:=("[^"]*"|'[^']*'|\S*))?/g)].map(([, name = '', value = '']) => [
    name,
    value.replaceAll(/^["']|["']$/g, ''),
  ])
}

export function words(text: string): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== '')
}

function instructionsOf(text: string): readonly Instruction[] {
  const found: Instruction[] = []
  let open: { text: string; line: number } | undefined
  for (const [index, line] of text.split('\n').entries()) {
    // Comments may stand between continued lines.
    if (/^\s*#/.test(line) || (open === undefined && line.trim() === '')) continue
    open ??= { text: '', line: index + 1 }
    open.text += line.replace(/\\\s*$/, ' ')
    if (/\\\s*$/.test(line)) continue
    found.push(instructionOf(open.text.trim(), open.line))
    open = undefined
  }
  if (open) throw new Error(`Line ${open.line}: the last line is continued`)
  return found
}

function instructionOf(text: string, line: number): Instruction {
  const [, name = '', rest = ''] = /^([A-Za-z]+)\s+(.*)$/s.exec(text) ?? []
  if (name === '') throw new Error(`Line ${line}: not an instruction: ${text}`)
  const [, flagText = '', body = ''] = /^((?:--[\w-]+=\S+\s+)*)(.*)$/s.exec(rest) ?? []
  const flags = Object.fromEntries(
    [...flagText.matchAll(/--([\w-]+)=(\S+)/g)].map(([, flag = '', value = '']) => [flag, value]),
  )
  return { name: name.toUpperCase(), flags, text: body.trim(), exec: execForm(body.trim()), line }
}

function execForm(text: string): readonly string[] | undefined {
  if (!text.startsWith('[')) return undefined
  // A broken array is taken for the shell form, as Docker does.
  try {
    return JSON.parse(text) as readonly string[]
  } catch {
    return undefined
  }
}

function stageOf(from: Instruction, defaults: ReadonlyMap<string, string>): Stage & { instructions: Instruction[] } {
  const [base = '', as, name] = words(from.text)
  return {
    name: as?.toUpperCase() === 'AS' ? name : undefined,
    base: base.replaceAll(/\$\{?(\w+)\}?/g, (_, argument: string) => defaults.get(argument) ?? `$${argument}`),
    platform: from.flags['platform'],
    line: from.line,
    instructions: [],
  }
}
