import { type Clock, sleep } from '@tenure/kube'
import { type OutputFormat, type RowOutput, shownColumns, valueOfRow, valueText } from './output.ts'
import { table } from './table.ts'
import { fitText, type Terminal, terminalOf } from './terminal.ts'

/** Milliseconds between two drawings of a screen: countdowns go on without changes. */
const TICK_MS = 1_000
/** Moves to the first column of the first line, and clears what is below the cursor. */
const HOME = '\u001B[H'
const CLEAR_LINE = '\u001B[K'
const CLEAR_BELOW = '\u001B[J'
const CLEAR_SCREEN = '\u001B[2J'

export interface FollowOptions {
  readonly clock: Clock
  readonly terminal: Terminal
  /** Ends it. */
  readonly signal: AbortSignal
  /** Resolves when something may have changed; rejects if the signal aborts. */
  readonly changed: (signal: AbortSignal) => Promise<void>
  /** Writes whole lines to standard output. */
  readonly write: (text: string) => void
}

/** The context of a command whose source cannot be watched, for `-w`. */
export interface PollContext extends Pick<FollowOptions, 'clock' | 'write'> {
  /** Default: the output is not a terminal. */
  readonly terminal?: Terminal
  /** Ends it. Default: nothing does. */
  readonly signal?: AbortSignal
}

/** Follows a source that cannot be watched by reading it again at intervals. */
export function polling(
  { clock, signal = new AbortController().signal, terminal = terminalOf({}, {}), write }: PollContext,
  interval: number,
): FollowOptions {
  return { clock, signal, terminal, write, changed: pollEvery(clock, interval) }
}

/** Resolves after `interval`: for sources that cannot be watched. */
export function pollEvery(clock: Clock, interval: number): FollowOptions['changed'] {
  return (signal) => sleep(clock, interval, signal)
}

/**
 * Shows a text until the signal aborts. On a terminal it stays in place and is drawn each second; elsewhere it is printed
 * again when it is read again and differs.
 */
export async function followScreen<V>(
  { read, render }: { readonly read: () => Promise<V>; readonly render: (value: V) => string },
  { changed, clock, signal, terminal, write }: FollowOptions,
): Promise<void> {
  let value = await read()
  let shown: string | undefined
  const draw = (): void => {
    const text = render(value)
    if (terminal.isTerminal) {
      const lines = clipped(text.split('\n'), terminal.rows).map((line) => `${line}${CLEAR_LINE}`)
      write(`${shown === undefined ? CLEAR_SCREEN : ''}${HOME}${lines.join('\n')}${CLEAR_BELOW}`)
    } else if (text !== shown) write(shown === undefined ? text : `\n${text}`)
    shown = text
  }
  await untilAborted(signal, async () => {
    draw()
    const wait = changed(signal)
    if (terminal.isTerminal) {
      const timer = new AbortController()
      const ticks = tick(clock, AbortSignal.any([signal, timer.signal]), draw)
      try {
        await wait
      } finally {
        timer.abort()
        await ticks
      }
    } else await wait
    value = await read()
  })
}

/** More lines would scroll, and the next drawing would begin in the middle. The last line is that of the cursor. */
function clipped(lines: readonly string[], rows: number): readonly string[] {
  if (lines.length < rows) return lines
  const shown = Math.max(rows - 2, 1)
  return [...lines.slice(0, shown), `… and ${lines.length - shown} more lines`]
}

async function tick(clock: Clock, signal: AbortSignal, draw: () => void): Promise<void> {
  try {
    for (;;) {
      await sleep(clock, TICK_MS, signal)
      draw()
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

export interface FollowRowsOptions<R> extends FollowOptions {
  readonly read: () => Promise<readonly R[]>
  readonly output: RowOutput<R>
  readonly format: OutputFormat
  /** Unique among all rows. Default: the name. */
  readonly idOf?: (row: R) => string
  /** Rows are added and never go away, as a log: they are printed as they come. Default false. */
  readonly isLog?: boolean
  /** Draws the rows on a terminal. */
  readonly render: (rows: readonly R[]) => string
}

type RowEvent = 'ADDED' | 'MODIFIED' | 'DELETED'

/** Shows rows until the signal aborts: in place on a terminal, else one line or document for each change. */
export async function followRows<R>(options: FollowRowsOptions<R>): Promise<void> {
  const { changed, format, isLog = false, output, read, render, signal, terminal, write } = options
  const { idOf = (row: R) => output.nameOf(row) } = options
  const isDocument = format === 'json' || format === 'yaml'
  if (terminal.isTerminal && !isLog && !isDocument && format !== 'name') {
    const fitting = (text: string): string => fitText(text, terminal.columns)
    return followScreen({ read, render: (rows) => render(rows).split('\n').map(fitting).join('\n') }, options)
  }
  let known = new Map<string, { readonly row: R; readonly text: string }>()
  let widths: readonly number[] = []
  await untilAborted(signal, async () => {
    const rows = new Map((await read()).map((row) => [idOf(row), { row, text: contentOf(row, options) }]))
    const events: (readonly [RowEvent, R])[] = []
    for (const [name, { row, text }] of rows) {
      const before = known.get(name)
      if (!before) events.push(['ADDED', row])
      else if (before.text !== text) events.push(['MODIFIED', row])
    }
    if (!isLog) for (const [name, { row }] of known) if (!rows.has(name)) events.push(['DELETED', row])
    known = rows
    if (isDocument) {
      for (const [type, row] of events) {
        const value = valueOfRow(row, output)
        const text = valueText(format, isLog ? value : { type, object: value })
        write(format === 'yaml' ? `---\n${text}` : text)
      }
    } else if (format === 'name') for (const [, row] of events) write(output.nameOf(row))
    else if (events.length > 0) widths = writeEvents(events, format, options, widths)
    await changed(signal)
  })
}

/** The row as text, for comparison: relative times in cells change without a change of the row. */
function contentOf<R>(row: R, { output }: FollowRowsOptions<R>): string {
  return JSON.stringify(valueOfRow(row, output))
}

/** Writes lines with the columns of the lines before. Returns the widths of the columns. */
function writeEvents<R>(
  events: readonly (readonly [RowEvent, R])[],
  format: 'table' | 'wide',
  { isLog = false, output, write }: FollowRowsOptions<R>,
  before: readonly number[],
): readonly number[] {
  const columns = shownColumns(format, output)
  const headings = [...(isLog ? [] : ['EVENT']), ...columns.map(({ heading }) => heading)]
  const cells = events.map(([type, row]) => [...(isLog ? [] : [type]), ...columns.map((column) => column.of(row))])
  const widths = headings.map((heading, at) =>
    Math.max(before[at] ?? 0, heading.length, ...cells.map((row) => (row[at] ?? '').length)),
  )
  const padded = headings.map((heading, at) => heading.padEnd(widths[at] ?? 0))
  const text = table(padded, cells)
  write(before.length === 0 ? text : text.slice(text.indexOf('\n') + 1))
  return widths
}

async function untilAborted(signal: AbortSignal, round: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    try {
      await round()
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }
}
