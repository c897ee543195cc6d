import { type HostileRequest, CORE, many, json, unique, object, post, large, largest, short } from './request.ts'

const DEPLOYMENTS = '/apis/apps/v1/namespaces/hostile/deployments'
const NETWORKING = '/apis/networking.k8s.io/v1/namespaces/hostile'
/** As many as can be stored: their defaults and managed fields are larger than they are. */
const STORED_CONTAINERS = 4_000

const container = (rest: object): object => ({ containers: [{ name: 'c', image: 'i', ...rest }] })
const pod = (spec: object): string => object('Pod', unique(), { spec: { ...container({}), ...spec } })
const deployment = (spec: object, selector: object = { matchLabels: { a: 'b' } }): string =>
  json({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: unique() },
    spec: { selector, template: { metadata: { labels: { a: 'b' } }, spec } },
  })
const containers = (count: number): object => ({
  containers: many(count, (i) => ({ name: short(i), image: 'i' })),
})
const networkPolicy = (ingress: readonly object[]): string =>
  object('NetworkPolicy', unique(), { spec: { podSelector: {}, ingress } }, 'networking.k8s.io/v1')

/** Very many parts of built-in kinds, valid and invalid. */
export function builtInKindRequests(): HostileRequest[] {
  return [
    ...largest('many containers', DEPLOYMENTS, (count) => deployment(containers(count))),
    post('many containers that are stored', DEPLOYMENTS, deployment(containers(STORED_CONTAINERS))),
    ...large('many environment variables', DEPLOYMENTS, (count) =>
      deployment(container({ env: many(count, (i) => ({ name: short(i), value: '$(A)$(B)' })) })),
    ),
    ...large('many empty environment variables', DEPLOYMENTS, (count) =>
      deployment(container({ env: many(count, (i) => ({ name: short(i) })) })),
    ),
    ...large('many ports', `${CORE}/services`, (count) =>
      object('Service', unique(), { spec: { ports: many(count, (i) => ({ port: (i % 65_000) + 1 })) } }),
    ),
    ...largest('many volumes and mounts', `${CORE}/pods`, (count) =>
      pod({
        ...container({ volumeMounts: many(count, (i) => ({ name: short(i), mountPath: `/${short(i)}` })) }),
        volumes: many(count, (i) => ({ name: short(i), emptyDir: {} })),
      }),
    ),
    ...large('many volumes', `${CORE}/pods`, (count) => pod({ volumes: many(count, (i) => ({ name: short(i) })) })),
    ...large('many tolerations', `${CORE}/pods`, (count) =>
      pod({ tolerations: many(count, (i) => ({ key: short(i), operator: 'Exists' })) }),
    ),
    ...large('many host aliases', `${CORE}/pods`, (count) =>
      pod({ hostAliases: many(count, (i) => ({ ip: `10.0.0.${i % 250}`, hostnames: ['a'] })) }),
    ),
    ...large('a selector with many expressions', DEPLOYMENTS, (count) =>
      deployment(container({}), {
        matchExpressions: many(count, (i) => ({ key: short(i), operator: 'NotIn', values: ['a', 'b'] })),
      }),
    ),
    ...large('a network policy with many rules', `${NETWORKING}/networkpolicies`, (count) =>
      networkPolicy(many(count, () => ({ from: [{ ipBlock: { cidr: '10.0.0.0/8' } }] }))),
    ),
    // More errors than the arguments that a stack holds.
    ...large('a network policy with many invalid exceptions', `${NETWORKING}/networkpolicies`, (count) =>
      networkPolicy([{ from: [{ ipBlock: { cidr: '10.0.0.0/8', except: many(count, () => 'x') } }] }]),
    ),
    ...large('an ingress with many invalid hosts', `${NETWORKING}/ingresses`, (count) =>
      object('Ingress', unique(), { spec: { tls: [{ hosts: many(count, () => '/') }] } }, 'networking.k8s.io/v1'),
    ),
    ...large('many invalid items of a volume', `${CORE}/pods`, (count) =>
      pod({ volumes: [{ name: 'v', configMap: { name: 'c', items: many(count, () => ({})) } }] }),
    ),
    ...large('many invalid name servers', `${CORE}/pods`, (count) =>
      pod({ dnsConfig: { nameservers: many(count, () => 'x') } }),
    ),
    ...large('many invalid source ranges', `${CORE}/services`, (count) =>
      object('Service', unique(), {
        spec: { type: 'LoadBalancer', ports: [{ port: 1 }], loadBalancerSourceRanges: many(count, () => 'x') },
      }),
    ),
    ...large('a volume with many invalid access modes', '/api/v1/persistentvolumes', (count) =>
      object('PersistentVolume', unique(), {
        spec: { capacity: { storage: '1Gi' }, accessModes: many(count, () => 'x'), hostPath: { path: '/a' } },
      }),
    ),
    ...large(
      'a schema with many invalid short names',
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
      (count) =>
        object(
          'CustomResourceDefinition',
          'a.hostile.example.dev',
          {
            spec: {
              group: 'hostile.example.dev',
              names: { plural: 'a', kind: 'A', shortNames: many(count, () => '/') },
              scope: 'Namespaced',
              versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
            },
          },
          'apiextensions.k8s.io/v1',
        ),
    ),
    ...large(
      'a webhook with many invalid versions',
      '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
      (count) =>
        object(
          'ValidatingWebhookConfiguration',
          unique(),
          {
            webhooks: [
              {
                name: 'a.example.dev',
                clientConfig: { url: 'https://a' },
                sideEffects: 'None',
                admissionReviewVersions: many(count, () => '/'),
              },
            ],
          },
          'admissionregistration.k8s.io/v1',
        ),
    ),
    post(
      'quantities with long digits',
      `${CORE}/pods`,
      pod(container({ resources: { limits: { cpu: '9'.repeat(500_000), memory: `1e${'9'.repeat(300_000)}` } } })),
    ),
    ...large('quantities with long fractions', `${CORE}/pods`, (count) =>
      pod(container({ resources: { limits: { cpu: `0.${'9'.repeat(count)}` } } })),
    ),
    ...large('many quantities', `${CORE}/pods`, (count) =>
      pod(
        container({
          resources: { limits: Object.fromEntries(many(count, (i) => [`a/${short(i)}`, '1'])) },
        }),
      ),
    ),
  ]
}
