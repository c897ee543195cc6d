import { columnType, type DatabaseSchema, hasColumn } from './schema.ts'

/** A larger document is not read: 10,000 rows must fit into memory. */
export const MAX_JSON_BYTES = 262_144
/** Of a job's log, the end is read. */
const MAX_LOG_CHARACTERS = 16_384

export const LIVE_STATUSES = `('pending', 'running')`

/** A row as the driver returns it; `resource-row.ts` turns it into a ResourceRow. */
export interface RawResource {
  readonly id: string
  readonly name: string | null
  readonly type: string | null
  readonly teamId: string | null
  readonly teamName: string | null
  readonly status: string | null
  readonly lifecycleMode: string | null
  readonly namespace: string | null
  readonly resourceName: string | null
  readonly resourceType: string | null
  readonly config: unknown
  readonly connectionInfo: unknown
  readonly credentials: unknown
  readonly deletedAt: string | null
  readonly createdBy: string | null
  readonly generation: string
  readonly observedGeneration: string | null
  readonly changeXid: string
  readonly jobId: string | null
  readonly jobType: string | null
  readonly jobStatus: string | null
  readonly jobGeneration: string | null
  readonly jobAttempts: number | null
  readonly jobDetails: unknown
  readonly jobLogs: string | null
  readonly lastStatus: string | null
  readonly lastGeneration: string | null
  readonly lastError: string | null
}

/** One SELECT for rows with their type, team, live job and last finished job, without a WHERE clause. */
export function resourceQuery(schema: DatabaseSchema): string {
  const text = (column: string): string => (hasColumn(schema, 'resources', column) ? `r.${column}::text` : 'NULL::text')
  return `
SELECT r.id::text AS id, ${text('name')} AS name, t.name::text AS type,
       ${text('team_id')} AS "teamId", tm.name::text AS "teamName",
       ${text('status')} AS status, ${text('lifecycle_mode')} AS "lifecycleMode",
       ${text('k8s_namespace')} AS namespace, ${text('k8s_resource_name')} AS "resourceName",
       ${text('k8s_resource_type')} AS "resourceType",
       ${document(schema, 'config')} AS config, ${document(schema, 'connection_info')} AS "connectionInfo",
       ${document(schema, 'credentials')} AS credentials,
       ${utcTime(schema, 'deleted_at')} AS "deletedAt", ${text('created_by')} AS "createdBy",
       r.generation::text AS generation, r.observed_generation::text AS "observedGeneration",
       r.change_xid::text AS "changeXid",
       j.id::text AS "jobId", j.job_type::text AS "jobType", j.status::text AS "jobStatus",
       j.generation::text AS "jobGeneration", j.attempts AS "jobAttempts", j.details AS "jobDetails",
       right(j.logs, ${MAX_LOG_CHARACTERS}) AS "jobLogs",
       f.status AS "lastStatus", f.generation::text AS "lastGeneration", f.error_message AS "lastError"
FROM resources r
LEFT JOIN resource_types t ON t.id = r.resource_type_id
LEFT JOIN teams tm ON tm.id = r.team_id
LEFT JOIN provisioning_jobs j ON j.resource_id = r.id AND j.status IN ${LIVE_STATUSES}
LEFT JOIN LATERAL (
  SELECT p.status::text, p.generation, p.error_message FROM provisioning_jobs p
  WHERE p.resource_id = r.id AND p.status NOT IN ${LIVE_STATUSES}
  ORDER BY p.id DESC LIMIT 1) f ON true`
}

/** The document, or its size in bytes if it is too large to read. */
function document(schema: DatabaseSchema, column: string): string {
  const type = columnType(schema, 'resources', column)
  // Text is parsed here, because the server would fail the whole query on one bad row.
  const value = type === 'jsonb' || type === 'json' ? `r.${column}` : `to_jsonb(r.${column}::text)`
  return `CASE WHEN pg_column_size(r.${column}) > ${MAX_JSON_BYTES} THEN to_json(pg_column_size(r.${column}))${type === 'json' ? '' : '::jsonb'} ELSE ${value} END`
}

/** RFC 3339. A column without a time zone holds UTC. */
function utcTime(schema: DatabaseSchema, column: string): string {
  const isLocal = columnType(schema, 'resources', column)?.includes('without time zone')
  const time = isLocal ? `r.${column}` : `r.${column} AT TIME ZONE 'UTC'`
  return `to_char(${time}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
}
