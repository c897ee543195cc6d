/** Options of a delete: an ignored option deletes an object that the client wants to keep. */
import type { Case, CaseGroup, Json } from '../case.ts'
import { configMap, lease, pod } from '../objects.ts'
import { BY_CONTROLLERS, core, create, get, named, remove } from '../steps.ts'

const maps = core('configmaps')
const map = core('configmaps', 'a')
const leases = named('coordination.k8s.io/v1', 'leases')
const one = (name: string, ...steps: Case['steps']): Case => ({ name: `delete options ${name}`, steps })
const withPods = (name: string, ...steps: Case['steps']): Case => ({ ...one(name, ...steps), hasPods: true })
const made = create(maps, configMap('a'))

/** Bodies of a delete and the resulting status. */
const BODIES: readonly (readonly [string, string, number])[] = [
  ['with a number for a uid', '{"preconditions":{"uid":5}}', 400],
  ['with a number for a version', '{"preconditions":{"resourceVersion":5}}', 400],
  ['with a text for preconditions', '{"preconditions":"x"}', 400],
  ['with a list for preconditions', '{"preconditions":[]}', 400],
  ['with null for preconditions', '{"preconditions":null}', 200],
  ['with an empty uid', '{"preconditions":{"uid":""}}', 409],
  ['with an empty version', '{"preconditions":{"resourceVersion":""}}', 409],
  ['with nulls in preconditions', '{"preconditions":{"uid":null,"resourceVersion":null}}', 200],
  ['with a text for a dry run', '{"dryRun":"All"}', 400],
  ['with a flag for a dry run', '{"dryRun":true}', 400],
  ['with numbers for a dry run', '{"dryRun":[1]}', 400],
  ['with a fraction of a second', '{"gracePeriodSeconds":1.5}', 400],
  ['with a text for a flag', '{"orphanDependents":"yes"}', 400],
  ['with a number for a policy', '{"propagationPolicy":5}', 400],
  ['with a number for a kind', '{"kind":5}', 400],
  ['with a number for a version of the kind', '{"apiVersion":5}', 400],
  ['with something unknown', '{"wrong":5}', 200],
  ['with metadata', '{"metadata":{"name":"x"}}', 200],
  ['in other letters', '{"Preconditions":{"UID":"x"}}', 200],
  ['said twice', '{"dryRun":["All"],"dryRun":[]}', 200],
  ['of null', 'null', 200],
  ['of a list', '[]', 400],
  ['of a number', '5', 400],
  ['of a text', '"x"', 400],
]

const SENT: readonly Case[] = BODIES.map(([title, body, status]) =>
  one(title, made, remove(map, body, { status }), get(map, { status: status === 200 ? 404 : 200 })),
)

const PLACES: readonly Case[] = [
  one(
    'in the query count for nothing next to a body',
    made,
    remove(`${map}?dryRun=All`, '{}'),
    get(map, { status: 404 }),
  ),
  one('in a body stand for the query', made, remove(`${map}?propagationPolicy=Orphan`, '{"dryRun":["All"]}'), get(map)),
  one(
    'in YAML',
    made,
    remove(map, 'dryRun: [All]\n', { headers: { 'content-type': 'application/yaml' } }),
    remove(map, 'x', { headers: { 'content-type': 'text/plain' }, status: 415 }),
    get(map),
  ),
  one(
    'of a collection',
    made,
    remove(`${maps}?fieldSelector=metadata.name%3Da`, '{"dryRun":["All"]}'),
    remove(`${maps}?fieldSelector=metadata.name%3Da`, '{"preconditions":{"uid":"x"}}', { status: 409 }),
    remove(`${maps}?fieldSelector=metadata.name%3Da`, '{"dryRun":"All"}', { status: 400 }),
    remove(`${maps}?labelSelector=a%20b`, undefined, { status: 400 }),
    remove(`${maps}?limit=x`, undefined, { status: 400 }),
    get(map),
  ),
  one(
    'of a collection that is limited',
    create(leases, lease('a')),
    create(leases, lease('b')),
    remove(`${leases}?limit=1`),
    get(leases),
  ),
  one(
    'of a collection as it was',
    create(leases, lease('a'), { save: { rv: 'metadata.resourceVersion' } }),
    create(leases, lease('b')),
    remove(`${leases}?resourceVersion={rv}&resourceVersionMatch=Exact`),
    get(leases),
  ),
]

const pods = core('pods')
const eviction = (more: Readonly<Record<string, Json>> = {}, name = 'a'): Json => ({
  apiVersion: 'policy/v1',
  kind: 'Eviction',
  metadata: { name },
  ...more,
})
const evict = (body: Json, status = 201): ReturnType<typeof create> =>
  create(`${core('pods', 'a')}/eviction`, body, { status })
const still = (status = 200): ReturnType<typeof get> => get(core('pods', 'a'), { status, ignore: BY_CONTROLLERS })

const EVICTIONS: readonly Case[] = [
  withPods(
    'of an eviction with wrong types',
    create(pods, pod('a')),
    evict(eviction({ deleteOptions: { dryRun: 'All' } }), 400),
    evict(eviction({ deleteOptions: { preconditions: { uid: 5 } } }), 400),
    evict(eviction({ deleteOptions: 'x' }), 400),
    evict(eviction({}, 'b'), 400),
    still(),
  ),
  withPods(
    'of an eviction as a dry run',
    create(pods, pod('a')),
    evict(eviction({ deleteOptions: { dryRun: ['All'] } })),
    still(),
    create(`${core('pods', 'a')}/eviction?dryRun=All`, eviction()),
    still(),
    create(`${core('pods', 'a')}/eviction?dryRun=All`, eviction({ deleteOptions: { dryRun: ['All'] } })),
    evict(eviction({ deleteOptions: { dryRun: ['Some'] } }), 422),
    still(),
  ),
  withPods(
    'of an eviction with preconditions',
    create(pods, pod('a'), { save: { uid: 'metadata.uid' } }),
    evict(eviction({ deleteOptions: { preconditions: { uid: 'x' } } }), 409),
    evict(eviction({ deleteOptions: { preconditions: { resourceVersion: '1' } } }), 409),
    still(),
    evict(eviction({ deleteOptions: { preconditions: { uid: '{uid}' } } })),
    still(404),
  ),
  withPods(
    'of what is not an eviction',
    create(pods, pod('a')),
    evict({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }, 400),
    still(),
    evict({ apiVersion: 'policy/v1beta1', kind: 'Eviction', metadata: { name: 'a' } }),
    still(404),
  ),
  withPods('of an eviction with something unknown', create(pods, pod('a')), evict(eviction({ wrong: 1 }))),
  withPods('of an eviction that does not say what it is', create(pods, pod('a')), evict({ metadata: { name: 'a' } })),
]

export const deleteOptionCases: CaseGroup = { name: 'delete options', cases: [...SENT, ...PLACES, ...EVICTIONS] }
