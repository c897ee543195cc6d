import type { KindTable } from '../common/kind-table.ts'
import { CRON_JOBS } from './cron-job.ts'
import { JOBS } from './job.ts'

/** Kinds of the batch group. */
export const BATCH: KindTable = { ...JOBS, ...CRON_JOBS }
