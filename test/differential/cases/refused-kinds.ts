/** Objects with several errors each. */
import type { Case, CaseGroup, JsonObject } from '../case.ts'
import { create, named } from '../steps.ts'
import { merged, networkPolicy, refused, sample, type Sample, scaler, taken } from '../samples.ts'

const POD: JsonObject = { restartPolicy: 'Never', containers: [{ name: 'a', image: 'a' }] }
const job: Sample = {
  path: named('batch/v1', 'jobs'),
  base: {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'a' },
    // An explicit selector, so that the messages contain no uid.
    spec: {
      manualSelector: true,
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: POD },
    },
  },
}
const cron = sample(named('batch/v1', 'cronjobs'), 'batch/v1', 'CronJob', {
  schedule: '* * * * *',
  jobTemplate: { spec: { template: { spec: POD } } },
})

const failureRules = (...rules: readonly JsonObject[]): JsonObject => ({ podFailurePolicy: { rules } })
const codes = (onExitCodes: JsonObject): JsonObject => failureRules({ action: 'FailJob', onExitCodes })
const indexed = (spec: JsonObject): JsonObject => ({ completionMode: 'Indexed', completions: 3, ...spec })
const times = (count: number, rule: JsonObject): readonly JsonObject[] => Array.from({ length: count }, () => rule)

const JOBS: readonly Case[] = [
  refused(
    job,
    'rules by which jobs fail',
    failureRules({}, { action: 'Foo' }, { action: 'FailIndex', onPodConditions: [{ type: '/a/', status: 'Maybe' }] }),
    failureRules({ action: 'Ignore', onExitCodes: { operator: 'In', values: [1] }, onPodConditions: [{ type: 'A' }] }),
    failureRules(...times(21, { action: 'Ignore', onPodConditions: [{ type: 'A' }] })),
    failureRules({ action: 'Count', onPodConditions: times(21, { type: 'A' }) }),
    {
      ...failureRules({ action: 'Ignore', onPodConditions: [{ type: 'A' }] }),
      podReplacementPolicy: 'TerminatingOrFailed',
    },
  ),
  refused(
    job,
    'codes by which jobs fail',
    codes({ values: [] }),
    codes({ operator: 'Foo', values: [1, 1, 3, 2] }),
    codes({ operator: 'In', values: [0, 1], containerName: 'none' }),
    codes({ operator: 'In', values: Array.from({ length: 256 }, (_, index) => index + 1) }),
  ),
  refused(
    job,
    'rules by which jobs succeed',
    { successPolicy: { rules: [{ succeededCount: 1 }] } },
    indexed({ successPolicy: {} }),
    indexed({
      successPolicy: {
        rules: [{}, { succeededIndexes: 'a' }, { succeededIndexes: '0-5' }, { succeededIndexes: '2-1' }],
      },
    }),
    indexed({
      successPolicy: {
        rules: [{ succeededIndexes: '0-1', succeededCount: 3 }, { succeededCount: 4 }, { succeededCount: -1 }],
      },
    }),
    indexed({
      successPolicy: {
        rules: [{ succeededIndexes: '1,1' }, { succeededIndexes: '0-' }, { succeededIndexes: '1-2-3' }],
      },
    }),
    indexed({ successPolicy: { rules: times(21, { succeededCount: 1 }) } }),
  ),
  refused(
    job,
    'indexes of jobs',
    indexed({ parallelism: 100_001 }),
    indexed({ backoffLimitPerIndex: 1, maxFailedIndexes: 4 }),
    indexed({ completions: 100_001, parallelism: 100_001, backoffLimitPerIndex: 1 }),
    indexed({ completions: 200_000, parallelism: 2, backoffLimitPerIndex: 1, maxFailedIndexes: 100_001 }),
    { completionMode: 'Foo', backoffLimitPerIndex: 1, maxFailedIndexes: 2 },
    { maxFailedIndexes: 2 },
  ),
  refused(
    job,
    'jobs of many mistakes',
    { managedBy: '', podReplacementPolicy: 'Foo', parallelism: -1 },
    { managedBy: 'foo', ...failureRules({}), template: { spec: { restartPolicy: 'Foo', containers: [] } } },
    indexed({ managedBy: `example.com/${'a'.repeat(60)}`, successPolicy: { rules: [{}] }, ...failureRules({}) }),
  ),
  {
    name: 'refuse names of indexed jobs',
    steps: ['a.b', 'a'.repeat(62)].map((name) =>
      create(`${job.path}?dryRun=All`, merged(job.base, { metadata: { name }, spec: indexed({ completions: 11 }) }), {
        status: 422,
      }),
    ),
  },
  taken(
    job,
    'policies of jobs',
    failureRules({ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] }),
    codes({ operator: 'NotIn', values: [0, 1], containerName: 'a' }),
    indexed({ successPolicy: { rules: [{ succeededIndexes: '0,2', succeededCount: 1 }] }, managedBy: 'example.com/a' }),
  ),
  refused(
    cron,
    'schedules',
    ...['', '*', '60 * * * *', '* * 0 * *', '*/0 * * * *', '5-1 * * * *', 'a * * * *', '@foo', '@every x'].map(
      (schedule) => ({ schedule }),
    ),
    ...['*/-1 * * * *', '1-2-3 * * * *', '*/2/3 * * * *', 'TZ=UTC * * * * *', 'CRON_TZ=Foo/Bar * * * * *'].map(
      (schedule) => ({ schedule }),
    ),
  ),
  refused(
    cron,
    'time zones',
    ...['', 'Foo/Bar', 'europe/berlin', 'Local', 'local', '+01:00', '../x'].map((timeZone) => ({ timeZone })),
  ),
  taken(
    cron,
    'schedules',
    ...['@every 1h30m', '@hourly', '? ? ? ? ?', '* * * JAN-MAR mon', '5/15 * * * *', ', * * * *'].map((schedule) => ({
      schedule,
    })),
  ),
  taken(cron, 'time zones', ...['UTC', 'Europe/Berlin', 'US/Eastern', 'Etc/GMT+5'].map((timeZone) => ({ timeZone }))),
  refused(
    cron,
    'cron jobs of many mistakes',
    {
      concurrencyPolicy: 'Foo',
      startingDeadlineSeconds: -1,
      successfulJobsHistoryLimit: -1,
      failedJobsHistoryLimit: -1,
    },
    { jobTemplate: { spec: { manualSelector: true, selector: { matchLabels: { a: 'b' } }, ...failureRules({}) } } },
    {
      schedule: 'x',
      timeZone: 'x',
      jobTemplate: { spec: { completionMode: 'Indexed', template: { spec: { containers: [] } } } },
    },
  ),
]

