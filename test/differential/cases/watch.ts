import type { Case, CaseGroup } from '../case.ts'
import { configMap, lease, widget } from '../objects.ts'
import { core, create, custom, get, MERGE_PATCH, named, patch, read, remove, watch } from '../steps.ts'

const leases = named('coordination.k8s.io/v1', 'leases')
const maps = core('configmaps')
const one = (name: string, ...steps: Case['steps']): Case => ({ name: `watch ${name}`, steps })

const SINCE = { save: { since: 'metadata.resourceVersion' } }
const start = get(leases, SINCE)
const make = (name: string, labels: Readonly<Record<string, string>> = {}): ReturnType<typeof create> =>
  create(leases, { ...lease(name), metadata: { name, labels } })
const relabel = (name: string, value: string | null): ReturnType<typeof patch> =>
  patch(MERGE_PATCH, `${leases}/${name}`, { metadata: { labels: { watched: value } } })
const from = 'resourceVersion={since}'
const initial = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan'

export const watchCases: CaseGroup = {
  name: 'watch',
  cases: [
    one(
      'from a version',
      start,
      make('a'),
      make('b'),
      patch(MERGE_PATCH, `${leases}/a`, { spec: { holderIdentity: 'x' } }),
      remove(`${leases}/b`),
      watch('w', `${leases}?${from}`),
      read('w', 4),
    ),
    one(
      'while it happens',
      start,
      watch('w', `${leases}?${from}`),
      make('a'),
      patch(MERGE_PATCH, `${leases}/a`, { spec: { holderIdentity: 'z' } }),
      remove(`${leases}/a`),
      read('w', 3),
    ),
    one('without a version', make('a'), make('b'), watch('w', leases), read('w', 2)),
    one(
      'from zero',
      make('a'),
      watch('w', `${leases}?resourceVersion=0&fieldSelector=metadata.name%3Da`),
      read('w', 1),
    ),
    one(
      'with initial events',
      make('a'),
      make('b'),
      watch('w', `${leases}?${initial}&allowWatchBookmarks=true`),
      read('w', 3),
    ),
    one(
      'with initial events from zero',
      make('a'),
      get(leases),
      watch('w', `${leases}?${initial}&allowWatchBookmarks=true&resourceVersion=0`),
      read('w', 2),
    ),
    one(
      'with initial events and more',
      make('a'),
      watch('w', `${leases}?${initial}&allowWatchBookmarks=true`),
      read('w', 2),
      make('b'),
      relabel('a', 'yes'),
      read('w', 2),
    ),
    one('with initial events of nothing', watch('w', `${leases}?${initial}&allowWatchBookmarks=true`), read('w', 1)),
    one(
      'without initial events',
      start,
      make('a'),
      watch('w', `${leases}?sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion={since}`),
      read('w', 1),
    ),
    one(
      'with initial events and labels',
      make('a', { watched: 'yes' }),
      make('b'),
      watch('w', `${leases}?${initial}&allowWatchBookmarks=true&labelSelector=watched`),
      read('w', 2),
    ),
    one(
      'with initial events of metadata',
      make('a'),
      watch('w', `${leases}?${initial}&allowWatchBookmarks=true`, {
        headers: { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' },
      }),
      read('w', 2),
    ),
    one(
      'as a table',
      make('a'),
      make('b'),
      watch('w', leases, { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } }),
      read('w', 2),
    ),
    one(
      'as metadata',
      make('a'),
      watch('w', leases, { headers: { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' } }),
      read('w', 1),
    ),
    one(
      'with labels that come and go',
      start,
      make('a', { watched: 'yes' }),
      make('b'),
      relabel('b', 'yes'),
      relabel('a', null),
      relabel('a', 'again'),
      remove(`${leases}/b`),
      watch('w', `${leases}?${from}&labelSelector=watched`),
      read('w', 5),
    ),
    one(
      'one by its name',
      start,
      make('a'),
      make('b'),
      remove(`${leases}/a`),
      watch('w', `${leases}?${from}&fieldSelector=metadata.name%3Da`),
      read('w', 2),
    ),
    one('a single object', start, make('a'), watch('w', `${leases}/a?${from}`, { status: 200 }), read('w', 1)),
    one(
      'through the old path',
      start,
      make('a'),
      watch('w', `/apis/coordination.k8s.io/v1/watch/namespaces/{ns}/leases?${from}`),
      read('w', 1),
    ),
    one(
      'all namespaces',
      start,
      make('a', { own: '{ns}' }),
      watch('w', `/apis/coordination.k8s.io/v1/leases?${from}&labelSelector=own%3D{ns}`),
      read('w', 1),
    ),
    one('ends in time', make('a'), watch('w', `${leases}?timeoutSeconds=1`), read('w', 'all')),
    one('too far back', watch('w', `${custom('widgets')}?resourceVersion=1`), read('w', 'all')),
    one(
      'with bad versions',
      watch('w', `${leases}?resourceVersion=abc`, { status: 500 }),
      watch('w', `${leases}?resourceVersion=-1`, { status: 500 }),
    ),
    one(
      'with bad selectors',
      watch('w', `${leases}?labelSelector=a%20b`, { status: 400 }),
      watch('w', `${leases}?fieldSelector=nonsense%3Dx`, { status: 400 }),
    ),
    one(
      'with options that do not fit',
      watch('w', `${leases}?sendInitialEvents=true`, { status: 422 }),
      watch('w', `${leases}?resourceVersionMatch=Exact`, { status: 422 }),
      watch('w', `${leases}?resourceVersionMatch=NotOlderThan&sendInitialEvents=true&continue=x`, { status: 422 }),
      get(`${leases}?sendInitialEvents=true`, { status: 422 }),
    ),
    one(
      'deletions that wait',
      start,
      create(leases, { ...lease('a'), metadata: { name: 'a', finalizers: ['tenure.test/wait'] } }),
      remove(`${leases}/a`),
      patch(MERGE_PATCH, `${leases}/a`, { metadata: { finalizers: null } }),
      watch('w', `${leases}?${from}`),
      read('w', 3),
    ),
    one(
      'collections deleted',
      start,
      make('a'),
      make('b'),
      remove(leases),
      watch('w', `${leases}?${from}`),
      read('w', 4),
    ),
    one(
      'nothing that changes nothing',
      start,
      make('a'),
      relabel('a', null),
      patch(MERGE_PATCH, `${leases}/a`, {}),
      make('b'),
      watch('w', `${leases}?${from}`),
      read('w', 2),
    ),
    one(
      'no dry runs',
      start,
      create(`${leases}?dryRun=All`, lease('dry')),
      make('b'),
      watch('w', `${leases}?${from}`),
      read('w', 1),
    ),
    one(
      'custom resources',
      get(custom('widgets'), SINCE),
      create(custom('widgets'), widget('a')),
      patch(MERGE_PATCH, `${custom('widgets')}/a/status`, { status: { phase: 'Ready' } }),
      remove(`${custom('widgets')}/a`),
      watch('w', `${custom('widgets')}?${from}`),
      read('w', 3),
    ),
    one(
      'custom resources by a field',
      get(custom('widgets'), SINCE),
      create(custom('widgets'), widget('a')),
      patch(MERGE_PATCH, `${custom('widgets')}/a`, { spec: { mode: 'slow' } }),
      patch(MERGE_PATCH, `${custom('widgets')}/a`, { spec: { mode: 'fast' } }),
      watch('w', `${custom('widgets')}?${from}&fieldSelector=spec.mode%3Dslow`),
      read('w', 2),
    ),
    one(
      'custom resources in the other version',
      get(custom('widgets'), SINCE),
      create(custom('widgets'), widget('a')),
      watch('w', `/apis/{group}/v1beta1/namespaces/{ns}/widgets?${from}`),
      read('w', 1),
    ),
    one(
      'custom resources as a table',
      create(custom('widgets'), widget('a')),
      watch('w', custom('widgets'), { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } }),
      read('w', 1),
    ),
    one(
      'what was recreated',
      start,
      make('a'),
      remove(`${leases}/a`),
      make('a'),
      watch('w', `${leases}?${from}`),
      read('w', 3),
    ),
    one(
      'config maps with initial events',
      create(maps, configMap('a', { a: '1' }, { labels: { own: 'yes' } })),
      watch('w', `${maps}?${initial}&allowWatchBookmarks=true&labelSelector=own`),
      read('w', 2),
    ),
  ],
}
