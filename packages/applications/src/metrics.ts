import type { Clock } from '@tenure/kube'
import {
  collectorComponent,
  type ComponentDefinition,
  type Metrics,
  type OperatorContext,
  type ReconcileOutcome,
} from '@tenure/runtime'
import { Application, CONTROLLER_NAME, PHASES } from './api/index.ts'

type MetricsContext = Pick<OperatorContext, 'clock' | 'informers' | 'isLeader' | 'metrics'>

/** Result of one admission review. */
export interface ReviewOutcome {
  /** Undefined if the body was not an AdmissionReview. */
  readonly operation: string | undefined
  readonly allowed: boolean
}

/**
 * The operator's own metrics. Queue depth, additions and retries (`workqueue_…`) and the start time of the process come
 * from the runtime.
 */
export class ApplicationMetrics {
  readonly components: readonly ComponentDefinition[]
  readonly #instruments: Instruments
  readonly #clock: Clock

  /** `namespace`: the namespace that the controller watches. Default: all. */
  constructor(context: MetricsContext, options: { readonly namespace?: string | undefined } = {}) {
    const { clock, metrics } = context
    this.#instruments = instrumentsOf(metrics)
    this.#clock = clock
    this.components = [
      collectorComponent('application metrics', metrics, collectorOf(this.#instruments, context, options.namespace)),
      leadershipComponent(() => this.#instruments.transitions.inc()),
    ]
  }

  /** `onReconciled` of the controller. */
  readonly reconciled = ({ result, seconds }: ReconcileOutcome): void => {
    const { reconciles, errors, durations } = this.#instruments
    reconciles.with({ controller: CONTROLLER_NAME, result: RESULTS[result] }).inc()
    if (result === 'error') errors.with({ controller: CONTROLLER_NAME }).inc()
    durations.with({ controller: CONTROLLER_NAME }).observe(seconds)
  }

  recorded(type: string, severity: string, count: number): void {
    this.#instruments.events.with({ type, severity }).inc(count)
  }

  /** Runs a review and counts its result. */
  reviewing<T extends ReviewOutcome>(webhook: 'validate' | 'mutate', review: () => T): T {
    const clock = this.#clock
    const started = clock.monotonic()
    const outcome = review()
    const { requests, latencies } = this.#instruments
    const { operation = 'INVALID', allowed } = outcome
    requests.with({ webhook, operation, allowed: String(allowed) }).inc()
    latencies.with({ webhook }).observe((clock.monotonic() - started) / 1_000)
    return outcome
  }
}

/** Counts leadership changes: the manager starts and stops this component with each term. */
function leadershipComponent(count: () => void): ComponentDefinition {
  const counted = (): Promise<void> => {
    count()
    return Promise.resolve()
  }
  return { stage: 'lead', create: () => ({ name: 'application leadership', start: counted, stop: counted }) }
}

/** The contract knows one label value for both kinds of requeue. */
const RESULTS: Readonly<Record<ReconcileOutcome['result'], string>> = {
  success: 'success',
  error: 'error',
  requeue: 'requeue',
  requeue_after: 'requeue',
}

type Instruments = ReturnType<typeof instrumentsOf>

/** Durations use Prometheus' default buckets, 5 ms to 10 s. */
function instrumentsOf(metrics: Metrics) {
  const controller = ['controller']
  const instruments = {
    reconciles: metrics.counter({
      name: 'controller_reconcile_total',
      help: 'Number of reconciles by result.',
      labels: ['controller', 'result'],
    }),
    errors: metrics.counter({
      name: 'controller_reconcile_errors_total',
      help: 'Number of failed reconciles.',
      labels: controller,
    }),
    durations: metrics.histogram({
      name: 'controller_reconcile_duration_seconds',
      help: 'Duration of a reconcile in seconds.',
      labels: controller,
    }),
    resources: metrics.gauge({
      name: 'resource_count',
      help: 'Number of objects.',
      labels: ['kind', 'namespace'],
    }),
    phases: metrics.gauge({
      name: 'resource_phase_count',
      help: 'Number of objects by phase.',
      labels: ['kind', 'phase'],
    }),
    events: metrics.counter({
      name: 'event_total',
      help: 'Number of events recorded by this process.',
      labels: ['type', 'severity'],
    }),
    requests: metrics.counter({
      name: 'webhook_requests_total',
      help: 'Number of admission reviews.',
      labels: ['webhook', 'operation', 'allowed'],
    }),
    latencies: metrics.histogram({
      name: 'webhook_duration_seconds',
      help: 'Duration of an admission review in seconds.',
      labels: ['webhook'],
    }),
    leading: metrics.gauge({
      name: 'leader_election_status',
      help: '1 if this process is the leader, else 0.',
    }),
    transitions: metrics
      .counter({
        name: 'leader_transitions_total',
        help: 'Number of times that this process gained or lost leadership.',
      })
      .with({}),
  }
  // Series that exist from the start let rate() see the first increment.
  for (const result of new Set(Object.values(RESULTS))) {
    instruments.reconciles.with({ controller: CONTROLLER_NAME, result }).inc(0)
  }
  instruments.errors.with({ controller: CONTROLLER_NAME }).inc(0)
  return instruments
}

/** Sets the gauges from the cache. */
function collectorOf(instruments: Instruments, context: MetricsContext, namespace: string | undefined): () => void {
  const { cache } = context.informers.informer(Application, { namespace })
  const { kind } = Application
  let namespaces: ReadonlySet<string> = new Set()
  return () => {
    const perNamespace = new Map<string, number>()
    const perPhase = new Map<string, number>(PHASES.map((phase) => [phase, 0]))
    for (const { metadata, status } of cache.list()) {
      const namespace = metadata.namespace ?? ''
      const phase = status?.phase ?? 'Pending'
      perNamespace.set(namespace, (perNamespace.get(namespace) ?? 0) + 1)
      perPhase.set(phase, (perPhase.get(phase) ?? 0) + 1)
    }
    for (const gone of namespaces) {
      if (!perNamespace.has(gone)) instruments.resources.remove({ kind, namespace: gone })
    }
    for (const [name, count] of perNamespace) instruments.resources.with({ kind, namespace: name }).set(count)
    for (const [phase, count] of perPhase) instruments.phases.with({ kind, phase }).set(count)
    namespaces = new Set(perNamespace.keys())
    instruments.leading.with({}).set(context.isLeader() ? 1 : 0)
  }
}
