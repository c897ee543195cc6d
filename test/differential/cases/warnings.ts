/** Objects that are accepted with a warning. */
import type { Case, CaseGroup, JsonObject } from '../case.ts'
import { container, pod } from '../objects.ts'
import { core, CRDS, create, get, MERGE_PATCH, named, patch, remove } from '../steps.ts'

const one = (name: string, ...steps: Case['steps']): Case => ({ name: `warn ${name}`, steps })

const workload = (kind: string, name: string): JsonObject => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name },
  spec: {
    selector: { matchLabels: { a: 'b' } },
    template: {
      metadata: { labels: { a: 'b' } },
      spec: { containers: [container('a', { env: [{ name: 'A' }, { name: 'A', value: '1' }] })] },
    },
  },
})
const JOB: JsonObject = { template: { spec: { restartPolicy: 'Never', containers: [container('a')] } } }
const dry = (path: string): string => `${path}?dryRun=All`
const PICKED = { pick: ['kind'] }

export const warningCases: CaseGroup = {
  name: 'warnings',
  cases: [
    one(
      'of names that make bad hosts',
      create(dry(named('apps/v1', 'deployments')), workload('Deployment', 'a.b'), PICKED),
      create(dry(named('apps/v1', 'replicasets')), workload('ReplicaSet', 'a'.repeat(70)), PICKED),
      create(
        dry(named('batch/v1', 'jobs')),
        { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'a.b' }, spec: JOB },
        PICKED,
      ),
      create(
        dry(named('batch/v1', 'cronjobs')),
        {
          apiVersion: 'batch/v1',
          kind: 'CronJob',
          metadata: { name: 'a.b' },
          spec: { schedule: '@hourly', jobTemplate: { spec: JOB } },
        },
        PICKED,
      ),
    ),
    {
      name: 'warn of pods that say things twice',
      hasPods: true,
      steps: [
        create(dry(core('pods')), pod('a.b'), PICKED),
        create(dry(core('pods')), pod('a', { nodeSelector: { 'beta.kubernetes.io/os': 'linux' } }), PICKED),
        create(dry(core('pods')), pod('a', { hostAliases: [{ ip: '1.2.3.4' }, { ip: '1.2.3.4' }] }), PICKED),
        create(
          dry(core('pods')),
          pod('a', { containers: [container('a', { resources: { requests: { memory: '100m' } } })] }),
          PICKED,
        ),
        create(
          dry(core('pods')),
          pod('a', {
            containers: [container('a', { ports: Array.from({ length: 30 }, () => ({ containerPort: 80 })) })],
          }),
          PICKED,
        ),
        create(
          dry(core('pods')),
          pod('a', {
            imagePullSecrets: [{ name: '' }, { name: 'b' }],
            initContainers: [container('i', { ports: [{ containerPort: 80 }] })],
            containers: [
              container('a', {
                env: [{ name: 'A' }, { name: 'A', value: '1' }],
                ports: [{ containerPort: 80 }, { containerPort: 81, hostPort: 81 }, { containerPort: 81 }],
              }),
              container('b', {
                ports: [
                  { containerPort: 82, hostPort: 82 },
                  { containerPort: 82, hostPort: 82, hostIP: '10.0.0.1' },
                  { containerPort: 80, protocol: 'UDP' },
                ],
              }),
            ],
          }),
          PICKED,
        ),
      ],
    },
    one(
      'of kinds of the past',
      get(core('endpoints'), PICKED),
      get(core('endpoints', 'none'), { status: 404 }),
      create(core('endpoints'), { apiVersion: 'v1', kind: 'Endpoints', metadata: { name: 'a' } }),
      remove(core('endpoints', 'a'), undefined, PICKED),
    ),
    one(
      'of the old class of an ingress',
      create(dry(named('networking.k8s.io/v1', 'ingresses')), {
        apiVersion: 'networking.k8s.io/v1',
        kind: 'Ingress',
        metadata: { name: 'a', annotations: { 'kubernetes.io/ingress.class': 'a' } },
        spec: { defaultBackend: { service: { name: 'a', port: { number: 80 } } } },
      }),
    ),
    one(
      'of a claim of half a byte',
      create(
        dry(core('persistentvolumeclaims')),
        {
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          metadata: { name: 'a' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1.5' } } },
        },
        PICKED,
      ),
    ),
    one(
      'of formats and versions of definitions',
      create(
        CRDS,
        {
          apiVersion: 'apiextensions.k8s.io/v1',
          kind: 'CustomResourceDefinition',
          metadata: { name: 'odds.{ns}.tenure.test' },
          spec: {
            group: '{ns}.tenure.test',
            scope: 'Namespaced',
            names: { plural: 'odds', kind: 'Odd' },
            versions: ['v1', 'v2'].map((name) => ({
              name,
              served: true,
              storage: name === 'v1',
              deprecated: true,
              ...(name === 'v2' && { deprecationWarning: 'there is something better' }),
              schema: {
                openAPIV3Schema: { type: 'object', properties: { a: { type: 'string', format: 'odd' } } },
              },
            })),
          },
        },
        PICKED,
      ),
      get('/apis/{ns}.tenure.test/v1/namespaces/{ns}/odds', { eventually: true, ...PICKED }),
      get('/apis/{ns}.tenure.test/v2/namespaces/{ns}/odds', { eventually: true, ...PICKED }),
      patch(MERGE_PATCH, `${CRDS}/odds.{ns}.tenure.test`, { metadata: { labels: { a: 'b' } } }, PICKED),
      remove(`${CRDS}/odds.{ns}.tenure.test`, undefined, PICKED),
    ),
  ],
}
