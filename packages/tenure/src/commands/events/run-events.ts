import { asError } from '@tenure/kube'
import { Event } from '@tenure/kube/kinds'
import { parseDuration } from '@tenure/runtime'
import { followRows, outputFormatOf, rowsText } from '@tenure/runtime/cli'
import type { ClusterContext, ClusterOptions } from '../cluster/context.ts'
import { refusedLine } from '../cluster/lists.ts'
import { Managed } from '../cluster/managed.ts'
import { EXIT_CODES } from '../../cli/exit-codes.ts'
import { argumentError } from '../../cli/usage-error.ts'
import { namespaceOf } from '../cluster/scope.ts'
import { sourceOf } from '../cluster/source.ts'
import {
  byTime,
  type ManagedEventFilter,
  eventOutput,
  type EventRow,
  eventRow,
  isAboutManaged,
  matches,
} from './event-rows.ts'
import { managedObjects } from './managed-objects.ts'

const TYPES = ['Normal', 'Warning'] as const

/** `tenure events`: events about managed objects, newest last. Resolves with the exit code. */
export async function runEvents(context: ClusterContext, options: ClusterOptions): Promise<number> {
  const { clock, signal, terminal, warn, write } = context
  const format = outputFormatOf(options.output, (message) => argumentError(message))
  const filter = filterOf(options, clock.now())
  const namespace = namespaceOf(context, options)
  const { changed, close, lists } = sourceOf(context, options)
  try {
    const managed = new Managed(context, lists, { namespace })
    if (options.watch) await managed.followLeases()
    const read = async (): Promise<readonly EventRow[]> => {
      const [objects, events] = await Promise.all([
        managedObjects(managed, lists, namespace),
        lists.list(Event, { namespace }),
      ])
      const rows = events.map((event) => eventRow(event))
      return rows.filter((row) => matches(row, filter) && isAboutManaged(row, objects)).toSorted(byTime)
    }
    const output = eventOutput(clock)
    if (options.watch) {
      const render = (rows: readonly EventRow[]): string => rowsText(format, rows, output)
      await followRows({ read, output, format, idOf, isLog: true, render, changed, clock, signal, terminal, write })
      return EXIT_CODES.ok
    }
    const rows = await read()
    const refused = refusedLine(lists, namespace)
    if (refused !== undefined) warn(refused)
    if (lists.refused.has(`${Event.plural}.${Event.group}`)) return EXIT_CODES.failed
    if (rows.length === 0 && format !== 'json' && format !== 'yaml')
      warn(`No events found${namespace === undefined ? '' : ` in the namespace ${namespace}; -A shows all`}.`)
    else write(rowsText(format, rows, output))
    return EXIT_CODES.ok
  } finally {
    await close()
  }
}

function idOf({ id }: EventRow): string {
  return id
}

function filterOf({ kind, name, since, type }: ClusterOptions, now: number): ManagedEventFilter {
  const wanted = TYPES.find((each) => each.toLowerCase() === type?.toLowerCase())
  if (type !== undefined && wanted === undefined)
    throw argumentError(`--type must be ${TYPES.join(' or ')}, not ${JSON.stringify(type)}.`)
  return {
    kind: kind?.toLowerCase().replace(/s$/, ''),
    name,
    type: wanted,
    since: since === undefined ? undefined : now - durationOf(since),
  }
}

function durationOf(text: string): number {
  try {
    return parseDuration(text)
  } catch (error) {
    throw argumentError(`--since is not a duration, such as 10m: ${asError(error).message}`, error)
  }
}
