import type { Sample } from './exposition.ts'

export interface DurationHistogram {
  /** Upper bounds in seconds. */
  readonly le: readonly number[]
  /** Cumulative, with one more for all. */
  readonly counts: readonly number[]
  readonly sum: number
  readonly count: number
}

/** Work of one controller, or of one operator without controllers. */
export interface ControllerRow {
  readonly id: string
  readonly name: string
  /** Empty: the work is not a controller's of one operator. */
  readonly operator: string
  readonly isLeader: boolean
  readonly leader?: string | undefined
  readonly depth: number
  readonly retries: number
  readonly reconciles: number
  readonly errors: number
  /** Milliseconds since 1970 of the last watch event. */
  readonly lastEventAt?: number | undefined
  readonly durationSeconds: DurationHistogram
}

/** An operator of this process. */
export interface OperatorFacts {
  readonly name: string
  readonly isLeader: boolean
  readonly leader: string | undefined
  readonly queues: readonly { readonly name: string; readonly lastEventAt: number | undefined }[]
}

const DURATION = 'workqueue_work_duration_seconds'
const NAMES = new Set([
  'workqueue_depth',
  'workqueue_retries_total',
  'controller_runtime_reconcile_errors_total',
  `${DURATION}_bucket`,
  `${DURATION}_sum`,
  `${DURATION}_count`,
])

export const isControllerMetric = (name: string): boolean => NAMES.has(name)

/** One row per queue, and one per operator without any. */
export function controllerRows(
  samples: readonly Sample[],
  operators: readonly OperatorFacts[],
): ReadonlyMap<string, ControllerRow> {
  const queues = new Map<string, Sample[]>()
  for (const sample of samples) {
    const name = sample.labels['name'] ?? sample.labels['controller']
    if (name === undefined) continue
    const found = queues.get(name)
    if (found) found.push(sample)
    else queues.set(name, [sample])
  }
  const rows = new Map<string, ControllerRow>()
  const add = (name: string, own: readonly Sample[], operator?: OperatorFacts, lastEventAt?: number): void => {
    const row = rowOf(name, own, { operator, lastEventAt })
    rows.set(row.id, row)
  }
  const known = new Set<string>()
  for (const operator of operators) {
    for (const { name, lastEventAt } of operator.queues) {
      known.add(name)
      add(name, queues.get(name) ?? [], operator, lastEventAt)
    }
    if (operator.queues.length === 0) add('', [], operator)
  }
  for (const [name, own] of queues) if (!known.has(name)) add(name, own)
  return rows
}

function rowOf(
  name: string,
  samples: readonly Sample[],
  { lastEventAt, operator }: { readonly operator: OperatorFacts | undefined; readonly lastEventAt: number | undefined },
): ControllerRow {
  const sumOf = (metric: string): number =>
    samples.reduce((sum, sample) => sum + (sample.name === metric ? sample.value : 0), 0)
  const durationSeconds = histogramOf(samples)
  return {
    id: `${operator?.name ?? ''}/${name}`,
    name,
    operator: operator?.name ?? '',
    isLeader: operator?.isLeader ?? false,
    ...(operator?.leader !== undefined && { leader: operator.leader }),
    depth: sumOf('workqueue_depth'),
    retries: sumOf('workqueue_retries_total'),
    reconciles: durationSeconds.count,
    errors: sumOf('controller_runtime_reconcile_errors_total'),
    ...(lastEventAt !== undefined && { lastEventAt }),
    durationSeconds,
  }
}

function histogramOf(samples: readonly Sample[]): DurationHistogram {
  const buckets = samples
    .filter(({ name }) => name === `${DURATION}_bucket`)
    .map(({ labels, value }) => ({ le: labels['le'] === '+Inf' ? Infinity : Number(labels['le']), value }))
    .toSorted((a, b) => a.le - b.le)
  const valueOf = (suffix: string): number => samples.find(({ name }) => name === `${DURATION}_${suffix}`)?.value ?? 0
  return {
    le: buckets.map(({ le }) => le).filter((le) => Number.isFinite(le)),
    counts: buckets.map(({ value }) => value),
    sum: valueOf('sum'),
    count: valueOf('count'),
  }
}
