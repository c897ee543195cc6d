import { applications } from '@tenure/applications'
import { claims } from '@tenure/claims'
import { databases } from '@tenure/databases'
import { leaseControllers } from '@tenure/leases'
import { leases } from '@tenure/leases/kind'
import type { Operator } from '@tenure/runtime'
import { nestController } from './commands.ts'

/** The names that installations of an original depend on, from its document and its public sources. */
export interface Original {
  readonly name: string
  /** The page below docs/guides/migrating. */
  readonly guide: string
  readonly operator: Operator
  /** Flags with a value each, without their dashes. */
  readonly flags: Readonly<Record<string, string>>
  /** Environment variables with their documented default, or with a value if they have none. */
  readonly environment: Readonly<Record<string, string>>
  /** Variables of `environment` whose value is not the default. */
  readonly withoutDefault: readonly string[]
  /** Keys of the settings file, with a value each. */
  readonly file: Readonly<Record<string, unknown>>
  /** Annotations, labels, finalizers and names of objects. */
  readonly names: readonly string[]
  readonly metrics: readonly string[]
}

const APPLICATION_METRICS = [
  'controller_reconcile_total',
  'controller_reconcile_duration_seconds',
  'resource_count',
  'event_total',
  'webhook_requests_total',
  'leader_election_status',
  'workqueue_depth',
]

const CLAIM_METRICS = [
  'claims_created_total',
  'claims_created_ondemand_total',
  'claims_preprovisioned_created_total',
  'claims_reused_preprovisioned_total',
  'claims_released_total',
  'claim_ready_duration_seconds',
  'claim_idle_duration_seconds',
  'claim_usage_duration_seconds',
  'claim_lifetime_duration_seconds',
  'claim_total_duration_seconds',
  'claim_lifetime_expected_ratio',
  'claim_usage_expected_ratio',
  'timedout_claims_total',
  'active_claims',
  'active_resources',
]

const LEASE_METRICS = [
  'info',
  'leases_started_total',
  'leases_expired_total',
  'invalid_ttl_total',
  'reconcile_errors_total',
  'cleanup_jobs_created_total',
  'cleanup_jobs_failed_total',
  'cleanup_jobs_completed_total',
  'reconcile_duration_seconds',
  'cleanup_job_duration_seconds',
]

const SEED_PREFIX = 'object-lease-controller.ullberg.us/'
const NEWER_PREFIX = 'object-lease-controller.ullberg.io/'

