import { AUDITED_TABLE } from '../api/names.ts'
import type { AuditAction, FieldChange, JobChange, JobType, LiveJob, ResourceRow } from '../api/rows.ts'
import type { SqlExecutor } from './database.ts'
import { LIVE_STATUSES } from './resource-query.ts'
import { currentTime, type DatabaseSchema, hasColumn } from './schema.ts'
import { quoteIdentifier, storableJson, storableText } from './sql-text.ts'

/** A job's log keeps its end. */
const MAX_LOG_CHARACTERS = 65_536
const MAX_ERROR_CHARACTERS = 4_096

interface JobWriteContext {
  readonly transaction: SqlExecutor
  readonly schema: DatabaseSchema
  readonly row: ResourceRow
}

/** Carries out a change of the resource's job. False: another controller has changed it meanwhile. */
export async function writeJob(context: JobWriteContext, change: JobChange): Promise<boolean> {
  switch (change.type) {
    case 'begin':
      return beginJob(context, change.jobType, change.changes, change.log)
    case 'progress':
      return updateJob(context, change.job, {
        log: change.log,
        ...(change.attempts !== undefined && { attempts: change.attempts }),
      })
    case 'extend':
      return extendJob(context, change)
    case 'complete': {
      const isOurs = await updateJob(context, change.job, { log: change.log, status: 'completed' })
      if (isOurs) await writeAudit(context, change.audit, change.job)
      return isOurs
    }
    case 'fail': {
      const isOurs = await updateJob(context, change.job, { log: change.log, status: 'failed', error: change.error })
      if (isOurs) await writeAudit(context, 'resource.failed', change.job, change.error)
      return isOurs
    }
    case 'reject':
      return rejectJob(context, change.jobType, change.error)
    default:
      return change satisfies never
  }
}

/** Takes the job that the platform has queued, or inserts one. The unique index admits one live job only. */
async function beginJob(
  context: JobWriteContext,
  type: JobType,
  changes: readonly FieldChange[],
  log: readonly string[],
): Promise<boolean> {
  const { row, schema, transaction } = context
  const now = currentTime(schema, 'provisioning_jobs', 'started_at')
  const values = [row.id, type, row.generation, storableJson({ changes }), logText(log)]
  const taken = await transaction.query(
    `UPDATE provisioning_jobs SET status = 'running', job_type = $2, generation = $3, details = $4,
       logs = right(coalesce(logs, '') || $5, ${MAX_LOG_CHARACTERS}), started_at = ${now}${touched(schema)}
     WHERE id = (SELECT id FROM provisioning_jobs WHERE resource_id = $1 AND status = 'pending'
                 ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)`,
    values,
  )
  if (taken.count > 0) return true
  return (await insertJob(context, { type, status: 'running', details: { changes }, log })) !== undefined
}

async function extendJob(
  { row, schema, transaction }: JobWriteContext,
  { changes, job, jobType, log }: Extract<JobChange, { type: 'extend' }>,
): Promise<boolean> {
  const { count } = await transaction.query(
    `UPDATE provisioning_jobs SET job_type = $2, generation = $3, details = $4, attempts = 0,
       logs = right(coalesce(logs, '') || $5, ${MAX_LOG_CHARACTERS})${touched(schema)}
     WHERE id = $1 AND resource_id = $6 AND status IN ${LIVE_STATUSES}`,
    [job.id, jobType, row.generation, storableJson({ changes }), logText(log), row.id],
  )
  return count > 0
}

interface NewJob {
  readonly type: JobType
  readonly status: 'running' | 'failed'
  readonly details: object
  readonly log: readonly string[]
  readonly error?: string
}

async function insertJob({ row, schema, transaction }: JobWriteContext, job: NewJob): Promise<string | undefined> {
  const now = currentTime(schema, 'provisioning_jobs', 'started_at')
  const createdBy = requiredUser(schema, 'provisioning_jobs', 'created_by', row)
  const columns = {
    resource_id: row.id,
    job_type: job.type,
    status: job.status,
    generation: row.generation,
    details: storableJson(job.details),
    logs: logText(job.log),
    error_message: job.error ?? null,
    ...(createdBy !== undefined && { created_by: createdBy }),
  }
  const names = Object.keys(columns)
  const { rows } = await transaction.query<{ id: string }>(
    `INSERT INTO provisioning_jobs (${names.join(', ')}, started_at, completed_at)
     VALUES (${names.map((_, index) => `$${index + 1}`).join(', ')}, ${now}, ${job.status === 'failed' ? now : 'NULL'})
     ON CONFLICT (resource_id) WHERE status IN ${LIVE_STATUSES} DO NOTHING
     RETURNING id::text AS id`,
    Object.values(columns),
  )
  return rows[0]?.id
}

interface JobUpdate {
  readonly log: readonly string[]
  readonly status?: 'completed' | 'failed'
  readonly error?: string
  readonly attempts?: number
}

