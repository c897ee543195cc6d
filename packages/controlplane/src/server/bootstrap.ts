import type { KubeObject } from '@tenure/kube'
import { StatusError } from '../errors.ts'
import type { ResourceRegistry } from '../registry/request.ts'
import type { ResourceCatalog, User } from '../registry/types.ts'

const SYSTEM: User = { name: 'system:apiserver', groups: ['system:masters'] }
const RBAC = 'rbac.authorization.k8s.io'

const namespace = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })

const LABELS = { 'kubernetes.io/bootstrapping': 'rbac-defaults' }

const role = (name: string, rules: readonly object[]): KubeObject =>
  ({ apiVersion: `${RBAC}/v1`, kind: 'ClusterRole', metadata: { name, labels: LABELS }, rules }) as KubeObject

const binding = (name: string, groups: readonly string[]): KubeObject =>
  ({
    apiVersion: `${RBAC}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name, labels: LABELS },
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name },
    subjects: groups.map((group) => ({ apiGroup: RBAC, kind: 'Group', name: group })),
  }) as KubeObject

const PROBES = ['/healthz', '/livez', '/readyz', '/version', '/version/']
const DISCOVERY = [
  '/api',
  '/api/*',
  '/apis',
  '/apis/*',
  '/healthz',
  '/livez',
  '/openapi',
  '/openapi/*',
  '/readyz',
  '/version',
  '/version/',
]
const READ = ['get', 'list', 'watch']
const WRITE = ['create', 'delete', 'deletecollection', 'patch', 'update']
const CONTENT = [
  {
    apiGroups: [''],
    resources: [
      'configmaps',
      'endpoints',
      'events',
      'persistentvolumeclaims',
      'pods',
      'pods/status',
      'pods/log',
      'replicationcontrollers',
      'serviceaccounts',
      'services',
      'services/status',
    ],
  },
  { apiGroups: ['apps'], resources: ['*'] },
  { apiGroups: ['autoscaling'], resources: ['*'] },
  { apiGroups: ['batch'], resources: ['*'] },
  { apiGroups: ['networking.k8s.io'], resources: ['ingresses', 'ingresses/status', 'networkpolicies'] },
  { apiGroups: ['policy'], resources: ['poddisruptionbudgets', 'poddisruptionbudgets/status'] },
  { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'] },
]
const SECRETS = { apiGroups: [''], resources: ['secrets'] }
const ROLES = { apiGroups: [RBAC], resources: ['roles', 'rolebindings'] }
const all = (rules: readonly object[], verbs: readonly string[]): readonly object[] =>
  rules.map((rule) => ({ ...rule, verbs }))

/** The Service of the API server, which pods use. */
const SERVICE = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'kubernetes', namespace: 'default', labels: { component: 'apiserver', provider: 'kubernetes' } },
  spec: { clusterIP: '10.96.0.1', ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: 6443 }] },
} as KubeObject

/** The objects of a new cluster, as in kube-apiserver. */
const OBJECTS: readonly (readonly [group: string, version: string, plural: string, object: KubeObject])[] = [
  ...['default', 'kube-system', 'kube-public', 'kube-node-lease'].map(
    (name) => ['', 'v1', 'namespaces', namespace(name)] as const,
  ),
  ...[
    role('cluster-admin', [
      { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
      { nonResourceURLs: ['*'], verbs: ['*'] },
    ]),
    role('system:discovery', [{ nonResourceURLs: DISCOVERY, verbs: ['get'] }]),
    role('system:basic-user', [
      {
        apiGroups: ['authorization.k8s.io'],
        resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
        verbs: ['create'],
      },
      { apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'], verbs: ['create'] },
    ]),
    role('system:public-info-viewer', [{ nonResourceURLs: PROBES, verbs: ['get'] }]),
    role('system:auth-delegator', [
      { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
      { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
    ]),
    role('view', all(CONTENT, READ)),
    role('edit', all([...CONTENT, SECRETS], [...READ, ...WRITE])),
    role('admin', all([...CONTENT, SECRETS, ROLES], [...READ, ...WRITE])),
  ].map((object) => [RBAC, 'v1', 'clusterroles', object] as const),
  ...[
    binding('cluster-admin', ['system:masters']),
    binding('system:discovery', ['system:authenticated']),
    binding('system:basic-user', ['system:authenticated']),
    binding('system:public-info-viewer', ['system:authenticated', 'system:unauthenticated']),
  ].map((object) => [RBAC, 'v1', 'clusterrolebindings', object] as const),
]

/** Creates the missing bootstrap objects. */
export async function bootstrap(
  registry: ResourceRegistry,
  catalog: ResourceCatalog,
  signal: AbortSignal,
): Promise<void> {
  const make = async ([group, version, plural, body]: (typeof OBJECTS)[number]): Promise<void> => {
    const definition = catalog.find(group, version, plural)
    if (!definition) return
    try {
      await registry.handle({
        verb: 'create',
        definition,
        subresource: '',
        namespace: body.metadata?.namespace,
        name: undefined,
        options: {},
        body,
        user: SYSTEM,
        userAgent: 'kube-apiserver',
        signal,
      })
    } catch (error) {
      // The address is allocated to the existing service.
      const isThere = error instanceof StatusError && (error.reason === 'AlreadyExists' || plural === 'services')
      if (!isThere) throw error
    }
  }
  await Promise.all(OBJECTS.map(make))
  await make(['', 'v1', 'services', SERVICE])
}
