import type { Case, CaseGroup, JsonObject } from '../case.ts'
import { configMap, container, deployment, lease, podTemplate, secret, service, pod, role } from '../objects.ts'
import { BY_CONTROLLERS, core, create, get, named, update } from '../steps.ts'

const SAVE = { rv: 'metadata.resourceVersion', uid: 'metadata.uid' }
const with_ = (object: JsonObject, metadata: JsonObject): JsonObject => ({
  ...object,
  metadata: { ...(object['metadata'] as JsonObject), ...metadata },
})

const one = (name: string, ...steps: Case['steps']): Case => ({ name: `update ${name}`, steps })
const made = create(core('configmaps'), configMap('a'), { save: SAVE })
const at = core('configmaps', 'a')

export const updateCases: CaseGroup = {
  name: 'update',
  cases: [
    one('without a version', made, update(at, configMap('a', { a: '2' })), get(at)),
    one('with the version', made, update(at, configMap('a', { a: '2' }, { resourceVersion: '{rv}' }))),
    one(
      'with an old version',
      made,
      update(at, configMap('a', { a: '2' })),
      update(at, configMap('a', { a: '3' }, { resourceVersion: '{rv}' }), { status: 409 }),
    ),
    one(
      'with a version that is none',
      made,
      update(at, configMap('a', { a: '2' }, { resourceVersion: 'abc' }), { status: 500 }),
    ),
    one('that changes nothing', made, update(at, configMap('a')), update(at, configMap('a'))),
    one('of something that is not there', update(at, configMap('a'), { status: 404 })),
    one('that creates a lease', update(named('coordination.k8s.io/v1', 'leases', 'a'), lease('a'), { status: 201 })),
    one('that creates a role', update(named('rbac.authorization.k8s.io/v1', 'roles', 'a'), role('a'), { status: 201 })),
    one('of another name', made, update(at, configMap('b'), { status: 400 })),
    one('of another namespace', made, update(at, configMap('a', {}, { namespace: 'other' }), { status: 400 })),
    one(
      'with another uid',
      made,
      update(at, configMap('a', {}, { uid: '11111111-2222-3333-4444-555555555555' }), { status: 409 }),
    ),
    one('with the right uid', made, update(at, configMap('a', { b: '1' }, { uid: '{uid}' }))),
    one('with another kind', made, update(at, { ...configMap('a'), kind: 'Secret' }, { status: 400 })),
    one('with another version of the API', made, update(at, { ...configMap('a'), apiVersion: 'v2' }, { status: 400 })),
    one(
      'keeps what the server set',
      made,
      update(at, with_(configMap('a'), { creationTimestamp: '2000-01-01T00:00:00Z', generation: 9 })),
    ),
    one(
      'that drops the managed fields',
      made,
      update(at, with_(configMap('a'), { managedFields: [] })),
      update(at, with_(configMap('a'), { managedFields: [{}] })),
    ),
    one(
      'by two managers',
      create(`${core('configmaps')}?fieldManager=one`, configMap('a')),
      update(`${at}?fieldManager=two`, configMap('a', { a: '1', b: '2' })),
      update(`${at}?fieldManager=two`, configMap('a', { b: '3' })),
    ),
    one(
      'of an immutable config map',
      create(core('configmaps'), { ...configMap('a'), immutable: true }),
      update(at, { ...configMap('a', { a: '2' }), immutable: true }, { status: 422 }),
      update(at, configMap('a'), { status: 422 }),
    ),
    one(
      'of the type of a secret',
      create(core('secrets'), secret('a')),
      update(core('secrets', 'a'), { ...secret('a'), type: 'other' }, { status: 422 }),
    ),
    one(
      'of the selector of a deployment',
      create(named('apps/v1', 'deployments'), deployment('a', { replicas: 0, paused: true }), {
        ignore: BY_CONTROLLERS,
      }),
      update(
        named('apps/v1', 'deployments', 'a'),
        deployment('a', {
          replicas: 0,
          selector: { matchLabels: { app: 'b' } },
          template: { metadata: { labels: { app: 'b' } }, spec: { containers: [container('web')] } },
        }),
        {
          status: 422,
          ignore: BY_CONTROLLERS,
        },
      ),
    ),
    one(
      'of the address of a service',
      create(core('services'), service('a')),
      update(core('services', 'a'), service('a', { clusterIP: '10.0.0.99' }), { status: 422 }),
    ),
    one(
      'of a service keeps its address',
      create(core('services'), service('a')),
      update(core('services', 'a'), service('a', { ports: [{ port: 81 }] })),
    ),
    one(
      'of the reference of a binding',
      create(named('rbac.authorization.k8s.io/v1', 'rolebindings'), binding('a')),
      update(named('rbac.authorization.k8s.io/v1', 'rolebindings', 'a'), binding('b'), { status: 422 }),
    ),
    one('as a dry run', made, update(`${at}?dryRun=All`, configMap('a', { a: '2' })), get(at)),
    one(
      'with unknown fields',
      made,
      update(`${at}?fieldValidation=Strict`, { ...configMap('a'), wrong: 1 }, { status: 400 }),
      update(`${at}?fieldValidation=Warn`, { ...configMap('a'), wrong: 1 }),
    ),
    one(
      'counts generations',
      create(core('podtemplates'), podTemplate('a', { containers: [container('web')] })),
      update(core('podtemplates', 'a'), podTemplate('a', { containers: [container('two')] })),
    ),
    {
      ...one(
        'of the containers of a pod',
        create(core('pods'), pod('a')),
        update(core('pods', 'a'), pod('a', { containers: [container('other')] }), { status: 422 }),
      ),
      hasPods: true,
    },
    {
      ...one(
        'of the image of a pod',
        create(core('pods'), pod('a'), { save: SAVE }),
        update(core('pods', 'a'), pod('a', { containers: [container('web', { image: 'example.test/web:2' })] }), {
          status: 422,
        }),
      ),
      hasPods: true,
    },
    {
      ...one(
        'of the status of a pod',
        create(core('pods'), pod('a')),
        update(`${core('pods', 'a')}/status`, {
          ...pod('a', { priority: 9 }),
          status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
        }),
        get(core('pods', 'a')),
        get(`${core('pods', 'a')}/status`),
      ),
      hasPods: true,
    },
    {
      ...one(
        'that evicts and binds',
        create(core('pods'), pod('a')),
        create(`${core('pods', 'a')}/binding`, {
          apiVersion: 'v1',
          kind: 'Binding',
          metadata: { name: 'a' },
          target: { kind: 'Node', name: 'nowhere' },
        }),
        get(core('pods', 'a'), { pick: ['spec.nodeName'] }),
        create(
          `${core('pods', 'a')}/binding`,
          { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'a' }, target: { kind: 'Node', name: 'nowhere' } },
          { status: 409 },
        ),
      ),
      hasPods: true,
    },
  ],
}

function binding(name: string): JsonObject {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: 'a' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
    subjects: [],
  }
}