export const originals: readonly Original[] = [
  {
    name: 'Kubernetes Controller',
    guide: 'kubernetes-controller.md',
    operator: applications,
    flags: {},
    environment: { PORT: '3000' },
    withoutDefault: [],
    file: {},
    names: ['applications', 'cloudnative.elide.dev'],
    metrics: [],
  },
  {
    name: 'Production Kubernetes Operator',
    guide: 'production-operator.md',
    operator: applications,
    flags: {},
    environment: { PORT: '3000', ENABLE_LEADER_ELECTION: 'true', POD_NAME: 'operator-1' },
    withoutDefault: ['POD_NAME'],
    file: {},
    names: [
      'cloudnative.elide.dev/finalizer',
      'elide.dev/webhook-mutated',
      'app.kubernetes.io/managed-by',
      'elide-operator',
      'elide-operator-leader',
    ],
    metrics: APPLICATION_METRICS,
  },
  {
    name: 'claim-controller',
    guide: 'claim-controller.md',
    operator: claims,
    flags: {
      namespace: 'default',
      'template-path': 'config/template/resources.yaml',
      'values-path': 'config/template/values.yaml',
      'values-configmap-name': 'values',
      'values-configmap-key': 'values.yaml',
      'api-addr': ':8080',
      'metrics-addr': ':8081',
      'health-probe-addr': ':8082',
      'default-ttl': '10m',
      'max-ttl': '10m',
      'pre-provision-claims-count': '2',
      'reconcile-interval': '30s',
    },
    environment: {
      NAMESPACE: 'default',
      TEMPLATE_PATH: 'config/template/resources.yaml',
      VALUES_PATH: 'config/template/values.yaml',
      API_ADDR: ':8080',
      METRICS_ADDR: ':8081',
      PROBE_ADDR: ':8082',
      DEFAULT_TTL: '10m',
      MAX_TTL: '10m',
      RECONCILE_INTERVAL: '30s',
      PRE_PROVISION_CLAIMS_COUNT: '0',
    },
    withoutDefault: [],
    file: {
      namespace: 'default',
      templatePath: 'config/template/resources.yaml',
      valuesPath: 'config/template/values.yaml',
      apiAddr: ':8080',
      metricsAddr: ':8081',
      probeAddr: ':8082',
      defaultTTL: '10m',
      maxTTL: '10m',
      preProvisionClaimsCount: 2,
      reconcileInterval: '30s',
    },
    names: [
      'claim-controller.io/managed-by',
      'claim-controller.io/claim',
      'claim-controller.io/claim.id',
      'claim-controller.io/expires-at',
      'claim-controller.io/created-by',
      'claim-controller.io/pre-provisioned',
      'claim-controller.io/claimed-at',
      'claim.controller/return',
      'claim.controller/lazy-provisionning',
      'claim.controller/lazy.provisionning',
    ],
    metrics: CLAIM_METRICS.map((name) => `claim_controller_${name}`),
  },
  {
    name: 'Object Lease Operator',
    guide: 'object-lease-operator.md',
    operator: leases,
    flags: {
      group: 'startpunkt.ullberg.us',
      kind: 'Application',
      version: 'v1alpha2',
      'leader-elect-namespace': 'default',
      'opt-in-label-key': 'leases',
      'opt-in-label-value': 'on',
      'metrics-bind-address': ':8080',
      'health-probe-bind-address': ':8081',
    },
    environment: {
      LEASE_GVK_GROUP: 'apps',
      LEASE_GVK_VERSION: 'v1',
      LEASE_GVK_KIND: 'Deployment',
      LEASE_LEADER_ELECTION: 'true',
      LEASE_LEADER_ELECTION_NAMESPACE: 'default',
      LEASE_OPT_IN_LABEL_KEY: 'leases',
      LEASE_OPT_IN_LABEL_VALUE: 'on',
    },
    withoutDefault: [
      'LEASE_GVK_GROUP',
      'LEASE_GVK_VERSION',
      'LEASE_GVK_KIND',
      'LEASE_LEADER_ELECTION',
      'LEASE_LEADER_ELECTION_NAMESPACE',
      'LEASE_OPT_IN_LABEL_KEY',
      'LEASE_OPT_IN_LABEL_VALUE',
    ],
    file: {},
    names: [
      ...['ttl', 'extended-at', 'expire-at', 'lease-status'].map((name) => SEED_PREFIX + name),
      ...['ttl', 'lease-start', 'expire-at', 'lease-status', 'on-delete-job'].map((name) => NEWER_PREFIX + name),
      'leasecontrollers',
    ],
    metrics: LEASE_METRICS.map((name) => `object_lease_controller_${name}`),
  },
  {
    name: 'NEST Kubernetes Controller',
    guide: 'nest-controller.md',
    operator: databases,
    flags: {},
    environment: { ...nestController.defaults, DB_PASSWORD: 'your-password' },
    withoutDefault: ['DB_PASSWORD', 'LOG_FORMAT'],
    file: {},
    names: ['managed-by', 'nest-controller', 'app', 'resource-id'],
    metrics: [
      'nest_resources_total',
      'nest_reconcile_total',
      'nest_reconcile_duration_seconds',
      'nest_provisioning_jobs_total',
      'nest_retry_queue_depth',
      'nest_db_up',
      'nest_db_reconnects_total',
    ],
  },
]

/** The operator that manages LeaseControllers has flags of its own, with the same names. */
export const leaseOperator: Operator = leaseControllers
