import type { JsonObject } from '@tenure/kube/model'
import type { ResourceReport } from '../api/rows.ts'
import { columnType, currentTime, type DatabaseSchema, hasColumn } from './schema.ts'
import { storableJson, storableText } from './sql-text.ts'

interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
}

/** An UPDATE of the reported columns that exist, which changes no row if nothing differs; undefined without columns. */
export function reportStatement(schema: DatabaseSchema, id: string, report: ResourceReport): Statement | undefined {
  const values: unknown[] = [id]
  const assignments: string[] = []
  const differences: string[] = []
  const parameter = (value: string): string => `$${values.push(value)}`

  const scalars: readonly (readonly [column: string, value: string | undefined])[] = [
    ['status', report.status],
    ['k8s_namespace', report.namespace],
    ['k8s_resource_name', report.resourceName],
    ['k8s_resource_type', report.resourceType],
    ['observed_generation', report.observedGeneration],
  ]
  for (const [column, value] of scalars) {
    const type = columnType(schema, 'resources', column)
    if (value === undefined || type === undefined) continue
    const wanted = parameter(storableText(value))
    // By way of text, so that columns of an enum work like text.
    assignments.push(`${column} = ${wanted}::text::${type}`)
    differences.push(`${column}::text IS DISTINCT FROM ${wanted}::text`)
  }

  const documents: readonly (readonly [column: string, value: JsonObject | undefined])[] = [
    ['connection_info', report.connectionInfo],
    ['credentials', report.credentials],
  ]
  for (const [column, value] of documents) {
    const type = columnType(schema, 'resources', column)
    if (value === undefined || type === undefined) continue
    const current = type === 'jsonb' ? column : `nullif(${column}::text, '')::jsonb`
    const base = `CASE WHEN jsonb_typeof(${current}) = 'object' THEN ${current} ELSE '{}'::jsonb END`
    const merged = `(${base} || ${parameter(storableJson(value))}::jsonb)`
    assignments.push(`${column} = ${merged}::${type}`)
    differences.push(`${current} IS DISTINCT FROM ${merged}`)
  }

  if (assignments.length === 0) return undefined
  if (hasColumn(schema, 'resources', 'updated_at')) {
    assignments.push(`updated_at = ${currentTime(schema, 'resources', 'updated_at')}`)
  }
  const text = `UPDATE resources SET ${assignments.join(', ')} WHERE id = $1 AND (${differences.join(' OR ')})`
  return { text, values }
}
