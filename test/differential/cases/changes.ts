/** Immutable fields of each kind, and restricted changes. */
import type { Case, CaseGroup, JsonObject } from '../case.ts'
import { changed, changedMuch, mended, specs } from '../changed.ts'
import { container, daemonSet, job, replicaSet, statefulSet } from '../objects.ts'
import { networkPolicy, sample, type Sample, scaler } from '../samples.ts'
import { create, MERGE_PATCH, named, patch, update } from '../steps.ts'
import { STORAGE_CHANGES } from './changes-of-storage.ts'

/** Managed by another controller, so that the built-in one ignores it. */
const jobOf = (more: JsonObject): Sample => ({
  path: named('batch/v1', 'jobs'),
  base: job('a', {
    managedBy: 'example.com/nobody',
    manualSelector: true,
    selector: { matchLabels: { a: 'b' } },
    template: {
      metadata: { labels: { a: 'b' } },
      spec: { restartPolicy: 'Never', containers: [container('work')] },
    },
    ...more,
  }),
})
const indexed = { completionMode: 'Indexed', completions: 3, parallelism: 3 }

const JOBS: readonly Case[] = [
  changed(
    'of a job',
    jobOf({}),
    ...specs(
      { completions: 2 },
      { completionMode: 'Indexed' },
      { managedBy: 'example.com/other' },
      { managedBy: null },
      { selector: { matchLabels: { a: null } } },
      { backoffLimit: -1 },
      { parallelism: -1, completions: 2 },
      { podFailurePolicy: { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'A' }] }] } },
    ),
  ),
  changed(
    'of the indexes of a job',
    jobOf({ ...indexed, backoffLimitPerIndex: 1 }),
    ...specs(
      { completions: 4 },
      { completions: null },
      { backoffLimitPerIndex: 2 },
      { backoffLimitPerIndex: null },
      { successPolicy: { rules: [{ succeededCount: 1 }] } },
      { completionMode: 'NonIndexed' },
    ),
  ),
  mended('of the number of the indexes of a job', jobOf(indexed), ...specs({ completions: 4, parallelism: 4 })),
  changedMuch(
    'of the template of a job',
    jobOf({}),
    ...specs(
      { template: { spec: { restartPolicy: 'OnFailure' } } },
      { template: { metadata: { annotations: { a: 'b' } } } },
      { template: { spec: { nodeSelector: { a: 'b' } } } },
      { template: { spec: { containers: [container('work', { resources: { requests: { cpu: '1' } } })] } } },
    ),
  ),
  mended(
    'of the template of a suspended job',
    jobOf({ suspend: true }),
    ...specs(
      { template: { spec: { nodeSelector: { a: 'b' } } } },
      { template: { metadata: { annotations: { a: 'b' } } } },
      { template: { spec: { containers: [container('work', { resources: { requests: { cpu: '1' } } })] } } },
      { template: { spec: { affinity: { nodeAffinity: {} } } } },
    ),
  ),
  changedMuch(
    'of the rest of a suspended job',
    jobOf({ suspend: true }),
    ...specs(
      { template: { spec: { restartPolicy: 'OnFailure' } } },
      {
        template: {
          spec: {
            affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'a' }] } },
          },
        },
      },
      { template: { spec: { containers: [container('other')] } } },
    ),
  ),
]

const CRON = sample(named('batch/v1', 'cronjobs'), 'batch/v1', 'CronJob', {
  schedule: '@yearly',
  suspend: true,
  jobTemplate: { spec: (job('a') as { spec: JsonObject }).spec },
})

const apps = (plural: string, base: JsonObject): Sample => ({ path: named('apps/v1', plural), base })
const nowhere = (name: string): JsonObject => ({
  template: {
    metadata: { labels: { app: name } },
    spec: { nodeSelector: { no: 'where' }, containers: [container('web')] },
  },
})
const otherSelector = { selector: { matchLabels: { app: 'b' } } }
const relabelled = { ...otherSelector, template: { metadata: { labels: { app: 'b' } } } }
const REVISION: Sample = apps('controllerrevisions', {
  apiVersion: 'apps/v1',
  kind: 'ControllerRevision',
  metadata: { name: 'a' },
  revision: 1,
  data: { a: 1 },
})

