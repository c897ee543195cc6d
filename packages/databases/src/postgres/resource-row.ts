import { asArray, asJsonObject, isJsonObject, type JsonObject } from '@tenure/kube/model'
import type { FieldChange, JobStatus, JobType, LiveJob, ResourceRow } from '../api/rows.ts'
import { MAX_JSON_BYTES, type RawResource } from './resource-query.ts'

/** The columns as types; values that the platform should not have written become undefined or a `problem`. */
export function resourceRow(raw: RawResource): ResourceRow {
  const config = parsed(raw.config)
  const problem = problemOf(config)
  return {
    id: raw.id,
    name: raw.name ?? '',
    type: raw.type ?? '',
    teamId: orUndefined(raw.teamId),
    teamName: orUndefined(raw.teamName),
    status: raw.status ?? '',
    lifecycleMode: raw.lifecycleMode ?? '',
    namespace: orUndefined(raw.namespace),
    resourceName: orUndefined(raw.resourceName),
    config: asJsonObject(config),
    connectionInfo: asJsonObject(parsed(raw.connectionInfo)),
    credentials: asJsonObject(parsed(raw.credentials)),
    deletedAt: orUndefined(raw.deletedAt),
    createdBy: orUndefined(raw.createdBy),
    generation: raw.generation,
    observedGeneration: orUndefined(raw.observedGeneration),
    job: liveJob(raw),
    lastJob:
      raw.lastStatus === null
        ? undefined
        : {
            status: raw.lastStatus as JobStatus,
            // A job of the platform or of an older controller works on no known generation.
            generation: raw.lastGeneration ?? '0',
            error: orUndefined(raw.lastError),
          },
    ...(problem !== undefined && { problem }),
  }
}

function liveJob(raw: RawResource): LiveJob | undefined {
  if (raw.jobId === null) return undefined
  return {
    id: raw.jobId,
    type: raw.jobType as JobType,
    status: raw.jobStatus === 'running' ? 'running' : 'pending',
    generation: raw.jobGeneration ?? raw.generation,
    attempts: raw.jobAttempts ?? 0,
    changes: asArray(asJsonObject(raw.jobDetails)['changes']).filter(isJsonObject).map(fieldChange),
    logs: raw.jobLogs ?? '',
  }
}

function fieldChange(value: JsonObject): FieldChange {
  return { field: String(value['field']), from: value['from'], to: value['to'] }
}

function problemOf(config: unknown): string | undefined {
  if (config === null || config === undefined || isJsonObject(config)) return undefined
  return typeof config === 'number' && config > MAX_JSON_BYTES
    ? `config is larger than ${MAX_JSON_BYTES} bytes`
    : 'config is not a JSON object'
}

/** A column of type text holds JSON text. */
function parsed(value: unknown): unknown {
  if (typeof value !== 'string') return value
  if (value.trim() === '') return undefined
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

const orUndefined = (text: string | null): string | undefined => (text === null || text === '' ? undefined : text)
