import { isJsonObject, type JsonObject } from '@tenure/kube/model'
import { parseDuration } from '@tenure/runtime'
import { assignSetValue } from '@tenure/runtime/cli'
import type { ResourceRow } from '../api/rows.ts'
import { databaseNames } from '../config/names.ts'
import { databasesConfig } from '../config.ts'
import { dbArgumentError } from '../platform/argument-error.ts'
import { checkedConfig, withConfig } from '../platform/changes.ts'
import type { DesiredChange, NewResource, PlatformRows } from '../platform/rows.ts'
import type { DbCliContext, DbCliOptions } from './context.ts'
import { dbFormatOf, writeOutcome } from './output.ts'
import { waitForChange } from './progress.ts'

const DEFAULT_WAIT_MS = 600_000
const DEFAULT_TEAM = 'default'

/** Inserts a row and shows its job. Returns the exit code. */
export async function createDatabase(
  context: DbCliContext,
  rows: PlatformRows,
  name: string,
  options: DbCliOptions,
): Promise<number> {
  const { team = DEFAULT_TEAM, type } = options
  const format = dbFormatOf(options)
  const timeout = timeoutOf(options)
  if (!type) throw dbArgumentError('--type is missing: use postgresql, mariadb, redis or valkey.')
  if (team.trim() === '') throw dbArgumentError('--team needs the name of a team.')
  const config = withPairs({}, '--set', options.set ?? [])
  if (options.version !== undefined) config['version'] = options.version
  if (options.replicas !== undefined) config['replicas'] = integerOrText(options.replicas)
  if (options.storage !== undefined) config['storage_size'] = options.storage
  const resource: NewResource = { name, type, team, config }
  checkName(name)
  for (const warning of checkedConfig(type, config)) context.warn(warning)
  const row = await rows.create(resource)
  if (options.wait === false) return finish(context, row, options)
  const done = await waitForChange(context, rows, row, { generation: row.generation, before: undefined, timeout })
  writeOutcome(context, format, done)
  return 0
}

/** Changes a row and shows the job that carries it out. Returns the exit code. */
export async function changeDatabase(
  context: DbCliContext,
  rows: PlatformRows,
  name: string,
  options: DbCliOptions,
  change: (row: ResourceRow) => DesiredChange | undefined,
): Promise<number> {
  const format = dbFormatOf(options)
  const timeout = timeoutOf(options)
  const { id } = await rows.find(name, options.team)
  const [before] = await rows.jobs(id, 1)
  const row = await rows.update(id, change)
  if (row.lifecycleMode !== 'full')
    context.warn(
      `The row ${row.name} has lifecycle_mode ${row.lifecycleMode}: the operator does not change its database.`,
    )
  if (options.wait === false) return finish(context, row, options)
  const done = await waitForChange(context, rows, row, { generation: row.generation, before, timeout })
  writeOutcome(context, format, done)
  return 0
}

/** The config with other values; undefined: it has them already. Throws if the operator would refuse it. */
export function configChange(
  { warn }: DbCliContext,
  row: ResourceRow,
  pairs: readonly string[],
): DesiredChange | undefined {
  const { change, warnings } = withConfig(
    row,
    withoutNulls(withPairs(structuredClone(row.config), 'The argument', pairs)),
  )
  for (const warning of warnings) warn(warning)
  return change
}

function finish(context: DbCliContext, row: ResourceRow, options: DbCliOptions): number {
  writeOutcome(context, dbFormatOf(options), row)
  return 0
}

function withPairs(config: JsonObject, source: string, pairs: readonly string[]): Record<string, unknown> {
  const values: Record<string, unknown> = { ...config }
  for (const pair of pairs) {
    if (!assignSetValue(values, pair))
      throw dbArgumentError(`${source} ${pair} is not a value: write key=value, such as storage_size=20Gi.`)
  }
  return values
}

/** `key=null` takes a key away. */
function withoutNulls(value: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== null)
      .map(([key, item]) => [key, isJsonObject(item) ? withoutNulls(item) : item]),
  )
}

function checkName(name: string): void {
  const row = { name, resourceName: undefined, namespace: undefined, teamId: '1' }
  const names = databaseNames(row, databasesConfig.namespacePrefix.default)
  if ('refused' in names) throw dbArgumentError(names.refused)
}

/** A number that is not one is refused later, with its key. */
function integerOrText(text: string): number | string {
  return /^-?\d{1,9}$/.test(text) ? Number(text) : text
}

function timeoutOf({ timeout }: DbCliOptions): number {
  if (timeout === undefined) return DEFAULT_WAIT_MS
  try {
    const milliseconds = parseDuration(timeout)
    if (milliseconds > 0) return milliseconds
  } catch (error) {
    throw dbArgumentError(`--timeout ${timeout} is not a duration, such as 30s.`, error)
  }
  throw dbArgumentError('--timeout must be longer than 0.')
}
