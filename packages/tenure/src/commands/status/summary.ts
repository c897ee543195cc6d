import type { ClaimRow } from '@tenure/claims/rows'
import { troubleOf } from '@tenure/dashboard/trouble'
import type { DatabaseRow } from '@tenure/databases/cli'
import type { ListedLease } from '@tenure/leases/cli'
import { type Databases } from '../cluster/databases.ts'
import { leaders, type LeaderRow } from '../cluster/leaders.ts'
import type { Lists } from '../cluster/lists.ts'
import { claimRows, type Managed, poolRows } from '../cluster/managed.ts'

/** Something that needs a look, and why. */
export interface TroubleRow {
  readonly level: 'failed' | 'waiting'
  readonly kind: string
  readonly namespace?: string
  readonly name: string
  readonly reason: string
}

/** Something that ends. */
export interface EndRow {
  readonly kind: string
  readonly namespace?: string
  readonly name: string
  /** Milliseconds since 1970. */
  readonly endsAt: number
}

export interface KindSummary {
  readonly name: string
  /** For people. */
  readonly title: string
  /** The operator that leads these. */
  readonly operator: string
  readonly total: number
  readonly ready: number
  readonly inTrouble: number
}

/** Everything that `tenure status` shows. */
export interface StatusSummary {
  readonly server: string
  readonly kubernetes: string
  readonly kinds: readonly KindSummary[]
  readonly leaders: readonly LeaderRow[]
  /** Failures first. */
  readonly trouble: readonly TroubleRow[]
  /** Soonest first. */
  readonly endsNext: readonly EndRow[]
  readonly notes: readonly string[]
}

export interface SummarySources {
  readonly managed: Managed
  readonly lists: Lists
  readonly databases: Databases
  readonly server: string
  readonly kubernetes: string
  readonly namespace: string | undefined
}

type Found = Pick<KindSummary, 'name' | 'title' | 'operator' | 'total' | 'ready'> & {
  readonly trouble: readonly TroubleRow[]
}

/** Reads everything and says what is in trouble and what ends next. */
export async function readSummary(sources: SummarySources, now: number): Promise<StatusSummary> {
  const { lists, managed } = sources
  const [applications, objects, leases, controllers, databases, leading] = await Promise.all([
    managed.applications(),
    managed.claims(),
    managed.leases(),
    managed.leaseControllers(),
    sources.databases.rows(lists, sources.namespace),
    leaders(lists, now),
  ])
  const claims = claimRows(objects)
  const pools = poolRows(objects, now)
  const found: readonly Found[] = [
    summarized('applications', 'Applications', 'applications', applications, {
      isReady: ({ phase }) => phase === 'Running' || phase === 'Succeeded',
      trouble: (row) => troubleOf.applications(row, now),
    }),
    summarized('claims', 'Claims', 'claims', claims, {
      isReady: ({ status }) => status === 'ready',
      trouble: (row) => troubleOf.claims(row, now),
    }),
    summarized('pools', 'Pools', 'claims', pools, {
      isReady: ({ failing }) => failing === 0,
      trouble: (row) => troubleOf.pools({ ...row, target: row.warm + row.pending + row.failing }, now),
    }),
    summarized('leases', 'Leases', 'lease-controllers', leases, {
      isReady: ({ dated, problem }) => dated && problem === undefined,
      trouble: leaseTrouble,
    }),
    summarized('leasecontrollers', 'Lease controllers', 'lease-controllers', controllers, {
      isReady: ({ ready }) => ready,
      trouble: (row) => troubleOf['lease-controllers'](row, now),
    }),
    summarized('databases', 'Databases', 'databases', databases.rows, {
      isReady: ({ status }) => status === 'active' || status === 'paused',
      trouble: (row) => troubleOf.databases(withJob(row), now),
    }),
  ]
  const trouble = [...leading.flatMap(leaderTrouble), ...found.flatMap((each) => each.trouble)]
  return {
    server: sources.server,
    kubernetes: sources.kubernetes,
    kinds: found.map(({ trouble: inTrouble, ...kind }) => ({ ...kind, inTrouble: inTrouble.length })),
    leaders: leading,
    trouble: [
      ...trouble.filter(({ level }) => level === 'failed'),
      ...trouble.filter(({ level }) => level !== 'failed'),
    ],
    endsNext: endsOf(claims, leases),
    notes: databases.note === undefined ? [] : [databases.note],
  }
}

interface Judgement<R> {
  readonly isReady: (row: R) => boolean
  readonly trouble: (
    row: R,
  ) => (Omit<TroubleRow, 'namespace'> & { readonly namespace?: string | undefined }) | undefined
}

function summarized<R>(
  name: string,
  title: string,
  operator: string,
  rows: readonly R[],
  { isReady, trouble }: Judgement<R>,
): Found {
  const found = rows.map(trouble).filter((each) => each !== undefined)
  return {
    name,
    title,
    operator,
    total: rows.length,
    ready: rows.filter(isReady).length,
    trouble: found.map(({ kind, level, name: object, namespace, reason }) => ({
      level,
      kind,
      ...(namespace !== undefined && { namespace }),
      name: object,
      reason,
    })),
  }
}

function leaseTrouble({ kind, name, namespace, problem }: ListedLease): TroubleRow | undefined {
  if (problem === undefined) return undefined
  return { level: 'waiting', kind, ...(namespace !== undefined && { namespace }), name, reason: problem }
}

/** An operator whose leader is gone does nothing, whatever its objects say. */
function leaderTrouble({ holder, isStale, lease, namespace, operator }: LeaderRow): readonly TroubleRow[] {
  if (holder !== undefined && !isStale) return []
  const reason = isStale
    ? `Its leader ${holder} does not renew the Lease ${lease}. Is the process running?`
    : `No process leads it: the Lease ${lease} has no holder. Start the operator.`
  return [{ level: 'failed', kind: 'Operator', namespace, name: operator, reason }]
}

/** Rows have no undefined fields there. */
function withJob({ job, reason, ...row }: DatabaseRow) {
  const { id, name, namespace, status } = row
  return {
    id,
    name,
    ...(namespace !== undefined && { namespace }),
    status,
    ...(reason !== undefined && { reason }),
    ...(job && { job }),
  }
}

function endsOf(claims: readonly ClaimRow[], leases: readonly ListedLease[]): readonly EndRow[] {
  const ends: EndRow[] = []
  for (const { expiresAt, id, isIdle, namespace } of claims) {
    if (expiresAt !== undefined && !isIdle) ends.push({ kind: 'Claim', namespace, name: id, endsAt: expiresAt })
  }
  for (const { expireAt, kind, name, namespace } of leases) {
    if (expireAt === undefined) continue
    ends.push({ kind, ...(namespace !== undefined && { namespace }), name, endsAt: Date.parse(expireAt) })
  }
  return ends.toSorted((a, b) => a.endsAt - b.endsAt || (a.name < b.name ? -1 : 1))
}
