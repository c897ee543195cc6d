import {
  ANY_ACCOUNT,
  HttpError,
  invalidRequest,
  json,
  notFound,
  type RequestHead,
  type Route,
  route,
  unavailable,
} from '@tenure/http'
import { TenureError } from '@tenure/kube'
import { asJsonObject } from '@tenure/kube/model'
import { z } from 'zod'
import type { ResourceRow } from '../api/rows.ts'
import { MAX_REPLICAS } from '../config/database-config.ts'
import { isManaged } from '../controllers/database/row-table.ts'
import { isDbArgumentError } from '../platform/argument-error.ts'
import { changeLines } from '../platform/audit-changes.ts'
import { deleted, paused, resumed, withConfig } from '../platform/changes.ts'
import { type AuditRecord, type DesiredChange, type JobRecord, PlatformRows } from '../platform/rows.ts'
import { withoutSecrets } from '../platform/without-secrets.ts'
import type { Database } from '../postgres/database.ts'
import { DatabaseError } from '../postgres/errors.ts'
import { databaseRow, namespaceOf } from './views/database-row.ts'
import { databaseRowSchema, DATABASES_RESOURCE } from './views/databases-view.ts'

const ONE = '/api/v1/databases/:id'
const TAGS = ['databases']
const MAX_SHOWN_RECORDS = 10

const params = z.object({ id: z.string() })
const time = z.int().optional()

const detailsSchema = z.object({
  row: databaseRowSchema,
  config: z.record(z.string(), z.unknown()),
  jobs: z.array(
    z.object({
      id: z.string(),
      type: z.string(),
      status: z.string(),
      startedAt: time,
      completedAt: time,
      logs: z.string(),
      error: z.string().optional(),
    }),
  ),
  audit: z.array(
    z.object({
      id: z.string(),
      action: z.string(),
      at: z.int(),
      /** A line for each change that the operator recorded, or its error; empty in rows of other programs. */
      changes: z.array(z.string()),
      details: z.unknown(),
    }),
  ),
})

const acceptedSchema = z.object({
  job: z.object({ id: z.string(), type: z.string(), status: z.string() }).optional(),
})

const failure = (description: string) => ({
  description,
  schema: z.object({ error: z.string(), details: z.array(z.unknown()).optional() }),
})

const UNAVAILABLE = failure('PostgreSQL cannot be used now')

const ACCEPTED = {
  202: { description: 'The row is written; `job` is the one that is under way already', schema: acceptedSchema },
  403: failure('The caller may not do this in the namespace of the database'),
  404: failure('There is no such database'),
  409: failure('The database is deleted, or the operator does not manage it'),
  503: UNAVAILABLE,
}

export interface DatabaseRoutesOptions {
  readonly database: Database
  /** For rows without a namespace. */
  readonly namespacePrefix: string
}

type Caller = Pick<RequestHead<{ readonly id: string }>, 'authorize' | 'params'>

/** The HTTP API of databases. It reads and writes the platform's tables, on every replica. */
export function databaseRoutes(options: DatabaseRoutesOptions): readonly Route[] {
  const common = { params, tags: TAGS, access: ANY_ACCOUNT } as const
  const changing = async (verb: string, caller: Caller, change: (row: ResourceRow) => DesiredChange | undefined) => {
    const row = await withRow(options, verb, caller, (rows, { id }) =>
      rows.update(id, (current) => {
        checkChangeable(current)
        return change(current)
      }),
    )
    const { id, status, type } = row.job ?? {}
    return json(202, id === undefined ? {} : { job: { id, type, status } })
  }
  return [
    route({
      ...common,
      method: 'GET',
      path: ONE,
      summary: 'One database with its config, its latest jobs and its audit trail; never a password',
      responses: {
        200: { description: 'The database', schema: detailsSchema },
        403: failure('The caller may not read databases in this namespace'),
        404: failure('There is no such database'),
        503: UNAVAILABLE,
      },
      handle: async (caller) =>
        json(200, await withRow(options, 'get', caller, (rows, row) => detailsOf(options, rows, row))),
    }),
    route({
      ...common,
      method: 'POST',
      path: `${ONE}/scale`,
      summary: 'Change the number of pods',
      body: z.strictObject({ replicas: z.int().min(0).max(MAX_REPLICAS) }),
      responses: { ...ACCEPTED, 400: failure('The engine cannot have that number of pods') },
      handle: (request) =>
        changing(
          'update',
          request,
          (row) => withConfig(row, { ...row.config, replicas: request.body.replicas }).change,
        ),
    }),
    route({
      ...common,
      method: 'POST',
      path: `${ONE}/pause`,
      summary: 'Stop the pods and keep the volumes',
      responses: ACCEPTED,
      handle: (request) => changing('update', request, paused),
    }),
    route({
      ...common,
      method: 'POST',
      path: `${ONE}/resume`,
      summary: 'Start the pods of a paused database',
      responses: ACCEPTED,
      handle: (request) => changing('update', request, resumed),
    }),
    route({
      ...common,
      method: 'DELETE',
      path: ONE,
      summary: 'Delete a database; its volumes stay, unless deleteData is true',
      query: z.object({ deleteData: z.enum(['true', 'false']).optional() }),
      responses: ACCEPTED,
      handle: (request) => changing('delete', request, (row) => deleted(row, request.query.deleteData === 'true')),
    }),
  ]
}

