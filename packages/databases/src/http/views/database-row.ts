import type { ResourceRow } from '../../api/rows.ts'
import { databaseNames } from '../../config/names.ts'
import { engineOf } from '../../engines/table.ts'
import { majorOf } from '../../engines/version.ts'
import type { DatabaseRow } from './databases-view.ts'

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
