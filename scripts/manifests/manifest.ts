import { dump } from 'js-yaml'

/** An object of a manifest, and what its reader should know about it. */
export interface Entry {
  /** Comes before it as comment lines. Default none. */
  readonly comment?: readonly string[]
  readonly object: object
}

export interface Manifest {
  /** Below the repository's root. */
  readonly file: string
  readonly text: string
}

const HEADER = '# Made by scripts/generate-manifests.ts: change what it is made from, and run that again.\n'

export function manifest(file: string, entries: readonly Entry[]): Manifest {
  return { file, text: HEADER + entries.map(textOf).join('---\n') }
}

function textOf({ comment = [], object }: Entry): string {
  const lines = comment.map((line) => `# ${line}`.trimEnd() + '\n').join('')
  return lines + withFewestEscapes(dump(object, { lineWidth: -1, noRefs: true }))
}

/** Texts with an apostrophe in double quotes, as the formatter has them. */
function withFewestEscapes(yaml: string): string {
  return yaml.replaceAll(/'((?:[^'"\\\n]|'')*''(?:[^'"\\\n]|'')*)'$/gm, (_, text: string) => {
    return `"${text.replaceAll("''", "'")}"`
  })
}
