import type { View } from '@tenure/http'
import { z } from 'zod'
import type { LeaderRows } from '../../controllers/database/leader-rows.ts'
import { isDeletionFinished } from '../../controllers/database/row-table.ts'
import { databaseRow } from './database-row.ts'

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
