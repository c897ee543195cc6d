/** Pods and pod templates that are accepted with a warning. */
import type { Case, CaseGroup, JsonObject } from '../case.ts'
import { container, daemonSet, job, pod, podTemplate, statefulSet } from '../objects.ts'
import { core, create, MERGE_PATCH, named, patch, remove } from '../steps.ts'

const dry = (path: string): string => `${path}?dryRun=All`
const PICKED = { pick: ['kind'] }
const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution'
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution'

const pods = (name: string, ...specs: readonly JsonObject[]): Case => ({
  name: `warn ${name}`,
  hasPods: true,
  steps: specs.map((spec) =>
    create(dry(core('pods')), pod('a', spec), { pick: ['kind', 'spec.terminationGracePeriodSeconds'] }),
  ),
})
const one = (name: string, ...steps: Case['steps']): Case => ({ name: `warn ${name}`, steps })
const volumes = (...list: readonly JsonObject[]): JsonObject => ({
  volumes: list.map((source, index) => ({ name: `v${index}`, ...source })),
})
const items = (...paths: readonly string[]): JsonObject => ({ items: paths.map((path) => ({ key: 'k', path })) })
const prefers = (...expressions: readonly JsonObject[]): JsonObject => ({ matchExpressions: expressions })

const PODS: readonly Case[] = [
  pods(
    'of labels that nodes had',
    ...['node-role.kubernetes.io/master', 'app.kubernetes.io/created-by'].map((name) => ({
      nodeSelector: { [name]: 'a' },
    })),
    {
      affinity: {
        nodeAffinity: {
          [REQUIRED]: {
            nodeSelectorTerms: [
              prefers({ key: 'a', operator: 'Exists' }, { key: 'beta.kubernetes.io/arch', operator: 'Exists' }),
            ],
          },
          [PREFERRED]: [
            {
              weight: 1,
              preference: prefers({ key: 'beta.kubernetes.io/os', operator: 'In', values: ['a b', 'c'] }),
            },
          ],
        },
      },
    },
  ),
  pods(
    'of selectors that select no pod',
    {
      topologySpreadConstraints: ['failure-domain.beta.kubernetes.io/zone', 'a'].map((topologyKey) => ({
        maxSkew: 1,
        topologyKey,
        whenUnsatisfiable: 'DoNotSchedule',
      })),
    },
    {
      affinity: {
        podAffinity: { [REQUIRED]: [{ topologyKey: 'a' }, { topologyKey: 'a', labelSelector: {} }] },
        podAntiAffinity: { [PREFERRED]: [{ weight: 1, podAffinityTerm: { topologyKey: 'a' } }] },
      },
    },
  ),
  pods(
    'of volumes that nobody serves',
    volumes({ gitRepo: { repository: 'a' } }, { glusterfs: { endpoints: 'a', path: 'b' } }),
    volumes(
      { cephfs: { monitors: ['a'] } },
      { rbd: { monitors: ['a'], image: 'b' } },
      { flocker: { datasetName: 'a' } },
    ),
    volumes(
      { quobyte: { registry: 'a:1', volume: 'b' } },
      { scaleIO: { gateway: 'a', system: 'b', volumeName: 'c', secretRef: { name: 'd' } } },
      { storageos: { volumeName: 'a', volumeNamespace: 'b' } },
      { photonPersistentDisk: { pdID: 'a' } },
    ),
    volumes({
      ephemeral: {
        volumeClaimTemplate: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1.5' } } } },
      },
    }),
  ),
  pods(
    'of files in the way of others',
    volumes(
      { configMap: { name: 'c', ...items('a', 'a/b', 'c', 'c/') } },
      { secret: { secretName: 's', ...items('x', 'x', 'xy') } },
      { downwardAPI: { items: ['p', 'p/q'].map((path) => ({ path, fieldRef: { fieldPath: 'metadata.name' } })) } },
    ),
    volumes({
      projected: {
        sources: [
          { configMap: { name: 'c', ...items('a/b') } },
          { secret: { name: 's', ...items('a') } },
          { serviceAccountToken: { path: 'a/b/c' } },
        ],
      },
    }),
  ),
  pods(
    'of what pods say in vain',
    { imagePullSecrets: [{ name: 'a' }, { name: 'a' }] },
    { terminationGracePeriodSeconds: -1 },
    {
      containers: [
        container('a', {
          env: [
            { name: 'A', value: '1' },
            { name: 'A', value: '$(A)2' },
            { name: 'A', value: '$(A)' },
          ],
          resources: {
            requests: { memory: '100m', 'ephemeral-storage': '100m' },
            limits: { memory: '1500m', 'ephemeral-storage': '1500m' },
          },
        }),
      ],
    },
    {
      initContainers: [container('i', { ports: [{ containerPort: 79, name: 'web' }] })],
      containers: [
        container('a', {
          ports: [
            { containerPort: 80, name: 'web' },
            { containerPort: 81, hostIP: '10.0.0.1' },
          ],
        }),
      ],
    },
    {
      dnsConfig: { nameservers: ['2001:0db8::1'] },
      hostAliases: [{ ip: 'FE80::1' }, { ip: 'fe80::2' }],
    },
  ),
  {
    name: 'warn of annotations of the past',
    hasPods: true,
    steps: [
      ['scheduler.alpha.kubernetes.io/critical-pod', 'security.alpha.kubernetes.io/sysctls'],
      ['seccomp.security.alpha.kubernetes.io/pod', 'container.seccomp.security.alpha.kubernetes.io/web'],
      ['container.seccomp.security.alpha.kubernetes.io/none'],
    ].flatMap((keys) => {
      const annotations = Object.fromEntries(keys.map((key) => [key, 'runtime/default']))
      const profile = { securityContext: { seccompProfile: { type: 'RuntimeDefault' } } }
      return [{}, profile].map((spec) => create(dry(core('pods')), pod('a', spec, { annotations }), PICKED))
    }),
  },
]

