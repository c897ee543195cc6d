import { displayWidth, fitText, fromNow, table, type Terminal } from '@tenure/runtime/cli'
import type { LeaderRow } from '../cluster/leaders.ts'
import type { EndRow, KindSummary, StatusSummary, TroubleRow } from './summary.ts'

export interface ScreenOptions {
  readonly terminal: Terminal
  /** Lines that are taken already, and the one of the prompt. */
  readonly reserved: number
  readonly now: number
  /** Shows everything, however large. */
  readonly isWide: boolean
}

const HEADINGS = ['', 'TOTAL', 'READY', 'TROUBLE', 'LED BY']
/** Lines of the two lists that are shown on any terminal. */
const MIN_LISTED = 4

/** The status as a screen: what there is, what is in trouble, and what ends next. */
export function renderStatus(summary: StatusSummary, options: ScreenOptions): string {
  const { isWide, now, reserved, terminal } = options
  const columns = isWide ? Number.POSITIVE_INFINITY : terminal.columns
  const head = [header(summary, now, columns), '', ...kindsTable(summary, columns, terminal)]
  // Two blank lines and two headings.
  const room = isWide ? Number.POSITIVE_INFINITY : Math.max(terminal.rows - reserved - head.length - 4, MIN_LISTED)
  const { endsNext, trouble } = summary
  const half = Math.floor(room / 2)
  const troubleRoom = Math.max(half, room - endsNext.length)
  const shownTrouble = limited(troubleLines(trouble, columns, terminal), troubleRoom, 'tenure status -o wide')
  const shownEnds = limited(endLines(endsNext, now, columns), room - shownTrouble.length, 'tenure status -o wide')
  const lines = [
    ...head,
    '',
    trouble.length === 0
      ? terminal.paint('green', 'Nothing is in trouble.')
      : terminal.paint('bold', `IN TROUBLE (${trouble.length})`),
    ...shownTrouble,
    '',
    endsNext.length === 0 ? 'Nothing ends.' : terminal.paint('bold', `ENDS NEXT (${endsNext.length})`),
    ...shownEnds,
  ]
  return lines.join('\n')
}

function header({ kubernetes, server }: StatusSummary, now: number, columns: number): string {
  const time = new Date(now).toISOString().slice(11, 19)
  const text = `Kubernetes ${kubernetes} at ${server}`
  if (columns === Number.POSITIVE_INFINITY) return `${text}  ${time} UTC`
  const fitted = fitText(text, columns - 14)
  return `${fitted}${' '.repeat(columns - 12 - displayWidth(fitted))}${time} UTC`
}

function kindsTable({ kinds, leaders }: StatusSummary, columns: number, { paint }: Terminal): readonly string[] {
  const cells = kinds.map((kind, at) => [
    kind.title,
    String(kind.total),
    String(kind.ready),
    kind.inTrouble === 0 ? '-' : String(kind.inTrouble),
    // Kinds of one operator are beside each other.
    kinds[at - 1]?.operator === kind.operator ? '' : leaderText(kind, leaders),
  ])
  const [heading = '', ...rows] = table(HEADINGS, cells).split('\n')
  return [
    paint('bold', fitText(heading, columns)),
    ...rows.map((row, at) => {
      const text = fitText(row, columns)
      return (kinds[at]?.inTrouble ?? 0) > 0 ? paint('yellow', text) : text
    }),
  ]
}

function leaderText({ operator }: KindSummary, leaders: readonly LeaderRow[]): string {
  const own = leaders.filter((each) => each.operator === operator)
  if (own.length === 0) return '- (no leader Lease)'
  return own
    .map(({ holder = 'nothing', isStale, namespace }) => `${holder}${isStale ? ' (gone)' : ''} in ${namespace}`)
    .join(', ')
}

function troubleLines(trouble: readonly TroubleRow[], columns: number, { paint }: Terminal): readonly string[] {
  return trouble.map(({ kind, level, name, namespace, reason }) => {
    const text = `${level === 'failed' ? '✗' : '!'} ${kind} ${shortName(namespace, name, columns)}  ${reason}`
    return paint(level === 'failed' ? 'red' : 'yellow', fitText(text, columns))
  })
}

function endLines(ends: readonly EndRow[], now: number, columns: number): readonly string[] {
  // A table of all would be measured although few are shown.
  const shown = columns === Number.POSITIVE_INFINITY ? ends : ends.slice(0, 100)
  const lines = table(
    ['', '', ''],
    shown.map(({ endsAt, kind, name, namespace }) => [fromNow(endsAt, now), kind, qualified(namespace, name)]),
  ).split('\n')
  const rest = ends.length - shown.length
  return [...lines.slice(1).map((line) => fitText(line, columns)), ...Array.from({ length: rest }, () => '')]
}

/** A reason matters more than the end of a long name. */
function shortName(namespace: string | undefined, name: string, columns: number): string {
  return columns === Number.POSITIVE_INFINITY
    ? qualified(namespace, name)
    : fitText(qualified(namespace, name), Math.floor(columns * 0.4))
}

function qualified(namespace: string | undefined, name: string): string {
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`
}

/** At most `room` lines; the last one says how many are missing. */
function limited(lines: readonly string[], room: number, command: string): readonly string[] {
  if (lines.length <= room) return lines
  const shown = Math.max(room - 1, 0)
  return [...lines.slice(0, shown), `… and ${lines.length - shown} more: ${command}`]
}
