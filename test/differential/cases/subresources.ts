import type { Case, CaseGroup } from '../case.ts'
import { configMap, container, deployment, pod, replicaSet, statefulSet } from '../objects.ts'
import {
  BY_CONTROLLERS,
  core,
  create,
  get,
  JSON_PATCH,
  MERGE_PATCH,
  named,
  patch,
  remove,
  STRATEGIC_PATCH,
  update,
} from '../steps.ts'

const APPS = 'apps/v1'
const racing = { ignore: BY_CONTROLLERS }

const WORKLOADS = { deployments: deployment, replicasets: replicaSet, statefulsets: statefulSet }

const SCALES: readonly Case[] = Object.entries(WORKLOADS).map(([plural, make]) => {
  const path = named(APPS, plural)
  const scale = `${path}/a/scale`
  const body = {
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: { name: 'a', namespace: '{ns}' },
    spec: { replicas: 0 },
  }
  // Controllers write its status, but not its selector.
  const seen = { ignore: ['metadata.resourceVersion', 'status.replicas'] }
  return {
    name: `scale of ${plural}`,
    steps: [
      create(path, make('a', { replicas: 0 }), racing),
      get(scale, seen),
      patch(MERGE_PATCH, scale, { spec: { replicas: 1 } }, seen),
      patch(STRATEGIC_PATCH, scale, { spec: { replicas: 2 } }, seen),
      patch(JSON_PATCH, scale, [{ op: 'replace', path: '/spec/replicas', value: 0 }], seen),
      update(scale, body, seen),
      patch(MERGE_PATCH, scale, { spec: { replicas: -1 } }, { status: 422 }),
      patch(MERGE_PATCH, scale, { spec: { replicas: 'two' } }, { status: 422, ignore: ['message', 'details.causes'] }),
      update(scale, { ...body, kind: 'Odd' }, { status: 400 }),
      get(`${path}/a`, { pick: ['spec.replicas'] }),
      get(`${path}/none/scale`, { status: 404 }),
    ],
  }
})

const deployments = named(APPS, 'deployments')

export const subresourceCases: CaseGroup = {
  name: 'subresources',
  cases: [
    ...SCALES,
    {
      name: 'status of a deployment is its own',
      steps: [
        create(deployments, { ...deployment('a', { replicas: 0 }), status: { replicas: 5 } }, racing),
        patch(
          MERGE_PATCH,
          `${deployments}/a/status`,
          { spec: { replicas: 3 }, metadata: { labels: { a: 'b' } } },
          racing,
        ),
        patch(MERGE_PATCH, `${deployments}/a`, { spec: { paused: true } }, racing),
        get(`${deployments}/a/status`, racing),
      ],
    },
    {
      name: 'status of a claim',
      steps: [
        create(core('persistentvolumeclaims'), {
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          metadata: { name: 'a' },
          spec: {
            storageClassName: 'nobody',
            accessModes: ['ReadWriteOnce'],
            resources: { requests: { storage: '1Gi' } },
          },
        }),
        get(`${core('persistentvolumeclaims', 'a')}/status`),
        patch(
          MERGE_PATCH,
          core('persistentvolumeclaims', 'a'),
          { spec: { accessModes: ['ReadOnlyMany'] } },
          { status: 422 },
        ),
      ],
    },
    {
      name: 'status and scale of what has none',
      steps: [
        create(core('configmaps'), configMap('a')),
        get(`${core('configmaps', 'a')}/status`, { status: 404 }),
        get(`${core('configmaps', 'a')}/scale`, { status: 404 }),
        patch(MERGE_PATCH, `${core('configmaps', 'a')}/status`, {}, { status: 404 }),
      ],
    },
    {
      name: 'status takes no create and no delete',
      steps: [
        create(`${deployments}/a/status`, {}, { status: 405 }),
        remove(`${deployments}/a/status`, undefined, { status: 405 }),
      ],
    },
    {
      name: 'namespace finalize and status',
      steps: [
        get('/api/v1/namespaces/{ns}/status'),
        update('/api/v1/namespaces/{ns}/finalize', {
          apiVersion: 'v1',
          kind: 'Namespace',
          metadata: { name: '{ns}' },
          spec: { finalizers: ['kubernetes'] },
        }),
        patch(MERGE_PATCH, '/api/v1/namespaces/{ns}', { metadata: { labels: { a: 'b' } } }),
        patch(MERGE_PATCH, '/api/v1/namespaces/{ns}', {
          metadata: { labels: { 'kubernetes.io/metadata.name': 'other' } },
        }),
      ],
    },
    {
      name: 'service account tokens',
      steps: [
        create(core('serviceaccounts'), { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'a' } }),
        create(
          `${core('serviceaccounts', 'a')}/token`,
          { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 10 } },
          { status: 422 },
        ),
        create(
          `${core('serviceaccounts', 'none')}/token`,
          { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
          { status: 404 },
        ),
      ],
    },
    {
      name: 'logs of pods that do not run',
      steps: [
        get(`${core('pods', 'none')}/log`, { status: 404 }),
        create(core('pods'), pod('a'), { pick: ['kind'] }),
        get(`${core('pods', 'a')}/log`, { status: 204 }),
        get(`${core('pods', 'a')}/log?container=none`, { status: 400 }),
        create(core('pods'), pod('b', { containers: [container('x'), container('y')] }), { pick: ['kind'] }),
        get(`${core('pods', 'b')}/log`, { status: 400 }),
        get(`${core('pods', 'b')}/log?container=y`, { status: 204 }),
      ],
    },
    {
      name: 'reviews of access',
      steps: [
        create(
          '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
          {
            apiVersion: 'authorization.k8s.io/v1',
            kind: 'SelfSubjectAccessReview',
            spec: { resourceAttributes: { verb: 'get', resource: 'pods', namespace: '{ns}' } },
          },
          { ignore: ['status.reason'] },
        ),
        create('/apis/authorization.k8s.io/v1/subjectaccessreviews', {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SubjectAccessReview',
          spec: { user: 'nobody', resourceAttributes: { verb: 'get', resource: 'pods', namespace: '{ns}' } },
        }),
        create(
          '/apis/authorization.k8s.io/v1/subjectaccessreviews',
          {
            apiVersion: 'authorization.k8s.io/v1',
            kind: 'SubjectAccessReview',
            spec: { resourceAttributes: { verb: 'get', resource: 'pods' } },
          },
          { status: 422 },
        ),
        create(
          '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
          { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec: {} },
          { status: 422 },
        ),
        create(
          '/apis/authentication.k8s.io/v1/tokenreviews',
          { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: 'nonsense' } },
          { ignore: ['status.error'] },
        ),
        create(
          '/apis/authentication.k8s.io/v1/tokenreviews',
          { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: {} },
          { status: 400 },
        ),
        create(
          '/apis/authentication.k8s.io/v1/selfsubjectreviews',
          { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
          { ignore: ['status.userInfo'] },
        ),
      ],
    },
  ],
}
