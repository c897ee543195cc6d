import type { KubeObject, ObjectRef, Stored } from '@tenure/kube'
import { JOB_ANNOTATIONS } from '../../../api/annotations.ts'
import type { LeasePlan } from '../plan.ts'
import { formatTime } from '../../../api/time.ts'
import { readRecord } from './record.ts'

/** The expiry that a job was created for. Stored on the job, so that a later process can tell whether it is needed. */
export interface JobSource {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  /** The expiry date on the object. */
  readonly expireAt: string
  /** Number of the job for this expiry, from 1. */
  readonly attempt: number
  /** Seconds that the finished job stays after its release. */
  readonly ttl: number
}

/** A job without a TTL until it is released. */
export interface HeldJob {
  readonly ref: ObjectRef
  /** Prefix of the annotation family that asked for the job. */
  readonly prefix: string
  readonly source: JobSource
}

export function printSource(source: JobSource): string {
  return JSON.stringify(source)
}

/** Reads the source from a job; undefined if it is missing or invalid. */
export function readSource({ metadata }: Stored<KubeObject>, prefix: string): JobSource | undefined {
  const value = parse(metadata.annotations?.[prefix + JOB_ANNOTATIONS.source] ?? '')
  if (typeof value !== 'object' || value === null) return undefined
  const source = value as { readonly [K in keyof JobSource]?: unknown }
  const isSource =
    TEXTS.every((name) => typeof source[name] === 'string') &&
    NUMBERS.every((name) => Number.isSafeInteger(source[name]) && Number(source[name]) >= 0)
  // Every field is checked above.
  return isSource ? (source as JobSource) : undefined
}

/**
 * Whether the result of a job must still be recorded on `object`. False if it is another object, if its lease has another
 * expiry or no job, or if the result of this job or a later one is recorded already. Pure.
 */
export function isNeeded(
  { prefix, source }: HeldJob,
  { metadata }: Stored<KubeObject>,
  { lease }: Pick<LeasePlan, 'lease'>,
): boolean {
  if (metadata.uid !== source.uid || !lease?.job || lease.family.prefix !== prefix) return false
  if (formatTime(lease.expireAt) !== source.expireAt) return false
  const record = readRecord(metadata.annotations?.[lease.family.names.cleanup], source.expireAt)
  if (!record) return true
  if (record.state === 'done') return false
  const isOpen = record.state === 'running' || record.givenUp === true
  return isOpen ? source.attempt >= record.attempt : source.attempt > record.attempt
}

const TEXTS = ['group', 'version', 'kind', 'name', 'uid', 'expireAt'] as const
const NUMBERS = ['attempt', 'ttl'] as const

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
