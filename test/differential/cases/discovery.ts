import type { Case, CaseGroup } from '../case.ts'
import { get } from '../steps.ts'

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
const one = (name: string, ...steps: Case['steps']): Case => ({ name: `discovery ${name}`, steps })

/** Groups that the embedded server serves as well; verbs, short names, categories and hashes are compared. */
const GROUPS = [
  'apps/v1',
  'batch/v1',
  'policy/v1',
  'coordination.k8s.io/v1',
  'rbac.authorization.k8s.io/v1',
  'networking.k8s.io/v1',
  'autoscaling/v2',
  'events.k8s.io/v1',
  'apiextensions.k8s.io/v1',
  'admissionregistration.k8s.io/v1',
  'authorization.k8s.io/v1',
  'authentication.k8s.io/v1',
  'scheduling.k8s.io/v1',
  'storage.k8s.io/v1',
  'discovery.k8s.io/v1',
  'certificates.k8s.io/v1',
]
/** The real server lists custom resources in no fixed order. */
const CUSTOM = [
  'groupVersion',
  'kind',
  ...['widgets', 'widgets/status', 'widgets/scale', 'notes'].map((name) => `resources>${name}`),
]

export const discoveryCases: CaseGroup = {
  name: 'discovery',
  cases: [
    one(
      'of versions',
      get('/api', { ignore: ['serverAddressByClientCIDRs'] }),
      get('/version', { pick: ['major', 'minor', 'platform'] }),
    ),
    one('of the core', get('/api/v1')),
    ...GROUPS.map((group) => one(`of ${group}`, get(`/apis/${group}`))),
    one(
      'of a group',
      get('/apis/apps'),
      get('/apis/{group}'),
      get('/apis/coordination.k8s.io', { pick: ['preferredVersion', 'kind'] }),
    ),
    one(
      'of groups',
      get('/apis', { pick: ['kind', 'apiVersion', 'groups>apps', 'groups>batch', 'groups>policy', 'groups>{group}'] }),
    ),
    one('of custom resources', get('/apis/{group}/v1', { pick: CUSTOM }), get('/apis/{group}/v1beta1')),
    one(
      'of all at once',
      get('/api', { headers: { accept: AGGREGATED }, pick: ['kind', 'apiVersion', 'metadata', 'items'] }),
      get('/apis', {
        headers: { accept: AGGREGATED },
        pick: [
          'kind',
          'apiVersion',
          'items>apps',
          'items>batch',
          'items>rbac.authorization.k8s.io',
          'items>apiextensions.k8s.io',
        ],
      }),
    ),
    one(
      'of schemas',
      get('/openapi/v3', { pick: ['kind'] }),
      get('/openapi/v3/api/v1', {
        pick: [
          'openapi',
          'paths>/api/v1/namespaces/{namespace}/configmaps/{name}>patch>requestBody',
          'paths>/api/v1/namespaces/{namespace}/configmaps/{name}>patch>x-kubernetes-group-version-kind',
          'paths>/api/v1/namespaces/{namespace}/configmaps/{name}>patch>parameters',
          'components>schemas>io.k8s.api.core.v1.ConfigMap',
        ],
      }),
      get('/openapi/v3/apis/apps/v1', { pick: ['components>schemas>io.k8s.api.apps.v1.DeploymentSpec'] }),
      get('/openapi/v3/apis/nonsense/v1', { status: 404, pick: [] }),
    ),
    one(
      'of health',
      ...['/healthz', '/livez', '/readyz', '/healthz/ping', '/livez/ping', '/readyz/ping'].map((path) => get(path)),
    ),
  ],
}