/** Calls `work` with the row that the path names, if the caller has the permission in the namespace of its database. */
async function withRow<T>(
  { database, namespacePrefix }: DatabaseRoutesOptions,
  verb: string,
  { authorize, params: { id } }: Caller,
  work: (rows: PlatformRows, row: ResourceRow) => Promise<T>,
): Promise<T> {
  try {
    const rows = await PlatformRows.open(database)
    const row = await rows.byId(id)
    // Without a row the caller needs the permission in all namespaces, so that it does not learn which ids exist.
    await authorize({
      ...DATABASES_RESOURCE,
      verb,
      namespace: row && namespaceOf(row, namespacePrefix),
      name: row?.name,
    })
    if (!row) throw missing()
    return await work(rows, row)
  } catch (error) {
    throw toHttpError(error)
  }
}

async function detailsOf(
  { namespacePrefix }: DatabaseRoutesOptions,
  rows: PlatformRows,
  row: ResourceRow,
): Promise<z.output<typeof detailsSchema>> {
  const jobs = await rows.jobs(row.id, MAX_SHOWN_RECORDS)
  const audit = await rows.audit(row.id, MAX_SHOWN_RECORDS)
  return {
    row: databaseRow(row, namespacePrefix),
    config: withoutSecrets(row.config),
    jobs: jobs.map(jobOf),
    audit: audit.map(auditOf),
  }
}

function jobOf({ completedAt, error, id, logs, startedAt, status, type }: JobRecord) {
  return {
    id,
    type,
    status,
    ...(startedAt !== null && { startedAt: Math.floor(startedAt) }),
    ...(completedAt !== null && { completedAt: Math.floor(completedAt) }),
    logs,
    ...(error !== null && { error }),
  }
}

function auditOf({ action, details, id, timestamp }: AuditRecord) {
  const shown = withoutSecrets(asJsonObject(details))
  return { id, action, at: Math.floor(timestamp ?? 0), changes: [...changeLines(shown)], details: shown }
}

/** Throws a 409 for a row whose change no operator would carry out. */
function checkChangeable(row: ResourceRow): void {
  if (row.deletedAt !== undefined) throw conflict(`The database ${row.name} is deleted`)
  if (!isManaged(row))
    throw conflict(`The database ${row.name} has lifecycle_mode ${row.lifecycleMode}: the operator does not change it`)
}

function toHttpError(error: unknown): unknown {
  if (isDbArgumentError(error)) return invalidRequest([{ field: 'replicas', message: error.message }], error)
  if (!(error instanceof TenureError)) return error
  // The row was removed meanwhile.
  if (error.code === 'TENURE_DATABASE_UNKNOWN') return missing()
  const isUnavailable =
    error instanceof DatabaseError ? error.fate === 'retry' : error.code === 'TENURE_DATABASE_SCHEMA'
  return isUnavailable ? unavailable('The tables of the platform cannot be used now; try again', error) : error
}

const missing = (): HttpError => notFound('There is no such database')
const conflict = (message: string): HttpError => new HttpError('TENURE_HTTP_CONFLICT', 409, message)
