import {
  followRows,
  fromNow,
  type OutputFormat,
  outputFormatOf,
  polling,
  type RowOutput,
  rowsText,
  table,
  valueText,
} from '@tenure/runtime/cli'
import type { JsonObject } from '@tenure/kube/model'
import type { ResourceRow } from '../api/rows.ts'
import { dbArgumentError } from '../platform/argument-error.ts'
import { changeLines, plainText, recordedChanges } from '../platform/audit-changes.ts'
import type { AuditRecord, JobRecord } from '../platform/rows.ts'
import { withoutSecrets } from '../platform/without-secrets.ts'
import type { DbCliContext, DbCliOptions } from './context.ts'

/** Milliseconds between two reads. */
const POLL_MS = 1_000
/** Keys that the operator writes. Others may hold passwords of another program, and are not shown. */
const CONNECTION_KEYS = [
  'host',
  'port',
  'service_name',
  'replicas',
  'ready_replicas',
  'pod_ips',
  'secret_name',
  'error',
]
const CREDENTIAL_KEYS = ['secret_name', 'secret_namespace']

export function dbFormatOf({ output }: DbCliOptions): OutputFormat {
  return outputFormatOf(output, (message) => dbArgumentError(message))
}

/** A row for programs, in the words of the table. No value is a password. */
export function rowForOutput(row: ResourceRow): JsonObject {
  return {
    id: row.id,
    name: row.name,
    type: row.type,
    team: row.teamName ?? null,
    status: row.status,
    lifecycle_mode: row.lifecycleMode,
    k8s_namespace: row.namespace ?? null,
    k8s_resource_name: row.resourceName ?? null,
    config: withoutSecrets(row.config),
    connection_info: picked(row.connectionInfo, CONNECTION_KEYS),
    credentials: picked(row.credentials, CREDENTIAL_KEYS),
    generation: row.generation,
    observed_generation: row.observedGeneration ?? null,
    deleted_at: row.deletedAt ?? null,
  }
}

const rowOutput: RowOutput<ResourceRow> = {
  columns: [
    { heading: 'NAME', of: ({ name }) => name },
    { heading: 'TEAM', of: ({ teamName = '-' }) => teamName },
    { heading: 'TYPE', of: ({ type }) => type },
    { heading: 'STATUS', of: ({ status }) => status },
    { heading: 'READY', of: ready },
    { heading: 'NAMESPACE', of: ({ namespace = '-' }) => namespace },
    { heading: 'ADDRESS', isWide: true, of: address },
    { heading: 'ID', isWide: true, of: ({ id }) => id },
    { heading: 'MESSAGE', of: ({ connectionInfo }) => text(connectionInfo['error']) ?? '' },
  ],
  nameOf: ({ name }) => `database/${name}`,
  toValue: rowForOutput,
}

export function writeRows({ write, warn }: DbCliContext, format: OutputFormat, rows: readonly ResourceRow[]): void {
  if (format === 'json') return write(JSON.stringify(rows.map(rowForOutput)))
  if (format === 'yaml') return write(valueText(format, rows.map(rowForOutput)))
  if (rows.length === 0) return warn('No databases found.')
  write(rowsText(format, rows, rowOutput))
}

function idOf({ id }: ResourceRow): string {
  return id
}

/** Shows rows until Ctrl-C. */
export async function followDatabases(
  context: DbCliContext,
  format: OutputFormat,
  read: () => Promise<readonly ResourceRow[]>,
): Promise<void> {
  const render = (rows: readonly ResourceRow[]): string => rowsText(format, rows, rowOutput)
  await followRows({ ...polling(context, POLL_MS), read, output: rowOutput, format, idOf, render })
}

