import type { PageView, RowOf } from '../data/rows.ts'
import { formatRoute, objectRoute } from './route.ts'
import { roughDurationText } from './time.ts'

/** Something that needs a look, with the reason. */
export interface Trouble {
  readonly id: string
  readonly level: 'failed' | 'waiting'
  readonly kind: string
  readonly name: string
  readonly namespace?: string | undefined
  readonly reason: string
  /** The hash of its page. */
  readonly href: string
}

/** Milliseconds that something may take to become ready before it is listed. */
const MAX_WAIT_MS = 60_000

/** The status of a lease that is as its user wants it, also of one that never expires. */
const ACTIVE_LEASE = 'Lease active.'

type TroubleOf<V extends PageView, K extends keyof RowOf<V> = keyof RowOf<V>> = (
  row: Pick<RowOf<V>, K>,
  now: number,
) => Trouble | undefined
type ClaimFacts = 'id' | 'name' | 'namespace' | 'message' | 'pool' | 'status' | 'createdAt' | 'resources'
type ControllerFacts = 'id' | 'name' | 'ready' | 'reason' | 'message' | 'createdAt'
type DatabaseFacts = 'id' | 'name' | 'namespace' | 'status' | 'reason' | 'job'
type PoolFacts = 'id' | 'name' | 'namespace' | 'failing' | 'failedUntil' | 'lastFailure' | 'target' | 'warm'

// Rows that are fine leave first: these functions look at every row.

const application: TroubleOf<'applications'> = (row, now) => {
  const { id, name, namespace, phase, createdAt, replicas, readyReplicas } = row
  const hasFailed = phase === 'Failed'
  if (phase === 'Succeeded' || (phase === 'Running' && readyReplicas >= replicas)) return undefined
  if (!hasFailed && now - createdAt < MAX_WAIT_MS) return undefined
  const reported =
    row.message || row.conditions.find(({ type, status }) => type === 'Ready' && status !== 'True')?.message
  return {
    id: `applications/${id}`,
    level: hasFailed ? 'failed' : 'waiting',
    kind: 'Application',
    name,
    namespace,
    reason: reported || (hasFailed ? 'The application failed.' : `${readyReplicas} of ${replicas} replicas are ready.`),
    href: applicationRoute(row),
  }
}

const claim: TroubleOf<'claims', ClaimFacts> = (row, now) => {
  const { id, name, namespace, message, pool, status, createdAt } = row
  const hasFailed = status === 'failed'
  if (status === 'ready' || (!hasFailed && now - createdAt < MAX_WAIT_MS)) return undefined
  const reported = message || row.resources.find(({ ready }) => !ready)?.message
  const waited = `Not ready after ${roughDurationText(now - createdAt)}`
  return {
    id: `claims/${id}`,
    level: hasFailed ? 'failed' : 'waiting',
    kind: 'Claim',
    name,
    namespace,
    reason: hasFailed
      ? reported || `The claim in pool ${pool} failed.`
      : `${waited}${reported ? `: ${reported}` : '.'}`,
    href: formatRoute(['claims'], { id }),
  }
}

const pool: TroubleOf<'pools', PoolFacts> = (
  { id, name, namespace, failing, failedUntil, lastFailure, target, warm },
  now,
) => {
  if (failing === 0 && (failedUntil ?? 0) <= now) return undefined
  return {
    id: `pools/${id}`,
    level: warm === 0 && target > 0 ? 'failed' : 'waiting',
    kind: 'Pool',
    name,
    namespace,
    reason: lastFailure || `${failing} claims of the pool fail.`,
    href: formatRoute(['claims'], { pool: name }),
  }
}

const leaseController: TroubleOf<'lease-controllers', ControllerFacts> = (row, now) => {
  const { id, name, ready, reason, message, createdAt } = row
  // One that was just created has no report yet.
  if (ready || (reason === '' && now - createdAt < MAX_WAIT_MS)) return undefined
  const href = formatRoute(['leases'], { controller: name })
  return {
    id: `lease-controllers/${id}`,
    level: 'failed',
    kind: 'LeaseController',
    name,
    reason: message || reason || 'Not ready.',
    href,
  }
}

const lease: TroubleOf<'leases'> = (row) => {
  const { id, kind, name, namespace, expiresAt, ttl, status } = row
  // A TTL that gives no end is one that the lease controller cannot read.
  if (expiresAt !== undefined || (ttl === '' && status === '') || status.startsWith(ACTIVE_LEASE)) return undefined
  const common = { id: `leases/${id}`, kind, name, namespace, href: formatRoute(['leases'], { id }) }
  return { ...common, level: 'waiting', reason: status || `The TTL ${JSON.stringify(ttl)} gives no end.` }
}

const database: TroubleOf<'databases', DatabaseFacts> = ({ id, name, namespace, status, reason, job }) => {
  const hasFailed = status === 'error'
  const attempts = job?.attempts ?? 0
  if (!hasFailed && attempts === 0) return undefined
  const retried = `The ${job?.type} job failed ${attempts === 1 ? 'once' : `${attempts} times`} and goes on.`
  return {
    id: `databases/${id}`,
    level: hasFailed ? 'failed' : 'waiting',
    kind: 'Database',
    name,
    namespace,
    reason: reason || (hasFailed ? 'The database is in error.' : retried),
    href: formatRoute(['databases', id]),
  }
}

/** Why a row of each view needs a look; undefined if it does not. */
export const troubleOf = {
  applications: application,
  claims: claim,
  pools: pool,
  leases: lease,
  'lease-controllers': leaseController,
  databases: database,
} satisfies { readonly [V in PageView]?: TroubleOf<V> }

function applicationRoute({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return formatRoute(['applications', namespace, name])
}

/** The page of what a lease is about: Applications have one of their own. */
export function leasedObjectRoute(row: RowOf<'leases'>): string {
  const { kind, group, namespace, name } = row
  if (kind === 'Application' && group === 'cloudnative.elide.dev' && namespace !== undefined) {
    return applicationRoute({ namespace, name })
  }
  return objectRoute(row)
}
