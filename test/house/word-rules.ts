import path from 'node:path'
import { linesMatching, type Source } from './sources.ts'

export interface Rule {
  readonly name: string
  readonly pattern: RegExp
  readonly instead: string
}

/** Words that need a story to be understood, with the word to use instead. */
export const RULES: readonly Rule[] = [
  { name: 'can not', pattern: /\bcan not\b/i, instead: 'write "cannot"' },
  { name: 'nobody', pattern: /\bnobody\b/i, instead: 'name the subject: "no client", "nothing"' },
  { name: 'anew', pattern: /\banew\b/i, instead: 'write "again"' },
  { name: 'whoever', pattern: /\bwhoever\b/i, instead: 'name the subject' },
  { name: 'so many', pattern: /\bso many\b/i, instead: 'write the limit: "more than …"' },
  { name: 'is no', pattern: /(?<!there )\bis no (?!longer\b|more\b)[a-z]/i, instead: 'write "is not a …"' },
  {
    name: 'a comment that begins with a relative clause',
    pattern: /^\s*(?:\/\/|\/?\*\*?) (?:Who|What|Whose|Whoever|So many)\b/,
    instead: 'begin with a concrete subject or a verb',
  },
  {
    name: 'names of the past',
    pattern:
      /\b(?:\w*Surroundings|Troubles|Quarrels|Verdict|Obstacles|dailyLeaseControllers|EDITION|WISHES|CROWD|OURS|LeaseBed|newcomers)\b/,
    instead: 'use the word that upstream uses',
  },
  {
    name: 'a parameter or field called "around"',
    pattern: /\baround: |\(around\b|\baround\.[a-z#]/,
    instead: 'write "context"',
  },
  {
    name: 'a constant that names no quantity',
    pattern: /\b(?:[A-Z0-9]+_)*(?:FEW|FEWEST|MOST|LONGEST|SHORTEST|APART|SOON|SELDOM)(?:_[A-Z0-9]+)*\b/,
    instead: 'write MAX_, MIN_ or DEFAULT_, a noun and a unit',
  },
]

/** Names of files that say nothing to a reader from outside, by the folder in which they are banned. */
const FILE_NAMES: readonly (readonly [folder: string, name: RegExp])[] = [
  [
    'packages/',
    /^(surroundings|troubles|quarrels|paced|copied|brought-back|heads-up|opted-in|keeper|live-reads|clock-check|decide|rights|refusals|newcomers|bodies|form|answer(-.*)?|complaints|advice|cells|outflow|in-turn|go-words|zero|into-containers|small-kinds|world)$/,
  ],
  ['packages/leases/', /^(session|expiring)$/],
]

interface Quotation {
  /** A file, or a folder with a slash at the end. */
  readonly path: string
  readonly text: RegExp
  readonly reason: string
}

/** Texts that are quoted byte for byte. */
const QUOTED: readonly Quotation[] = [
  { path: 'test/differential/', text: /nobody/, reason: 'requests that both servers receive unchanged' },
  {
    path: 'packages/controlplane/src/kinds/',
    text: /can not be (?:empty|modified|unset|less than)/,
    reason: 'messages of kube-apiserver',
  },
  { path: 'test/house/', text: /./, reason: 'the rules themselves' },
]

const isQuoted = (problem: string): boolean =>
  QUOTED.some((quotation) => problem.startsWith(quotation.path) && quotation.text.test(problem))

/** Returns the lines that break a rule, except quotations. */
export function violations(rule: Rule, file: Source): readonly string[] {
  return linesMatching(file, rule.pattern, rule.instead).filter((problem) => !isQuoted(problem))
}

export function hasBannedName(file: string): boolean {
  const name = path.posix.basename(file).replace(/(\.(test|testing|model|embedded))*\.\w+$/, '')
  return FILE_NAMES.some(([folder, banned]) => file.startsWith(folder) && banned.test(name))
}

/** Returns the lines of a test file that use `it`. */
export function itCalls(file: Source): readonly string[] {
  if (!file.path.endsWith('.test.ts')) return []
  return linesMatching(file, /^\s*it(?:\.\w+)*\(|\bit\b.*from 'vitest'/, 'write test()')
}

/** A title that begins with a verb has no subject. */
const FRAGMENT =
  /^(?:is|are|was|were|has|have|does|do|keeps|refuses|takes|makes|says|finds|gives|goes|leaves|lets|knows|asks|answers|brings|sends|tells|adds|removes|returns|rejects|accepts|gets|puts|runs|drops|ignores|serves|throws|hands|comes|sees|wins|never)\b/

/** Returns the titles of tests that are not whole statements, with subject and verb. */
export function titleFragments(file: Source): readonly string[] {
  if (!file.path.endsWith('.test.ts')) return []
  const titles = file.text.matchAll(/^\s*(?:test(?:\.\w+)*|\]\))\(\s*(['"`])((?:\\.|(?!\1).)*)\1/gms)
  return [...titles]
    .map(([, , title = '']) => title)
    .filter((title) => FRAGMENT.test(title) || (title.split(' ').length < 3 && !/[$%]/.test(title)))
    .map((title) => `${file.path}: write a whole statement: ${title}`)
}
