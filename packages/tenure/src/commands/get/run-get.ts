import { closest, TenureError } from '@tenure/kube'
import { followRows, type OutputFormat, outputFormatOf, rowsText, rowText, valueText } from '@tenure/runtime/cli'
import type { ClusterContext, ClusterOptions } from '../cluster/context.ts'
import { Databases } from '../cluster/databases.ts'
import { refusedLine } from '../cluster/lists.ts'
import { Managed } from '../cluster/managed.ts'
import { EXIT_CODES } from '../../cli/exit-codes.ts'
import { argumentError } from '../../cli/usage-error.ts'
import { checkSelector, namespaceOf } from '../cluster/scope.ts'
import { sourceOf } from '../cluster/source.ts'
import { RESOURCE_VIEWS, type ResourceView, type ViewSources } from './resource-views.ts'

/** `tenure get <resource> [name]`. Resolves with the exit code. */
export async function runGet(
  context: ClusterContext,
  options: ClusterOptions,
  [resource = '', name]: readonly string[],
): Promise<number> {
  const { clock, warn } = context
  const format = outputFormatOf(options.output, (message) => argumentError(message))
  const views = viewsOf(resource, name, options)
  checkSelector(options.selector)
  const namespace = namespaceOf(context, options)
  const databases = new Databases(context, options)
  const { changed, close, lists } = sourceOf(context, options, databases)
  try {
    const managed = new Managed(context, lists, { namespace, selector: options.selector })
    const notes = new Set<string>()
    const sources = { managed, lists, databases, clock, namespace, note: (text: string) => void notes.add(text) }
    const [view] = views
    if (options.watch && view) {
      if (view.names.includes('leases')) await managed.followLeases()
      await followView(context, { view, format, sources, name, changed })
      return EXIT_CODES.ok
    }
    const found = await Promise.all(
      views.map(async (each) => ({ view: each, rows: await rowsOf(each, sources, name) })),
    )
    for (const note of notes) warn(note)
    const refused = refusedLine(lists, namespace)
    if (refused !== undefined) warn(refused)
    // Without any answer there is nothing to say about what exists.
    if (lists.refused.size > 0 && !lists.hasAnswered && found.every(({ rows }) => rows.length === 0))
      return EXIT_CODES.failed
    if (name !== undefined && view) return writeNamed(context, view, { rows: found[0]?.rows ?? [], name, format })
    writeAll(context, found, { format, isOne: views.length === 1, namespace })
    return EXIT_CODES.ok
  } finally {
    await close()
  }
}

interface FoundRows {
  readonly view: ResourceView
  readonly rows: readonly object[]
}

function viewsOf(resource: string, name: string | undefined, options: ClusterOptions): readonly ResourceView[] {
  if (resource === 'all') {
    if (name !== undefined) throw argumentError('A name needs one resource: tenure get all takes none.')
    if (options.watch) throw argumentError('-w needs one resource. To watch everything, run tenure status -w.')
    return options.selector === undefined ? RESOURCE_VIEWS : RESOURCE_VIEWS.filter(({ hasLabels }) => hasLabels)
  }
  const view = RESOURCE_VIEWS.find(({ names }) => names.includes(resource.toLowerCase()))
  if (!view) {
    const all = [...RESOURCE_VIEWS.map(({ names: [plural = ''] }) => plural), 'all']
    const [meant] = closest(resource.toLowerCase(), all, (each) => [each])
    const hint = meant === undefined ? '' : ` Did you mean ${meant}?`
    throw argumentError(`${JSON.stringify(resource)} is not a resource of tenure: use ${all.join(', ')}.${hint}`)
  }
  if (options.selector !== undefined && !view.hasLabels)
    throw argumentError(`-l selects objects by their labels, and ${view.names[0]} are no objects.`)
  return [view]
}

async function rowsOf(view: ResourceView, sources: ViewSources, name: string | undefined): Promise<readonly object[]> {
  const rows = await view.rows(sources)
  return name === undefined ? rows : rows.filter((row) => view.namesOf(row).includes(name))
}

async function followView(
  { clock, signal, terminal, write }: ClusterContext,
  {
    changed,
    format,
    name,
    sources,
    view,
  }: {
    readonly view: ResourceView
    readonly format: OutputFormat
    readonly sources: ViewSources
    readonly name: string | undefined
    readonly changed: (signal: AbortSignal) => Promise<void>
  },
): Promise<void> {
  const output = view.output(clock)
  await followRows({
    read: () => rowsOf(view, sources, name),
    output,
    format,
    idOf: (row) => view.idOf(row),
    render: (rows) => rowsText(format, rows, output),
    changed,
    clock,
    signal,
    terminal,
    write,
  })
}

function writeNamed(
  { clock, write }: ClusterContext,
  view: ResourceView,
  { format, name, rows }: { readonly rows: readonly object[]; readonly name: string; readonly format: OutputFormat },
): number {
  const [row] = rows
  if (row === undefined) {
    const [plural = '', singular = ''] = view.names
    throw new TenureError(
      'TENURE_COMMAND_NOT_FOUND',
      `There is no ${singular} ${name} here. See tenure get ${plural} -A.`,
    )
  }
  const output = view.output(clock)
  write(rows.length === 1 ? rowText(format, row, output) : rowsText(format, rows, output))
  return EXIT_CODES.ok
}

function writeAll(
  { clock, warn, write }: ClusterContext,
  found: readonly FoundRows[],
  {
    format,
    isOne,
    namespace,
  }: { readonly format: OutputFormat; readonly isOne: boolean; readonly namespace: string | undefined },
): void {
  if (format === 'json' || format === 'yaml') {
    const [only] = found
    if (isOne && only) return write(rowsText(format, only.rows, only.view.output(clock)))
    return write(valueText(format, Object.fromEntries(found.map(({ rows, view }) => [view.names[0], rows]))))
  }
  const shown = found.filter(({ rows }) => rows.length > 0)
  if (shown.length === 0) {
    const what = isOne ? found[0]?.view.names[0] : 'managed objects'
    return warn(`No ${what} found${namespace === undefined ? '' : ` in the namespace ${namespace}; -A shows all`}.`)
  }
  const texts = shown.map(({ rows, view }) => {
    const text = rowsText(format, rows, view.output(clock))
    return isOne || format === 'name' ? text : `${(view.names[0] ?? '').toUpperCase()}\n${text}`
  })
  write(texts.join(format === 'name' ? '\n' : '\n\n'))
}