const POD: JsonObject = { containers: [container('web')] }
const ODD: JsonObject = {
  spec: { nodeSelector: { 'beta.kubernetes.io/os': 'linux' }, containers: [container('web')] },
  metadata: { labels: { app: 'a' } },
}
const ODD_CLAIM: JsonObject = {
  metadata: { name: 'c' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1.5' } } },
}
const sets = named('apps/v1', 'statefulsets')
const daemons = named('apps/v1', 'daemonsets')
const controllers = core('replicationcontrollers')
const controller: JsonObject = { apiVersion: 'v1', kind: 'ReplicationController', metadata: { name: 'a' } }

const WORKLOADS: readonly Case[] = [
  one(
    'of templates of sets',
    create(sets, statefulSet('a', { replicas: 0, template: ODD, volumeClaimTemplates: [ODD_CLAIM] }), PICKED),
    patch(MERGE_PATCH, `${sets}/a`, { spec: { revisionHistoryLimit: -1 } }, PICKED),
    patch(MERGE_PATCH, `${sets}/a`, { metadata: { labels: { a: 'b' } } }, PICKED),
    create(daemons, daemonSet('a', { template: { ...ODD, spec: { ...(ODD['spec'] as JsonObject) } } }), PICKED),
    patch(MERGE_PATCH, `${daemons}/a`, { spec: { minReadySeconds: 1 } }, PICKED),
    patch(MERGE_PATCH, `${daemons}/a`, { spec: { template: { metadata: { labels: { b: 'c' } } } } }, PICKED),
    remove(`${daemons}/a`, undefined, PICKED),
  ),
  one(
    'of templates that are there already',
    create(dry(core('podtemplates')), podTemplate('b', { ...POD, terminationGracePeriodSeconds: -1 }), PICKED),
    create(core('podtemplates'), podTemplate('a', ODD['spec'] as JsonObject), PICKED),
    patch(MERGE_PATCH, core('podtemplates', 'a'), { metadata: { labels: { a: 'b' } } }, PICKED),
    patch(MERGE_PATCH, core('podtemplates', 'a'), { template: { metadata: { labels: { a: 'b' } } } }, PICKED),
    create(controllers, { ...controller, spec: { replicas: 0, selector: { app: 'a' }, template: ODD } }, PICKED),
    patch(
      MERGE_PATCH,
      `${controllers}/a`,
      { spec: { template: { spec: { nodeSelector: { 'beta.kubernetes.io/os': null } } } } },
      PICKED,
    ),
  ),
  one(
    'of very many indexes',
    create(
      dry(named('batch/v1', 'jobs')),
      job('a', { completionMode: 'Indexed', completions: 100_001, parallelism: 10_001 }),
      PICKED,
    ),
  ),
]

export const podWarningCases: CaseGroup = {
  name: 'warnings of pods',
  cases: [...PODS, ...WORKLOADS],
}