const from = (...peers: readonly JsonObject[]): JsonObject => ({ ingress: [{ from: peers }] })
const block = (ipBlock: JsonObject): JsonObject => ({ ipBlock })

const POLICIES: readonly Case[] = [
  refused(
    networkPolicy,
    'peers of network policies',
    from(
      {},
      {
        podSelector: { matchLabels: { 'a b': 'c' } },
        namespaceSelector: { matchExpressions: [{ key: 'a', operator: 'Foo' }] },
      },
    ),
    from({ podSelector: {}, ...block({ cidr: '10.0.0.0/8' }) }, { namespaceSelector: {}, ...block({}) }),
    {
      egress: [{ to: [{}, block({ cidr: 'x' })], ports: [{ port: 0, protocol: 'X' }] }],
      policyTypes: ['Foo', 'Egress'],
    },
    { policyTypes: ['Ingress', 'Egress', 'Ingress'] },
  ),
  refused(
    networkPolicy,
    'networks of network policies',
    from(
      ...['', 'x', '10.0.0.1', '10.0.0.1/8', '10.0.0.0/33', '010.0.0.0/8', '10.0.0.0/08', 'fe80::1/10'].map((cidr) =>
        block({ cidr }),
      ),
    ),
    from(block({ cidr: '10.0.0.0/8', except: ['x', '11.0.0.0/16', '10.0.0.0/8', '10.1.0.0/16', '10.0.0.0/4'] })),
    from(block({ cidr: '::/0', except: ['10.0.0.0/8', 'fe80::/10', '::/0'] }), block({ cidr: '::ffff:1.2.3.4/120' })),
  ),
  refused(networkPolicy, 'ports of network policies', {
    ingress: [
      {
        ports: [
          ...[0, 65_536, -1, 'WEB_', 'a'.repeat(16), '', '80'].map((port) => ({ port })),
          { protocol: 'tcp' },
          ...[79, 0, 70_000].map((endPort) => ({ port: 80, endPort })),
          { endPort: 80 },
          { port: 'web', endPort: 80 },
        ],
      },
    ],
  }),
]

const metrics = (...list: readonly JsonObject[]): JsonObject => ({ metrics: list })
const targets = (...list: readonly JsonObject[]): JsonObject =>
  metrics(...list.map((target) => ({ type: 'Resource', resource: { name: 'cpu', target } })))

const SCALERS: readonly Case[] = [
  refused(
    scaler,
    'replicas of autoscalers',
    { minReplicas: 0 },
    { minReplicas: 5 },
    { maxReplicas: 0, minReplicas: -1 },
    { scaleTargetRef: { kind: '..', name: '', apiVersion: 'a/b/c' } },
  ),
  refused(
    scaler,
    'sources of metrics',
    metrics({ type: 'Resource' }, { type: 'Resource', pods: {} }),
    metrics(
      { type: 'Resource', resource: {}, pods: {} },
      { type: 'ContainerResource', containerResource: { container: 'a/b' } },
    ),
    metrics(
      ...['Object', 'External', 'Pods', 'Resource', 'ContainerResource'].map((type) => ({
        type,
        [`${type.charAt(0).toLowerCase()}${type.slice(1)}`]: {},
      })),
    ),
    metrics({
      type: 'External',
      external: { metric: { name: 'a/b' }, target: { type: 'Value', value: '1', averageValue: '0' } },
    }),
    metrics({
      type: 'Object',
      object: { describedObject: { kind: '', name: '..' }, metric: { name: '' }, target: { type: 'Value' } },
    }),
  ),
  refused(
    scaler,
    'targets of metrics',
    targets(
      {},
      { type: 'Foo', averageUtilization: 0 },
      { type: 'Utilization', averageUtilization: 5, averageValue: '1' },
    ),
    targets({ type: 'AverageValue', averageValue: '-1' }, { type: 'Value', value: '0' }, { averageUtilization: 5 }),
  ),
  refused(
    scaler,
    'behavior of autoscalers',
    {
      behavior: {
        scaleUp: { stabilizationWindowSeconds: -1, selectPolicy: 'Foo' },
        scaleDown: { stabilizationWindowSeconds: 3601 },
      },
    },
    {
      behavior: {
        scaleDown: {
          policies: [
            {},
            { type: 'Foo', value: 1, periodSeconds: 1801 },
            { type: 'Pods', value: -1, periodSeconds: -1 },
          ],
        },
      },
    },
    { behavior: { scaleUp: { tolerance: '-1', selectPolicy: 'X', stabilizationWindowSeconds: -1, policies: [{}] } } },
  ),
]

export const refusedKindCases: CaseGroup = { name: 'refused kinds', cases: [...JOBS, ...POLICIES, ...SCALERS] }
