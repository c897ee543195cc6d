/** An alert of Prometheus. */
export interface Alert {
  readonly alert: string
  /** PromQL. */
  readonly expr: string
  /** How long the expression must be true. */
  readonly for: string
  readonly severity: 'critical' | 'warning' | 'info'
  readonly summary: string
  /** A hint where to look. Labels of the expression may be used as templates. */
  readonly description: string
}

export interface AlertGroup {
  readonly name: string
  readonly alerts: readonly Alert[]
}

const ELECTIONS = 'elide-operator-leader|object-lease-operator-leader|claim-controller-leader|nest-controller-leader'

/** The alerts of all operators. A test compares their metrics and labels with those of the code. */
export const alertGroups: readonly AlertGroup[] = [
  {
    name: 'tenure.runtime',
    alerts: [
      {
        alert: 'TenureNoLeader',
        expr: `max by (namespace, name) (leader_election_master_status{name=~"${ELECTIONS}"}) == 0`,
        for: '5m',
        severity: 'critical',
        summary: 'No replica leads: nothing is reconciled.',
        description:
          'No process holds the Lease {{ $labels.name }} in {{ $labels.namespace }}. Look at the logs for "leader" and at the permissions on leases.',
      },
      {
        alert: 'TenureReconcileErrors',
        expr: 'sum by (namespace, controller) (rate(controller_runtime_reconcile_errors_total[5m])) > 0.1',
        for: '15m',
        severity: 'warning',
        summary: 'Reconciliations fail.',
        description:
          'The controller {{ $labels.controller }} fails {{ $value | humanize }} times per second. The log names the objects.',
      },
      {
        alert: 'TenureQueueBlocked',
        expr: 'max by (namespace, pod, name) (workqueue_longest_running_processor_seconds) > 300',
        for: '5m',
        severity: 'warning',
        summary: 'One key has been processed for more than five minutes.',
        description: 'The queue {{ $labels.name }} of {{ $labels.pod }} has a key that does not end. A call may hang.',
      },
      {
        alert: 'TenureQueueGrows',
        expr: 'max by (namespace, pod, name) (workqueue_depth) > 1000',
        for: '15m',
        severity: 'warning',
        summary: 'Keys wait for longer than they are worked on.',
        description:
          'The queue {{ $labels.name }} of {{ $labels.pod }} has {{ $value }} keys. Raise the concurrency, or look for slow calls.',
      },
      {
        alert: 'TenureWatchDown',
        expr: 'sum by (namespace, pod, kind) (rate(tenure_informer_failures_total[5m])) > 0.01',
        for: '10m',
        severity: 'warning',
        summary: 'A watch fails again and again.',
        description: 'Lists and watches of {{ $labels.kind }} fail in {{ $labels.pod }}; /readyz says why.',
      },
      {
        alert: 'TenureForbidden',
        expr: 'sum by (namespace, pod) (rate(rest_client_requests_total{code="403"}[5m])) > 0',
        for: '10m',
        severity: 'warning',
        summary: 'A permission is missing.',
        description: 'The API server rejects requests of {{ $labels.pod }}. The log names the verb and the resource.',
      },
      {
        alert: 'TenureApiErrors',
        expr: 'sum by (namespace, pod) (rate(rest_client_requests_total{code=~"5.."}[5m])) / sum by (namespace, pod) (rate(rest_client_requests_total[5m])) > 0.05',
        for: '15m',
        severity: 'warning',
        summary: 'The API server answers with errors.',
        description: '{{ $value | humanizePercentage }} of the requests of {{ $labels.pod }} fail.',
      },
      {
        alert: 'TenureWebhookErrors',
        expr: 'sum by (namespace, webhook) (rate(controller_runtime_webhook_requests_total{code!="200"}[5m])) > 0',
        for: '10m',
        severity: 'critical',
        summary: 'An admission webhook fails.',
        description: 'Writes that the webhook {{ $labels.webhook }} must see may be rejected.',
      },
      {
        alert: 'TenureEventsDropped',
        expr: 'sum by (namespace, pod, reason) (rate(tenure_events_dropped_total[15m])) > 0',
        for: '15m',
        severity: 'info',
        summary: 'Kubernetes Events are dropped.',
        description: '{{ $labels.pod }} drops Events: {{ $labels.reason }}.',
      },
    ],
  },
  {
    name: 'tenure.applications',
    alerts: [
      {
        alert: 'TenureApplicationFailed',
        expr: 'max by (namespace, kind) (resource_phase_count{phase="Failed"}) > 0',
        for: '10m',
        severity: 'warning',
        summary: 'Applications are Failed.',
        description: '{{ $value }} Applications are Failed; `kubectl get applications -A` shows why.',
      },
    ],
  },
  {
    name: 'tenure.leases',
    alerts: [
      {
        alert: 'TenureLeaseExpiryLate',
        expr: 'histogram_quantile(0.99, sum by (namespace, kind, le) (rate(object_lease_controller_expiry_lateness_seconds_bucket[10m]))) > 30',
        for: '10m',
        severity: 'warning',
        summary: 'Objects outlive their leases.',
        description: 'One of 100 objects of the kind {{ $labels.kind }} is deleted more than 30 s after its expiry.',
      },
      {
        alert: 'TenureLeaseErrors',
        expr: 'sum by (namespace, kind) (increase(object_lease_controller_reconcile_errors_total[15m])) > 0',
        for: '15m',
        severity: 'warning',
        summary: 'Leases cannot be reconciled.',
        description: 'The lease controller of {{ $labels.kind }} fails; the log names the objects.',
      },
      {
        alert: 'TenureCleanupJobFailed',
        expr: 'sum by (namespace, kind) (increase(object_lease_controller_cleanup_jobs_failed_total[30m])) > 0',
        for: '0m',
        severity: 'warning',
        summary: 'A cleanup job failed.',
        description:
          'An object of the kind {{ $labels.kind }} has a cleanup job that failed or timed out; its Events say which.',
      },
    ],
  },
  {
    name: 'tenure.claims',
    alerts: [
      {
        alert: 'TenureClaimPoolFailing',
        expr: 'max by (namespace, pool) (claim_controller_pool_failing) == 1',
        for: '10m',
        severity: 'critical',
        summary: 'A pool cannot be filled.',
        description:
          'The members of the pool {{ $labels.pool }} fail, or its template cannot be used; the log says why.',
      },
      {
        alert: 'TenureClaimPoolEmpty',
        expr: 'max by (namespace, pool) (claim_controller_pool_members{state="ready"}) == 0 and on (namespace, pool) sum by (namespace, pool) (rate(claim_controller_pool_handout_duration_seconds_count{source="cold"}[15m])) > 0',
        for: '15m',
        severity: 'warning',
        summary: 'Callers wait because a pool is empty.',
        description: 'The pool {{ $labels.pool }} has no ready member while callers take claims. Raise its count.',
      },
      {
        alert: 'TenureClaimTimeouts',
        expr: 'sum by (namespace) (increase(claim_controller_timedout_claims_total[15m])) > 0',
        for: '0m',
        severity: 'warning',
        summary: 'Callers gave up waiting for a claim.',
        description: '{{ $value | humanize }} calls timed out in {{ $labels.namespace }}.',
      },
    ],
  },
  {
    name: 'tenure.databases',
    alerts: [
      {
        alert: 'TenureDatabaseServerDown',
        expr: 'min by (namespace, pod) (nest_db_up) == 0',
        for: '2m',
        severity: 'critical',
        summary: 'The PostgreSQL server of the platform does not answer.',
        description: '{{ $labels.pod }} cannot reach the PostgreSQL server: rows are not reconciled.',
      },
      {
        alert: 'TenureDatabaseRetries',
        expr: 'max by (namespace) (nest_retry_queue_depth) > 0',
        for: '30m',
        severity: 'warning',
        summary: 'Databases cannot be brought to their desired state.',
        description: '{{ $value }} resources fail again and again; their rows say why.',
      },
      {
        alert: 'TenureProvisioningFailed',
        expr: 'sum by (namespace, type) (increase(nest_provisioning_jobs_total{status="failed"}[30m])) > 0',
        for: '0m',
        severity: 'warning',
        summary: 'A provisioning job failed.',
        description: 'A job of the type {{ $labels.type }} failed; its row says why.',
      },
    ],
  },
]
