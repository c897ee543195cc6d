import type { View } from '@tenure/http'
import { z } from 'zod'
import type { ResourceRow } from '../../api/rows.ts'
import { databaseNames } from '../../config/names.ts'
import type { LeaderRows } from '../../controllers/database/leader-rows.ts'
import { isDeletionFinished } from '../../controllers/database/row-table.ts'
import { engineOf } from '../../engines/table.ts'
import { majorOf } from '../../engines/version.ts'

/** The API group of `databases` in RBAC rules for callers of the HTTP API. No such resource exists in the API server. */
export const DATABASES_RESOURCE = { group: 'databases.tenure.dev', resource: 'databases' }

export const databaseRowSchema = z.object({
  id: z.string(),
  name: z.string(),
  /** Of its objects; absent if the row names none that is valid. */
  namespace: z.string().optional(),
  team: z.string().optional(),
  engine: z.string(),
  version: z.string().optional(),
  status: z.string(),
  /** Why it is an error, or not done yet. */
  reason: z.string().optional(),
  replicas: z.int(),
  readyReplicas: z.int(),
  host: z.string().optional(),
  port: z.int().optional(),
  /** The Secret with its password, in its namespace. */
  secretName: z.string().optional(),
  lifecycleMode: z.string(),
  /** Decimal text. */
  generation: z.string(),
  observedGeneration: z.string().optional(),
  /** The job that is pending or running. */
  job: z.object({ id: z.string(), type: z.string(), status: z.string(), attempts: z.int() }).optional(),
})

export type DatabaseRow = z.output<typeof databaseRowSchema>

/** The rows of the platform, except those whose deletion is finished. */
export function databasesView(rows: LeaderRows, namespacePrefix: string): View<DatabaseRow> {
  return {
    name: 'databases',
    title: 'Databases',
    schema: databaseRowSchema,
    resourceOf: () => DATABASES_RESOURCE,
    *rows() {
      for (const row of rows.values()) if (!isDeletionFinished(row)) yield databaseRow(row, namespacePrefix)
    },
    row(id) {
      const row = rows.get(id)
      return row && !isDeletionFinished(row) ? databaseRow(row, namespacePrefix) : undefined
    },
    subscribe: (listener) => rows.onChange(listener),
  }
}

/** A row for readers. It has no password: the operator writes only references, and other keys are left out. */
export function databaseRow(row: ResourceRow, namespacePrefix: string): DatabaseRow {
  const { connectionInfo, credentials, generation, id, job, lifecycleMode, name, observedGeneration, status } = row
  const namespace = namespaceOf(row, namespacePrefix)
  const version = versionOf(row)
  const reason = textOf(connectionInfo['error']) ?? row.problem
  const host = textOf(connectionInfo['host'])
  const port = integerOf(connectionInfo['port'])
  const secretName = textOf(credentials['secret_name'])
  return {
    id,
    name,
    ...(namespace !== undefined && { namespace }),
    ...(row.teamName !== undefined && { team: row.teamName }),
    engine: engineOf(row.type)?.name ?? row.type,
    ...(version !== undefined && { version }),
    status,
    ...(reason !== undefined && { reason }),
    replicas: integerOf(connectionInfo['replicas']) ?? integerOf(row.config['replicas']) ?? 1,
    readyReplicas: integerOf(connectionInfo['ready_replicas']) ?? 0,
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
    ...(secretName !== undefined && { secretName }),
    lifecycleMode,
    generation,
    ...(observedGeneration !== undefined && { observedGeneration }),
    ...(job && { job: { id: job.id, type: job.type, status: job.status, attempts: job.attempts } }),
  }
}

/** The namespace of the objects of a row, which decides who may see and change it. */
export function namespaceOf(row: ResourceRow, namespacePrefix: string): string | undefined {
  const names = databaseNames(row, namespacePrefix)
  return 'refused' in names ? row.namespace : names.namespace
}

/** As the row names it, or as its image or its type implies. */
function versionOf({ config, type }: ResourceRow): string | undefined {
  const engine = engineOf(type)
  if (!engine) return undefined
  const given = (key: string): string | undefined => {
    const value = config[key] ?? config[`${engine.name}_${key}`]
    return typeof value === 'number' ? String(value) : textOf(value)
  }
  const image = given('image')
  return given('version') ?? (image === undefined ? engine.defaultMajor : majorOf(engine, image))
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)
const integerOf = (value: unknown): number | undefined => (Number.isSafeInteger(value) ? Number(value) : undefined)
