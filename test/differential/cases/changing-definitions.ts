import type { Case, CaseGroup, JsonObject, Step } from '../case.ts'
import { definition, version } from '../custom-resource.ts'
import { apply, create, CRDS, custom, get, JSON_PATCH, MERGE_PATCH, patch, read, remove, watch } from '../steps.ts'

/** Definitions that are changed or deleted while objects and watches of them exist. */
const one = (name: string, ...steps: readonly Step[]): Case => ({ name: `definition changes: ${name}`, steps })

const kindOf = (plural: string): string => plural.charAt(0).toUpperCase() + plural.slice(1, -1)

const object = (plural: string, spec: JsonObject, metadata: JsonObject = {}): JsonObject => ({
  apiVersion: '{group}/v1',
  kind: kindOf(plural),
  metadata: { name: 'a', ...metadata },
  spec,
})

const schema = (properties: JsonObject): JsonObject => ({ type: 'object', properties })

const made = (plural: string, properties: JsonObject): readonly Step[] => [
  create(
    CRDS,
    definition({
      plural,
      kind: kindOf(plural),
      versions: [
        version('v1', schema({ spec: schema(properties) }), { selectableFields: [{ jsonPath: '.spec.size' }] }),
      ],
    }),
    { pick: ['kind'] },
  ),
  get(custom(plural), { eventually: true, pick: ['kind'] }),
]

const TEXT: JsonObject = { type: 'string' }
const path = '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties'

/** The new schema has a property `fresh`, which shows when it is in force. */
const changed = (plural: string, properties: JsonObject): readonly Step[] => [
  patch(JSON_PATCH, `${CRDS}/${plural}.{group}`, [{ op: 'replace', path, value: { ...properties, fresh: TEXT } }], {
    pick: ['kind'],
  }),
  create(`${custom(plural)}?dryRun=All&fieldValidation=Strict`, object(plural, { fresh: '1' }, { name: 'probe' }), {
    eventually: true,
    pick: ['kind'],
  }),
]

const OBJECTS: readonly Case[] = [
  one(
    'what is stored is read with the new defaults, and without what is no longer known',
    ...made('sizeds', { size: TEXT, gone: TEXT }),
    create(custom('sizeds'), object('sizeds', { gone: '1' })),
    create(custom('sizeds'), object('sizeds', { size: 's', gone: '1' }, { name: 'b', finalizers: ['x.test/y'] })),
    create(custom('sizeds'), object('sizeds', { gone: '1' }, { name: 'c' })),
    ...changed('sizeds', { size: { ...TEXT, default: 'm' } }),
    get(custom('sizeds', 'a')),
    get(custom('sizeds')),
    get(`${custom('sizeds')}?fieldSelector=spec.size%3Dm`),
    watch('all', `${custom('sizeds')}?resourceVersion=0`),
    read('all', 3),
    remove(custom('sizeds', 'c')),
    read('all', 1),
    remove(custom('sizeds', 'b')),
    read('all', 1),
    get(custom('sizeds', 'b')),
    patch(MERGE_PATCH, custom('sizeds', 'a'), { metadata: { labels: { a: 'b' } } }),
    read('all', 1),
    apply(custom('sizeds', 'a'), 'me', object('sizeds', { fresh: '1' })),
    patch(JSON_PATCH, custom('sizeds', 'a'), [{ op: 'test', path: '/spec/size', value: 'm' }]),
    patch(JSON_PATCH, custom('sizeds', 'b'), [{ op: 'remove', path: '/metadata/finalizers' }]),
    read('all', 2),
  ),
  one(
    'of what is now a text nothing stays that was in it',
    ...made('kinds', { size: TEXT, part: schema({ of: TEXT }) }),
    create(custom('kinds'), object('kinds', { part: { of: '1' } })),
    ...changed('kinds', { size: TEXT, part: TEXT }),
    get(custom('kinds', 'a')),
    // The real server loses the field ownership of an object whose types are wrong.
    patch(
      MERGE_PATCH,
      custom('kinds', 'a'),
      { metadata: { labels: { a: 'b' } } },
      { ignore: ['metadata.managedFields'] },
    ),
  ),
]

const WATCHES: readonly Case[] = [
  one(
    'a watch ends with its definition',
    ...made('leavers', { size: TEXT }),
    create(custom('leavers'), object('leavers', { size: 's' })),
    watch('all', custom('leavers')),
    read('all', 1),
    remove(`${CRDS}/leavers.{group}`, undefined, { pick: ['kind'] }),
    read('all', 'all'),
  ),
  one(
    'a watch ends when the schema changes',
    ...made('changers', { size: TEXT }),
    create(custom('changers'), object('changers', { size: 's' })),
    watch('all', custom('changers')),
    read('all', 1),
    ...changed('changers', { size: TEXT }),
    read('all', 'all'),
  ),
  one(
    'a watch goes on when only labels of the definition change',
    ...made('stayers', { size: TEXT }),
    create(custom('stayers'), object('stayers', { size: 's' })),
    watch('all', custom('stayers')),
    read('all', 1),
    patch(MERGE_PATCH, `${CRDS}/stayers.{group}`, { metadata: { labels: { a: 'b' } } }, { pick: ['kind'] }),
    patch(MERGE_PATCH, custom('stayers', 'a'), { spec: { size: 'm' } }),
    read('all', 1),
  ),
]

export const changingDefinitionCases: CaseGroup = { name: 'changing definitions', cases: [...OBJECTS, ...WATCHES] }
