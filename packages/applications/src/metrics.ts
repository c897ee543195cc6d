import type { Clock } from '@tenure/kube'
import type { ComponentDefinition, ManagerContext, Metrics, ReconcileOutcome } from '@tenure/runtime'
import { noMetrics } from '@tenure/runtime'
import { Application, CONTROLLER_NAME, PHASES } from './api/index.ts'

/** What a webhook did with one request. */
export interface ReviewOutcome {
  /** Undefined if the request was no admission review. */
  readonly operation: string | undefined
  readonly allowed: boolean
}

/**
 * The operator's metrics under the names that its users know, next to the runtime's own. Queue depth, additions and
 * retries (`workqueue_…`) and the process's start time come from the runtime under these very names.
 */
export class ApplicationMetrics {
  readonly #namespace: string | undefined
  #instruments = instrumentsOf(noMetrics)
  #clock: Clock | undefined

  /** `namespace`: the one whose Applications the controller looks after. Default: all. */
  constructor(options: { readonly namespace?: string | undefined } = {}) {
    this.#namespace = options.namespace
  }

  /** Measures as long as the manager runs: counts from its start, and reads the caches when somebody asks. */
  readonly component: ComponentDefinition = {
    stage: 'serve',
    create: (context) => {
      const instruments = instrumentsOf(context.metrics)
      const collect = collectorOf(instruments, context, this.#namespace)
      let stop: (() => void) | undefined
      this.#instruments = instruments
      this.#clock = context.clock
      return {
        name: 'application metrics',
        start: () => {
          stop = context.metrics.onCollect(collect)
          return Promise.resolve()
        },
        stop: () => {
          stop?.()
          return Promise.resolve()
        },
      }
    },
  }

  /** Counts this process's terms: it is started and stopped with each. */
  readonly termComponent: ComponentDefinition = {
    stage: 'lead',
    create: () => {
      const count = (): Promise<void> => {
        this.#instruments.transitions.inc()
        return Promise.resolve()
      }
      return { name: 'application leadership', start: count, stop: count }
    },
  }

  /** How a reconcile ended: a controller's `onReconciled`. */
  readonly reconciled = ({ result, seconds }: ReconcileOutcome): void => {
    const { reconciles, errors, durations } = this.#instruments
    reconciles.with({ controller: CONTROLLER_NAME, result: RESULTS[result] }).inc()
    if (result === 'error') errors.with({ controller: CONTROLLER_NAME }).inc()
    durations.with({ controller: CONTROLLER_NAME }).observe(seconds)
  }

  recorded(type: string, severity: string): void {
    this.#instruments.events.with({ type, severity }).inc()
  }

  /** Does a webhook's work and counts how it ended. */
  reviewing<T extends ReviewOutcome>(webhook: 'validate' | 'mutate', review: () => T): T {
    const clock = this.#clock
    const started = clock?.monotonic() ?? 0
    const outcome = review()
    const { requests, latencies } = this.#instruments
    const { operation = 'INVALID', allowed } = outcome
    requests.with({ webhook, operation, allowed: String(allowed) }).inc()
    latencies.with({ webhook }).observe(((clock?.monotonic() ?? 0) - started) / 1_000)
    return outcome
  }
}

/** That it comes back later is no matter of its own for whoever looks at these. */
const RESULTS: Readonly<Record<ReconcileOutcome['result'], string>> = {
  success: 'success',
  error: 'error',
  requeue: 'requeue',
  requeue_after: 'requeue',
}

type Instruments = ReturnType<typeof instrumentsOf>

/** Durations are in Prometheus' own buckets, 5 ms to 10 s. */
function instrumentsOf(metrics: Metrics) {
  const controller = ['controller']
  const instruments = {
    reconciles: metrics.counter({
      name: 'controller_reconcile_total',
      help: 'Reconciles, by how they ended.',
      labels: ['controller', 'result'],
    }),
    errors: metrics.counter({
      name: 'controller_reconcile_errors_total',
      help: 'Reconciles that failed.',
      labels: controller,
    }),
    durations: metrics.histogram({
      name: 'controller_reconcile_duration_seconds',
      help: 'Seconds that a reconcile takes.',
      labels: controller,
    }),
    resources: metrics.gauge({
      name: 'resource_count',
      help: 'Objects there are.',
      labels: ['kind', 'namespace'],
    }),
    phases: metrics.gauge({
      name: 'resource_phase_count',
      help: 'Objects there are, by their phase.',
      labels: ['kind', 'phase'],
    }),
    events: metrics.counter({
      name: 'event_total',
      help: 'Events recorded by this process.',
      labels: ['type', 'severity'],
    }),
    requests: metrics.counter({
      name: 'webhook_requests_total',
      help: 'Admission reviews answered.',
      labels: ['webhook', 'operation', 'allowed'],
    }),
    latencies: metrics.histogram({
      name: 'webhook_duration_seconds',
      help: 'Seconds that an admission review takes.',
      labels: ['webhook'],
    }),
    leading: metrics.gauge({
      name: 'leader_election_status',
      help: 'Whether this process leads: 1 if it does.',
    }),
    transitions: metrics
      .counter({
        name: 'leader_transitions_total',
        help: 'Times that this process began or ceased to lead.',
      })
      .with({}),
  }
  // There from the start, so that a rate over the first one is not missed.
  for (const result of new Set(Object.values(RESULTS))) {
    instruments.reconciles.with({ controller: CONTROLLER_NAME, result }).inc(0)
  }
  instruments.errors.with({ controller: CONTROLLER_NAME }).inc(0)
  return instruments
}

/** Reads off what is there at the moment: a pass over the cache when somebody asks, and nothing per event. */
function collectorOf(instruments: Instruments, context: ManagerContext, namespace: string | undefined): () => void {
  const { cache } = context.informers.informer(Application, { namespace })
  const { kind } = Application
  let namespaces: ReadonlySet<string> = new Set()
  return () => {
    const perNamespace = new Map<string, number>()
    const perPhase = new Map<string, number>(PHASES.map((phase) => [phase, 0]))
    for (const { metadata, status } of cache.list()) {
      const home = metadata.namespace ?? ''
      const phase = status?.phase ?? 'Pending'
      perNamespace.set(home, (perNamespace.get(home) ?? 0) + 1)
      perPhase.set(phase, (perPhase.get(phase) ?? 0) + 1)
    }
    for (const gone of namespaces) {
      if (!perNamespace.has(gone)) instruments.resources.remove({ kind, namespace: gone })
    }
    for (const [home, count] of perNamespace) instruments.resources.with({ kind, namespace: home }).set(count)
    for (const [phase, count] of perPhase) instruments.phases.with({ kind, phase }).set(count)
    namespaces = new Set(perNamespace.keys())
    instruments.leading.with({}).set(context.isLeader() ? 1 : 0)
  }
}
