import type { Case, CaseGroup, JsonObject } from '../case.ts'
import { configMap, lease, pod, secret, service } from '../objects.ts'
import { BY_CONTROLLERS, core, create, get, JSON_PATCH, MERGE_PATCH, named, patch, remove, update } from '../steps.ts'

const maps = core('configmaps')
const map = core('configmaps', 'a')
const leases = named('coordination.k8s.io/v1', 'leases')
const one = (name: string, ...steps: Case['steps']): Case => ({ name: `delete ${name}`, steps })
const withPods = (name: string, ...steps: Case['steps']): Case => ({ ...one(name, ...steps), hasPods: true })
const made = create(maps, configMap('a'), { save: { rv: 'metadata.resourceVersion', uid: 'metadata.uid' } })
const held = create(maps, configMap('a', {}, { finalizers: ['tenure.test/wait'] }))
const options = (more: JsonObject): JsonObject => ({ apiVersion: 'v1', kind: 'DeleteOptions', ...more })
const WRONG_UID = '11111111-2222-3333-4444-555555555555'
const gone = get(map, { status: 404 })

export const deleteCases: CaseGroup = {
  name: 'delete',
  cases: [
    one('a config map', made, remove(map), gone),
    one('what is not there', remove(map, undefined, { status: 404 })),
    one('with the right uid', made, remove(map, options({ preconditions: { uid: '{uid}' } })), gone),
    one(
      'with a wrong uid',
      made,
      remove(map, options({ preconditions: { uid: WRONG_UID } }), { status: 409 }),
      get(map),
    ),
    one('with the right version', made, remove(map, options({ preconditions: { resourceVersion: '{rv}' } }))),
    one(
      'with an old version',
      made,
      patch(MERGE_PATCH, map, { data: { b: '1' } }),
      remove(map, options({ preconditions: { resourceVersion: '{rv}' } }), { status: 409 }),
      get(map),
    ),
    one(
      'as a dry run',
      made,
      remove(`${map}?dryRun=All`),
      get(map),
      remove(map, options({ dryRun: ['All'] })),
      get(map),
      remove(map, options({ dryRun: ['Some'] }), { status: 422 }),
    ),
    one(
      'what waits for a finalizer',
      held,
      remove(map),
      get(map),
      remove(map),
      patch(MERGE_PATCH, map, { data: { b: '1' } }),
      patch(MERGE_PATCH, map, { metadata: { finalizers: null } }),
      gone,
    ),
    one('what waits, by an update', held, remove(map), update(map, configMap('a')), gone),
    one(
      'what waits, by a JSON patch',
      held,
      remove(map),
      patch(JSON_PATCH, map, [{ op: 'remove', path: '/metadata/finalizers/0' }]),
      gone,
    ),
    one(
      'what waits takes no new finalizer',
      held,
      remove(map),
      patch(MERGE_PATCH, map, { metadata: { finalizers: ['tenure.test/wait', 'tenure.test/late'] } }, { status: 422 }),
    ),
    one('what waits, with a dry run', held, remove(`${map}?dryRun=All`), get(map)),
    one(
      'in the foreground',
      made,
      remove(`${map}?propagationPolicy=Foreground`),
      get(map, { eventually: true, status: 404 }),
    ),
    one(
      'in the foreground, with a finalizer',
      held,
      remove(`${map}?propagationPolicy=Foreground`, undefined, { ignore: ['metadata.resourceVersion'] }),
      patch(MERGE_PATCH, map, { metadata: { finalizers: null } }, { ignore: BY_CONTROLLERS }),
    ),
    one('in the background', made, remove(`${map}?propagationPolicy=Background`), gone),
    one('and orphan', made, remove(`${map}?propagationPolicy=Orphan`), get(map, { eventually: true, status: 404 })),
    one(
      'with a policy that is none',
      made,
      remove(`${map}?propagationPolicy=Odd`, undefined, { status: 422 }),
      remove(map, options({ propagationPolicy: 'Odd' }), { status: 422 }),
    ),
    one(
      'with two policies',
      made,
      remove(map, options({ propagationPolicy: 'Orphan', orphanDependents: true }), { status: 422 }),
    ),
    one(
      'with a bad grace',
      made,
      remove(`${map}?gracePeriodSeconds=abc`, undefined, { status: 400 }),
      remove(map, options({ gracePeriodSeconds: -5 })),
    ),
    one(
      'with a body that is none',
      made,
      remove(map, 'nonsense', { status: 400 }),
      remove(map, { apiVersion: 'v1', kind: 'ConfigMap' }, { status: 400 }),
      get(map),
    ),
    one('with an empty body', made, remove(map, '{}')),
    one(
      'dependents in the background',
      made,
      create(
        maps,
        configMap('child', {}, { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: '{uid}' }] }),
      ),
      remove(`${map}?propagationPolicy=Background`),
      get(core('configmaps', 'child'), { eventually: true, status: 404 }),
    ),
    one(
      'dependents in the foreground',
      made,
      create(
        maps,
        configMap(
          'child',
          {},
          {
            ownerReferences: [
              { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: '{uid}', blockOwnerDeletion: true },
            ],
          },
        ),
      ),
      remove(`${map}?propagationPolicy=Foreground`, undefined, { ignore: ['metadata.resourceVersion'] }),
      get(core('configmaps', 'child'), { eventually: true, status: 404 }),
      get(map, { eventually: true, status: 404 }),
    ),
    one(
      'without dependents',
      made,
      create(
        maps,
        configMap('child', {}, { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: '{uid}' }] }),
      ),
      remove(`${map}?propagationPolicy=Orphan`, undefined, { ignore: ['metadata.resourceVersion'] }),
      get(map, { eventually: true, status: 404 }),
      get(core('configmaps', 'child'), { pick: ['metadata.ownerReferences', 'metadata.name'] }),
    ),
    one(
      'what its own references lose, and no more',
      create(
        maps,
        configMap(
          'absent',
          {},
          { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: WRONG_UID }] },
        ),
      ),
      get(core('configmaps', 'absent'), { eventually: true, status: 404 }),
      create(
        maps,
        configMap(
          'a',
          {},
          { ownerReferences: [{ apiVersion: 'none.test/v1', kind: 'Odd', name: 'x', uid: WRONG_UID }] },
        ),
      ),
      create(maps, configMap('b'), { save: { uid: 'metadata.uid' } }),
      create(
        maps,
        configMap('c', {}, { ownerReferences: [{ apiVersion: 'v1', kind: 'Secret', name: 'b', uid: '{uid}' }] }),
      ),
      get(core('configmaps', 'c'), { eventually: true, status: 404 }),
      get(map),
      get(core('configmaps', 'b')),
    ),
    one(
      'a collection',
      create(core('secrets'), secret('a')),
      create(core('secrets'), secret('b')),
      remove(core('secrets')),
      get(core('secrets')),
    ),
    one(
      'a collection by labels',
      create(core('secrets'), secret('a', { labels: { x: 'y' } })),
      create(core('secrets'), secret('b')),
      remove(`${core('secrets')}?labelSelector=x%3Dy`),
      get(core('secrets')),
    ),
    one(
      'a collection by fields',
      create(leases, lease('a')),
      create(leases, lease('b')),
      remove(`${leases}?fieldSelector=metadata.name%3Da`),
      get(leases),
    ),
    one('a collection of nothing', remove(core('secrets'))),
    one(
      'a collection as a dry run',
      create(core('secrets'), secret('a')),
      remove(`${core('secrets')}?dryRun=All`),
      get(core('secrets')),
    ),
    one(
      'a collection that waits',
      create(core('secrets'), secret('a', { finalizers: ['tenure.test/wait'] })),
      remove(core('secrets')),
      get(core('secrets')),
      patch(MERGE_PATCH, core('secrets', 'a'), { metadata: { finalizers: null } }),
    ),
    one('a service', create(core('services'), service('a')), remove(core('services', 'a'))),
    one(
      'a service account',
      create(core('serviceaccounts'), { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'a' } }),
      remove(core('serviceaccounts', 'a')),
    ),
    one(
      'a pod template',
      create(core('podtemplates'), {
        apiVersion: 'v1',
        kind: 'PodTemplate',
        metadata: { name: 'a' },
        template: { spec: { containers: [{ name: 'a', image: 'b' }] } },
      }),
      remove(core('podtemplates', 'a')),
    ),
    withPods(
      'a pod that is nowhere',
      create(core('pods'), pod('a')),
      remove(core('pods', 'a')),
      get(core('pods', 'a'), { status: 404 }),
    ),
    withPods('a pod at once', create(core('pods'), pod('a')), remove(`${core('pods', 'a')}?gracePeriodSeconds=0`)),
    withPods(
      'a pod with a finalizer',
      create(core('pods'), pod('a', {}, { finalizers: ['tenure.test/wait'] })),
      remove(`${core('pods', 'a')}?gracePeriodSeconds=7`),
      get(core('pods', 'a')),
      patch(MERGE_PATCH, core('pods', 'a'), { metadata: { finalizers: null } }),
    ),
    withPods(
      'a pod on a node',
      create(core('pods'), pod('a', { nodeName: 'nowhere', terminationGracePeriodSeconds: 600 })),
      remove(core('pods', 'a'), undefined, { ignore: BY_CONTROLLERS }),
      get(core('pods', 'a'), { ignore: BY_CONTROLLERS }),
      remove(`${core('pods', 'a')}?gracePeriodSeconds=300`, undefined, { ignore: BY_CONTROLLERS }),
      remove(`${core('pods', 'a')}?gracePeriodSeconds=0`, undefined, { ignore: BY_CONTROLLERS }),
      get(core('pods', 'a'), { status: 404 }),
    ),
    withPods(
      'a pod by eviction',
      create(core('pods'), pod('a')),
      create(`${core('pods', 'a')}/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'a' } }),
      get(core('pods', 'a'), { status: 404 }),
    ),
    one('a namespace that is not there', remove('/api/v1/namespaces/{ns}-none', undefined, { status: 404 })),
    one(
      'a namespace',
      create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: '{ns}-del' } }),
      create('/api/v1/namespaces/{ns}-del/configmaps', configMap('a', {}, { finalizers: ['tenure.test/wait'] })),
      remove('/api/v1/namespaces/{ns}-del', undefined, { ignore: ['metadata.resourceVersion'] }),
      create('/api/v1/namespaces/{ns}-del/configmaps', configMap('b'), { status: 403 }),
      patch(
        MERGE_PATCH,
        '/api/v1/namespaces/{ns}-del/configmaps/a',
        { metadata: { finalizers: null } },
        { pick: ['kind', 'metadata.name'] },
      ),
      get('/api/v1/namespaces/{ns}-del', { eventually: true, status: 404 }),
      get('/api/v1/namespaces/{ns}-del/configmaps/a', { status: 404 }),
    ),
    one('a protected namespace', remove('/api/v1/namespaces/default', undefined, { status: 403 })),
  ],
}