/** The outcome of a command that changed a row. */
export function writeOutcome({ write }: DbCliContext, format: OutputFormat, row: ResourceRow): void {
  if (format === 'json') return write(JSON.stringify(rowForOutput(row)))
  if (format === 'yaml') return write(valueText(format, rowForOutput(row)))
  if (format === 'name') return write(rowOutput.nameOf(row))
  write(`database ${row.name} is ${row.status}${row.status === 'active' ? ` at ${address(row)}` : ''}`)
  const command = row.status === 'active' ? passwordCommand(row) : undefined
  if (command !== undefined) write(`To get its password:  ${command}`)
}

export interface RowHistory {
  readonly jobs: readonly JobRecord[]
  readonly audit: readonly AuditRecord[]
}

export function writeDetails(
  context: DbCliContext,
  format: OutputFormat,
  row: ResourceRow,
  { audit, jobs }: RowHistory,
): void {
  const { clock, write } = context
  if (format === 'name') return write(rowOutput.nameOf(row))
  if (format === 'json' || format === 'yaml') {
    const history = { jobs: jobs.map(jobForOutput), audit: audit.map(auditForOutput) }
    const value = { ...rowForOutput(row), ...history }
    return write(format === 'json' ? JSON.stringify(value) : valueText(format, value))
  }
  const reason = text(row.connectionInfo['error'])
  const pairs = [
    ['ID', row.id],
    ['NAME', row.name],
    ['TEAM', row.teamName ?? '-'],
    ['TYPE', row.type],
    ['STATUS', reason === undefined ? row.status : `${row.status}: ${reason}`],
    ['MODE', row.lifecycleMode],
    ['NAMESPACE', row.namespace ?? '-'],
    ['READY', ready(row)],
    ['ADDRESS', address(row)],
    ['PASSWORD', passwordCommand(row) ?? '-'],
    ...Object.entries(withoutSecrets(row.config)).map(([key, value]) => ['CONFIG', `${key}=${plainText(value)}`]),
  ]
  const [first = [], ...rest] = pairs
  write(table(first, rest))
  const relative = (time: number | null): string => (time === null ? '-' : fromNow(time, clock.now()))
  if (jobs.length > 0) {
    const cells = jobs.map((job) => [
      job.id,
      job.type,
      job.status,
      relative(job.completedAt ?? job.startedAt),
      job.error ?? '',
    ])
    write(`\n${table(['JOB', 'TYPE', 'STATUS', 'WHEN', 'MESSAGE'], cells)}`)
  }
  if (audit.length === 0) return
  const cells = audit.map(({ action, details, timestamp }) => [
    action,
    relative(timestamp),
    changeLines(details).join(', '),
  ])
  write(`\n${table(['AUDIT', 'WHEN', 'CHANGES'], cells)}`)
}

function jobForOutput({ completedAt, error, id, logs, startedAt, status, type }: JobRecord): JsonObject {
  const times = { started_at: timestampOf(startedAt), completed_at: timestampOf(completedAt) }
  return { id, job_type: type, status, error_message: error, logs, ...times }
}

function auditForOutput({ action, details, timestamp }: AuditRecord): JsonObject {
  return { action, changes: recordedChanges(details), timestamp: timestampOf(timestamp) }
}

function ready({ connectionInfo }: ResourceRow): string {
  const { ready_replicas: readyReplicas, replicas } = connectionInfo
  return replicas === undefined ? '-' : `${plainText(readyReplicas)}/${plainText(replicas)}`
}

function address({ connectionInfo: { host, port } }: ResourceRow): string {
  return typeof host === 'string' ? `${host}:${plainText(port)}` : '-'
}

function passwordCommand({ credentials }: ResourceRow): string | undefined {
  const { secret_name: name, secret_namespace: namespace } = credentials
  if (typeof name !== 'string' || typeof namespace !== 'string') return undefined
  return `kubectl get secret ${name} -n ${namespace} -o jsonpath='{.data.password}' | base64 -d`
}

function picked(value: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([key]) => keys.includes(key)))
}

const timestampOf = (milliseconds: number | null): string | null =>
  milliseconds === null ? null : new Date(milliseconds).toISOString()
const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)