const WORKLOADS: readonly Case[] = [
  changed(
    'of a cron job',
    CRON,
    ...specs(
      { schedule: 'TZ=UTC * * * * *' },
      { timeZone: 'Foo/Bar', schedule: '' },
      { jobTemplate: { spec: { completionMode: 'Foo' } } },
    ),
  ),
  changed(
    'of a daemon set',
    apps('daemonsets', daemonSet('a', nowhere('a'))),
    ...specs(otherSelector, relabelled, { minReadySeconds: -1 }),
  ),
  changed(
    'of a replica set',
    apps('replicasets', replicaSet('a', { replicas: 0 })),
    ...specs(otherSelector, relabelled, { replicas: -1, ...relabelled }),
  ),
  changed(
    'of a stateful set',
    apps('statefulsets', statefulSet('a', { replicas: 0 })),
    ...specs(
      otherSelector,
      relabelled,
      { serviceName: 'b' },
      { serviceName: 'B_' },
      { podManagementPolicy: 'Parallel' },
      { podManagementPolicy: 'Foo' },
      { volumeClaimTemplates: [{ metadata: { name: 'x' }, spec: { accessModes: ['ReadWriteOnce'] } }] },
      { replicas: -1, serviceName: 'b' },
    ),
  ),
  changed('of a revision', REVISION, { data: { a: 2 } }, { data: null }, { data: 'a', revision: -1 }),
  {
    name: 'change of the number of a revision',
    steps: [
      create(REVISION.path, REVISION.base),
      update(`${REVISION.path}/a`, { ...REVISION.base, revision: 2 }),
      update(`${REVISION.path}/a`, { ...REVISION.base, data: null }, { status: 422 }),
    ],
  },
]

const INGRESS = sample(named('networking.k8s.io/v1', 'ingresses'), 'networking.k8s.io/v1', 'Ingress', {
  defaultBackend: { service: { name: 'a', port: { number: 80 } } },
})
const INGRESS_CLASS = sample(
  '/apis/networking.k8s.io/v1/ingressclasses',
  'networking.k8s.io/v1',
  'IngressClass',
  { controller: 'example.com/a' },
  'class-{ns}',
)
const BUDGET = sample(named('policy/v1', 'poddisruptionbudgets'), 'policy/v1', 'PodDisruptionBudget', {
  minAvailable: 1,
  selector: { matchLabels: { no: 'body' } },
})

const OTHERS: readonly Case[] = [
  changed('of a network policy', networkPolicy, ...specs({ policyTypes: ['Foo'] }, { ingress: [{ from: [{}] }] })),
  mended('of whom a network policy selects', networkPolicy, ...specs({ podSelector: { matchLabels: { a: 'b' } } })),
  changed('of an autoscaler', scaler, ...specs({ minReplicas: 5 }, { scaleTargetRef: { name: '' } })),
  mended('of what an autoscaler scales', scaler, ...specs({ scaleTargetRef: { name: 'b' } })),
  changed('of an ingress', INGRESS, ...specs({ defaultBackend: null }, { ingressClassName: '' })),
  {
    name: 'change of an ingress to the old class',
    steps: [
      create(INGRESS.path, INGRESS.base, { pick: ['spec'] }),
      patch(MERGE_PATCH, `${INGRESS.path}/a`, { spec: { ingressClassName: 'b' } }, { pick: ['spec'] }),
      patch(
        MERGE_PATCH,
        `${INGRESS.path}/a`,
        { metadata: { annotations: { 'kubernetes.io/ingress.class': 'a' } } },
        { pick: ['spec'] },
      ),
    ],
  },
  changed(
    'of an ingress class',
    INGRESS_CLASS,
    ...specs(
      { controller: 'example.com/b' },
      { controller: 'b' },
      { controller: '' },
      { parameters: { kind: 'A', name: 'a', scope: 'Foo' } },
      { parameters: { kind: 'A', name: 'a', scope: 'Namespace' } },
      { parameters: { kind: 'A', name: 'a', namespace: 'b' } },
      { parameters: { apiGroup: 'a b', kind: '', name: '' } },
    ),
  ),
  changed(
    'of a disruption budget',
    BUDGET,
    ...specs({ maxUnavailable: 1 }, { minAvailable: '101%' }, { unhealthyPodEvictionPolicy: 'Foo' }),
  ),
  {
    name: 'change of a disruption budget without its version',
    steps: [
      create(BUDGET.path, BUDGET.base, { pick: ['spec'] }),
      update(`${BUDGET.path}/a`, BUDGET.base, { status: 422 }),
    ],
  },
]

export const changeCases: CaseGroup = {
  name: 'changes',
  cases: [...JOBS, ...WORKLOADS, ...OTHERS, ...STORAGE_CHANGES],
}
