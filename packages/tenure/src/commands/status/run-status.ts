import { followScreen, type OutputFormat, outputFormatOf, valueText } from '@tenure/runtime/cli'
import type { ClusterContext, ClusterOptions } from '../cluster/context.ts'
import { Databases } from '../cluster/databases.ts'
import { type Lists, refusedLine } from '../cluster/lists.ts'
import { Managed } from '../cluster/managed.ts'
import { EXIT_CODES } from '../../cli/exit-codes.ts'
import { argumentError } from '../../cli/usage-error.ts'
import { sourceOf } from '../cluster/source.ts'
import { renderStatus } from './render.ts'
import { readSummary, type StatusSummary } from './summary.ts'

/** `tenure status`: without a namespace, of all. Resolves with the exit code. */
export async function runStatus(context: ClusterContext, options: ClusterOptions): Promise<number> {
  const { api, clock, config, terminal, warn, write } = context
  const { namespace } = options
  const format = outputFormatOf(options.output, (message) => argumentError(message))
  const version = await api.requester.json({ verb: 'raw', method: 'GET', path: '/version', idempotent: true })
  const { gitVersion: kubernetes = '' } = (version.value ?? {}) as { readonly gitVersion?: string }
  const databases = new Databases(context, options)
  const { changed, close, lists } = sourceOf(context, options, databases)
  try {
    const managed = new Managed(context, lists, { namespace })
    if (options.watch) await managed.followLeases()
    const sources = { managed, lists, databases, server: config.server, kubernetes, namespace }
    const read = (): Promise<StatusSummary> => readSummary(sources, clock.now())
    if (options.watch) {
      const render = (summary: StatusSummary): string => {
        const notes = notesOf(summary, lists, namespace)
        return [statusText(context, format, summary, notes), ...notes].join('\n')
      }
      await followScreen({ read, render }, { changed, clock, signal: context.signal, terminal, write })
      return EXIT_CODES.ok
    }
    const summary = await read()
    const notes = notesOf(summary, lists, namespace)
    for (const note of notes) warn(note)
    const text = statusText(context, format, summary, context.warnings)
    if (text !== '') write(text)
    return EXIT_CODES.ok
  } finally {
    await close()
  }
}

function notesOf({ notes }: StatusSummary, lists: Lists, namespace: string | undefined): readonly string[] {
  const refused = refusedLine(lists, namespace)
  return refused === undefined ? notes : [...notes, refused]
}

function statusText(
  { clock, terminal }: ClusterContext,
  format: OutputFormat,
  summary: StatusSummary,
  notes: readonly string[],
): string {
  switch (format) {
    case 'json':
    case 'yaml':
      return valueText(format, summary)
    case 'name':
      // Kinds of rows that are no objects have names, too.
      return summary.trouble.map(({ kind, name }) => `${kind.toLowerCase()}/${name}`).join('\n')
    default: {
      const taken = notes.reduce((sum, note) => sum + Math.ceil(note.length / terminal.columns), 0)
      return renderStatus(summary, { terminal, reserved: taken + 1, now: clock.now(), isWide: format === 'wide' })
    }
  }
}
