import { type HostileRequest, CORE, many, json, unique, object, post } from './request.ts'

const container = (rest: object): object => ({ containers: [{ name: 'c', image: 'i', ...rest }] })
const deployment = (spec: object): string =>
  json({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: unique() },
    spec: { selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } }, spec } },
  })

/** Very many parts of built-in kinds, valid and invalid. */
export function builtInKindRequests(): HostileRequest[] {
  return [
    post(
      'many containers',
      '/apis/apps/v1/namespaces/hostile/deployments?dryRun=All',
      deployment({ containers: many(20_000, (i) => ({ name: `c${i}`, image: 'i' })) }),
    ),
    post(
      'many environment variables',
      '/apis/apps/v1/namespaces/hostile/deployments?dryRun=All',
      deployment(container({ env: many(30_000, (i) => ({ name: `E${i}`, value: '$(A)$(B)' })) })),
    ),
    post(
      'many ports',
      `${CORE}/services`,
      object('Service', unique(), {
        spec: { ports: many(25_000, (i) => ({ name: `p${i}`, port: (i % 65_000) + 1 })) },
      }),
    ),
    post(
      'many volumes and mounts',
      `${CORE}/pods`,
      object('Pod', unique(), {
        spec: {
          ...container({ volumeMounts: many(10_000, (i) => ({ name: `v${i}`, mountPath: `/m${i}` })) }),
          volumes: many(10_000, (i) => ({ name: `v${i}`, emptyDir: {} })),
        },
      }),
    ),
    post(
      'many tolerations',
      `${CORE}/pods`,
      object('Pod', unique(), {
        spec: { ...container({}), tolerations: many(60_000, (i) => ({ key: `k${i}`, operator: 'Exists' })) },
      }),
    ),
    post(
      'many host aliases',
      `${CORE}/pods`,
      object('Pod', unique(), {
        spec: { ...container({}), hostAliases: many(60_000, (i) => ({ ip: `10.0.0.${i % 250}`, hostnames: ['a'] })) },
      }),
    ),
    post(
      'a selector with many expressions',
      '/apis/apps/v1/namespaces/hostile/deployments',
      json({
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: unique() },
        spec: {
          selector: {
            matchExpressions: many(30_000, (i) => ({ key: `k${i}`, operator: 'NotIn', values: ['a', 'b'] })),
          },
          template: { metadata: { labels: { a: 'b' } }, spec: container({}) },
        },
      }),
    ),
    post(
      'a network policy with many rules',
      '/apis/networking.k8s.io/v1/namespaces/hostile/networkpolicies',
      json({
        apiVersion: 'networking.k8s.io/v1',
        kind: 'NetworkPolicy',
        metadata: { name: 'n' },
        spec: { podSelector: {}, ingress: many(20_000, () => ({ from: [{ ipBlock: { cidr: '10.0.0.0/8' } }] })) },
      }),
    ),
    // More errors than the arguments that a stack holds.
    post(
      'a network policy with many invalid exceptions',
      '/apis/networking.k8s.io/v1/namespaces/hostile/networkpolicies',
      object(
        'NetworkPolicy',
        unique(),
        {
          spec: {
            podSelector: {},
            ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.0/8', except: many(300_000, () => 'x') } }] }],
          },
        },
        'networking.k8s.io/v1',
      ),
    ),
    post(
      'an ingress with many invalid hosts',
      '/apis/networking.k8s.io/v1/namespaces/hostile/ingresses',
      object('Ingress', unique(), { spec: { tls: [{ hosts: many(300_000, () => '/') }] } }, 'networking.k8s.io/v1'),
    ),
    post(
      'many invalid items of a volume',
      `${CORE}/pods`,
      object('Pod', unique(), {
        spec: {
          ...container({}),
          volumes: [{ name: 'v', configMap: { name: 'c', items: many(200_000, () => ({})) } }],
        },
      }),
    ),
    post(
      'many invalid name servers',
      `${CORE}/pods`,
      object('Pod', unique(), { spec: { ...container({}), dnsConfig: { nameservers: many(200_000, () => 'x') } } }),
    ),
    post(
      'many invalid source ranges',
      `${CORE}/services`,
      object('Service', unique(), {
        spec: { type: 'LoadBalancer', ports: [{ port: 1 }], loadBalancerSourceRanges: many(200_000, () => 'x') },
      }),
    ),
    post(
      'a volume with many invalid access modes',
      '/api/v1/persistentvolumes',
      object('PersistentVolume', unique(), {
        spec: { capacity: { storage: '1Gi' }, accessModes: many(300_000, () => 'x'), hostPath: { path: '/a' } },
      }),
    ),
    post(
      'a schema with many invalid short names',
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
      object(
        'CustomResourceDefinition',
        'a.hostile.example.dev',
        {
          spec: {
            group: 'hostile.example.dev',
            names: { plural: 'a', kind: 'A', shortNames: many(300_000, () => '/') },
            scope: 'Namespaced',
            versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
          },
        },
        'apiextensions.k8s.io/v1',
      ),
    ),
    post(
      'a webhook with many invalid versions',
      '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
      object(
        'ValidatingWebhookConfiguration',
        unique(),
        {
          webhooks: [
            {
              name: 'a.example.dev',
              clientConfig: { url: 'https://a' },
              sideEffects: 'None',
              admissionReviewVersions: many(300_000, () => '/'),
            },
          ],
        },
        'admissionregistration.k8s.io/v1',
      ),
    ),
    post(
      'quantities with long digits',
      `${CORE}/pods`,
      object('Pod', unique(), {
        spec: container({ resources: { limits: { cpu: '9'.repeat(500_000), memory: `1e${'9'.repeat(300_000)}` } } }),
      }),
    ),
    post(
      'quantities with long fractions',
      `${CORE}/pods`,
      object('Pod', unique(), {
        spec: container({ resources: { limits: { cpu: `0.${'9'.repeat(2_900_000)}` } } }),
      }),
    ),
  ]
}
