import type { KubeObject, ObjectRef, Stored } from '@tenure/kube'
import { STATUS_ANNOTATIONS, JOB_ANNOTATIONS } from '../../../api/annotations.ts'
import type { LeasePlan } from '../plan.ts'
import { formatTime } from '../../../api/time.ts'
import { readRecord } from './record.ts'

/** What a job was made for. It stands on the job, so that who finds it later can tell whether it is still needed. */
export interface JobSource {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  /** Which expiry. */
  readonly expireAt: string
  /** Which job of that expiry, from 1. */
  readonly attempt: number
  /** Seconds that the job stays after its end, once it is let go. */
  readonly ttl: number
}

/** A job that stays after its end until it is let go. */
export interface HeldJob {
  readonly ref: ObjectRef
  /** Of the family in which it was asked for. */
  readonly prefix: string
  readonly source: JobSource
}

export function printSource(source: JobSource): string {
  return JSON.stringify(source)
}

/** What stands on a job; undefined if it is nothing of ours. */
export function readSource({ metadata }: Stored<KubeObject>, prefix: string): JobSource | undefined {
  const value = parse(metadata.annotations?.[prefix + JOB_ANNOTATIONS.source] ?? '')
  if (typeof value !== 'object' || value === null) return undefined
  const source = value as { readonly [K in keyof JobSource]?: unknown }
  const isSource =
    TEXTS.every((name) => typeof source[name] === 'string') &&
    NUMBERS.every((name) => Number.isSafeInteger(source[name]) && Number(source[name]) >= 0)
  // Every field was looked at.
  return isSource ? (source as JobSource) : undefined
}

/**
 * Whether what becomes of a job is still to be written on `object`. It is not if the object is another, if its lease ends
 * at another time or without a job, or if what became of this job, or of a later one, stands there already. Pure.
 */
export function isNeeded(
  { prefix, source }: HeldJob,
  { metadata }: Stored<KubeObject>,
  { lease }: Pick<LeasePlan, 'lease'>,
): boolean {
  if (metadata.uid !== source.uid || !lease?.job || lease.family.prefix !== prefix) return false
  if (formatTime(lease.expireAt) !== source.expireAt) return false
  const record = readRecord(metadata.annotations?.[prefix + STATUS_ANNOTATIONS.cleanup], source.expireAt)
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