async function updateJob(
  { row, schema, transaction }: JobWriteContext,
  job: LiveJob,
  update: JobUpdate,
): Promise<boolean> {
  const finished = update.status !== undefined
  const { count } = await transaction.query(
    `UPDATE provisioning_jobs SET status = coalesce($2, status::text)${castOf(schema)},
       logs = right(coalesce(logs, '') || $3, ${MAX_LOG_CHARACTERS}),
       error_message = coalesce($4, error_message), attempts = coalesce($5::integer, attempts),
       generation = coalesce(generation, $6::bigint),
       started_at = coalesce(started_at, ${currentTime(schema, 'provisioning_jobs', 'started_at')})
       ${finished ? `, completed_at = ${currentTime(schema, 'provisioning_jobs', 'completed_at')}` : ''}${touched(schema)}
     WHERE id = $1 AND resource_id = $7 AND status IN ${LIVE_STATUSES}`,
    [
      job.id,
      update.status ?? null,
      logText(update.log),
      update.error === undefined ? null : errorText(schema, update.error),
      update.attempts ?? null,
      job.generation,
      row.id,
    ],
  )
  return count > 0
}

/** One failed job per generation and reason, however often and by whichever replica the failure is found. */
async function rejectJob(context: JobWriteContext, type: JobType, text: string): Promise<boolean> {
  const { row, schema, transaction } = context
  const error = errorText(schema, text)
  const reported = await transaction.query(
    `SELECT 1 FROM (SELECT status, generation, error_message FROM provisioning_jobs
                    WHERE resource_id = $1 AND status NOT IN ${LIVE_STATUSES} ORDER BY id DESC LIMIT 1) last
     WHERE last.status = 'failed' AND last.generation = $2 AND last.error_message = $3`,
    [row.id, row.generation, error],
  )
  const now = currentTime(schema, 'provisioning_jobs', 'completed_at')
  const ended = await transaction.query<{ id: string }>(
    `UPDATE provisioning_jobs SET status = 'failed', error_message = $2, generation = $3,
       started_at = coalesce(started_at, ${now}), completed_at = ${now}${touched(schema)}
     WHERE resource_id = $1 AND status IN ${LIVE_STATUSES} RETURNING id::text AS id`,
    [row.id, error, row.generation],
  )
  const live = ended.rows[0]?.id
  if (live === undefined && reported.count > 0) return true
  const id = live ?? (await insertJob(context, { type, status: 'failed', details: {}, log: [], error }))
  if (id === undefined) return false
  await writeAudit(context, 'resource.failed', { id, type, generation: row.generation, changes: [] }, text)
  return true
}

async function writeAudit(
  { row, schema, transaction }: JobWriteContext,
  action: AuditAction,
  job: Pick<LiveJob, 'id' | 'type' | 'generation' | 'changes'>,
  error?: string,
): Promise<void> {
  const userId = requiredUser(schema, 'audit_logs', 'user_id', row)
  const details = {
    name: row.name,
    job_id: job.id,
    job_type: job.type,
    generation: job.generation,
    changes: job.changes,
    ...(error !== undefined && { error: errorText(schema, error) }),
  }
  const columns = {
    action,
    resource_type: AUDITED_TABLE,
    resource_id: row.id,
    details: storableJson(details),
    ...(userId !== undefined && { user_id: userId }),
    ...(hasColumn(schema, 'audit_logs', 'team_id') && { team_id: row.teamId ?? null }),
  }
  const names = Object.keys(columns)
  await transaction.query(
    `INSERT INTO audit_logs (${names.map(quoteIdentifier).join(', ')}, "timestamp")
     VALUES (${names.map((_, index) => `$${index + 1}`).join(', ')}, ${currentTime(schema, 'audit_logs', 'timestamp')})`,
    Object.values(columns),
  )
}

/** The controller is not a user: NULL, unless the column requires one; then the user that created the resource. */
function requiredUser(
  schema: DatabaseSchema,
  table: 'provisioning_jobs' | 'audit_logs',
  column: string,
  row: ResourceRow,
): string | undefined {
  return schema.tables[table]?.get(column)?.isRequired ? row.createdBy : undefined
}

function touched(schema: DatabaseSchema): string {
  if (!hasColumn(schema, 'provisioning_jobs', 'updated_at')) return ''
  return `, updated_at = ${currentTime(schema, 'provisioning_jobs', 'updated_at')}`
}

/** `coalesce` of text needs a cast back if the status is an enum. */
function castOf(schema: DatabaseSchema): string {
  const type = schema.tables.provisioning_jobs?.get('status')?.type
  return type === undefined ? '' : `::${type}`
}

function logText(lines: readonly string[]): string {
  return lines.map((line) => `${storableText(line)}\n`).join('')
}

function errorText(schema: DatabaseSchema, text: string): string {
  const limit = schema.tables.provisioning_jobs?.get('error_message')?.maxLength ?? MAX_ERROR_CHARACTERS
  return storableText(text).slice(0, limit).toWellFormed()
}
