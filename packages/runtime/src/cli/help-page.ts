/** A term with its meaning: an argument, an option, a command, an example, or an exit code. */
export interface HelpEntry {
  /** `-o, --output <format>`. */
  readonly term: string
  /** A sentence or two. */
  readonly meaning: string
}

/** The help of a command. All commands print theirs with `printHelp`, so that they look the same. */
export interface HelpPage {
  /** `tenure lease set [options] <kind/name> <ttl>`. */
  readonly usage: string
  /** An imperative sentence: `Give an object a lease.` */
  readonly summary: string
  readonly arguments?: readonly HelpEntry[]
  readonly commands?: readonly HelpEntry[]
  readonly options?: readonly HelpEntry[]
  readonly examples?: readonly HelpEntry[]
  readonly exitCodes?: readonly HelpEntry[]
  /** The last paragraph. */
  readonly note?: string
}

/** The sections in the order of the page. */
const SECTIONS = [
  ['Arguments', 'arguments'],
  ['Commands', 'commands'],
  ['Options', 'options'],
  ['Examples', 'examples'],
  ['Exit codes', 'exitCodes'],
] as const

/** A longer term has a line of its own. */
const MAX_TERM_COLUMNS = 32
const MIN_MEANING_COLUMNS = 30
const DEFAULT_COLUMNS = 100

/** The text of `--help`. `columns` defaults to 100, which is also the most. */
export function printHelp(page: HelpPage, columns = DEFAULT_COLUMNS): string {
  const width = Math.min(columns, DEFAULT_COLUMNS)
  const sections = SECTIONS.flatMap(([title, key]) => {
    const entries = page[key] ?? []
    return entries.length > 0 ? [`${title}:\n${entryLines(entries, width).join('\n')}`] : []
  })
  const note = page.note === undefined ? [] : [wrap(page.note, width).join('\n')]
  const summary = wrap(page.summary, width).join('\n')
  return `${[`Usage: ${page.usage}`, summary, ...sections, ...note].join('\n\n')}\n`
}

function entryLines(entries: readonly HelpEntry[], width: number): readonly string[] {
  const longest = Math.max(...entries.map(({ term }) => term.length).filter((length) => length <= MAX_TERM_COLUMNS), 0)
  const indent = (longest || MAX_TERM_COLUMNS) + 4
  return entries.flatMap(({ term, meaning }) => {
    const [first = '', ...more] = wrap(meaning, Math.max(width - indent, MIN_MEANING_COLUMNS))
    const head = `  ${term}`
    const start = head.length + 2 > indent ? [head, ' '.repeat(indent) + first] : [head.padEnd(indent) + first]
    return [...start, ...more.map((line) => ' '.repeat(indent) + line)].map((line) => line.trimEnd())
  })
}

function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(/\s+/)) {
    if (line && line.length + 1 + word.length > width) {
      lines.push(line)
      line = word
    } else {
      line = line ? `${line} ${word}` : word
    }
  }
  return [...lines, line]
}
