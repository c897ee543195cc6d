import type { Case, CaseGroup } from '../case.ts'
import { configMap, pod, secret } from '../objects.ts'
import { core, create, get } from '../steps.ts'
import { createdKinds } from './create-kinds.ts'
import { refusedObjects } from './create-refusals.ts'

const METADATA: readonly Case[] = [
  {
    name: 'create and get a config map',
    steps: [
      create(core('configmaps'), configMap('a', { a: '1' }, { labels: { x: 'y' } })),
      get(core('configmaps', 'a')),
    ],
  },
  {
    name: 'create twice',
    steps: [create(core('configmaps'), configMap('a')), create(core('configmaps'), configMap('a'), { status: 409 })],
  },
  {
    name: 'create with a generated name',
    steps: [
      create(
        core('configmaps'),
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'gen-' } },
        { save: { made: 'metadata.name' } },
      ),
      get(core('configmaps', '{made}')),
    ],
  },
  {
    name: 'create ignores what the server sets',
    steps: [
      create(
        core('configmaps'),
        configMap(
          'a',
          {},
          {
            uid: '11111111-1111-1111-1111-111111111111',
            creationTimestamp: '2000-01-01T00:00:00Z',
            deletionTimestamp: '2000-01-01T00:00:00Z',
            deletionGracePeriodSeconds: 5,
            generation: 7,
            selfLink: '/x',
          },
        ),
      ),
    ],
  },
  {
    name: 'create with a version that storage would refuse',
    steps: [
      create(`${core('configmaps')}?dryRun=All`, configMap('a', {}, { resourceVersion: '5' })),
      create(`${core('configmaps')}?dryRun=All`, configMap('a', {}, { resourceVersion: 'abc' })),
      create(core('configmaps'), configMap('a', {}, { resourceVersion: '5' }), { status: 500 }),
      create(core('configmaps'), configMap('a', {}, { resourceVersion: '0' })),
      create(core('configmaps'), configMap('b', {}, { resourceVersion: 'abc' })),
    ],
  },
  {
    name: 'create drops a status',
    hasPods: true,
    steps: [create(`${core('pods')}?dryRun=All`, { ...pod('a'), status: { phase: 'Running', podIP: '1.2.3.4' } })],
  },
  {
    name: 'create takes the namespace from the path',
    steps: [create(core('configmaps'), configMap('a', {}, { namespace: '{ns}' }))],
  },
  {
    name: 'create with a field manager',
    steps: [
      create(`${core('configmaps')}?fieldManager=somebody`, configMap('a')),
      create(`${core('configmaps')}?fieldManager=${'x'.repeat(129)}`, configMap('b'), { status: 422 }),
    ],
  },
  {
    name: 'create names the manager after the program',
    steps: [create(core('configmaps'), configMap('a'), { headers: { 'user-agent': 'one two/3' } })],
  },
  {
    name: 'create without kind and version',
    steps: [create(core('configmaps'), { metadata: { name: 'a' }, data: { a: '1' } })],
  },
  {
    name: 'create with nulls',
    steps: [
      create(core('configmaps'), { ...configMap('a'), data: { a: null }, metadata: { name: 'a', labels: null } }),
    ],
  },
  {
    name: 'create with a deletion that waits',
    steps: [create(core('configmaps'), configMap('a', {}, { finalizers: ['tenure.test/wait'] }))],
  },
  {
    name: 'create in a namespace that is not there',
    steps: [create('/api/v1/namespaces/{ns}-none/configmaps', configMap('a'), { status: 404 })],
  },
  {
    name: 'create an immutable config map',
    steps: [create(core('configmaps'), { ...configMap('a'), immutable: true })],
  },
  {
    name: 'create a secret in base64',
    steps: [create(core('secrets'), { ...secret('a'), data: { raw: 'aGVsbG8=' } }), get(core('secrets', 'a'))],
  },
  {
    name: 'create from YAML',
    steps: [
      create(
        core('configmaps'),
        'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  text: |\n    two\n    lines\n  yes: "on"\n',
        {
          headers: { 'content-type': 'application/yaml' },
        },
      ),
    ],
  },
  {
    name: 'create a binding and an eviction of nothing',
    steps: [
      create(
        `${core('pods', 'none')}/eviction`,
        { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'none' } },
        { status: 404 },
      ),
      create(
        `${core('pods', 'none')}/binding`,
        { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'none' }, target: { kind: 'Node', name: 'x' } },
        { status: 404 },
      ),
    ],
  },
  {
    name: 'create dry runs leave nothing',
    steps: [
      create(`${core('configmaps')}?dryRun=All`, configMap('a')),
      get(core('configmaps', 'a'), { status: 404 }),
      create(`${core('configmaps')}?dryRun=Some`, configMap('a'), { status: 422 }),
    ],
  },
]

const STATUS_OF: Readonly<Record<string, number>> = { Strict: 400, Sometimes: 422 }

const STRICTNESS: readonly Case[] = ['Ignore', 'Warn', 'Strict', 'Sometimes'].flatMap((level) => [
  {
    name: `create with unknown fields and fieldValidation=${level}`,
    steps: [
      create(
        `${core('configmaps')}?fieldValidation=${level}`,
        { ...configMap('a'), wrong: 1, metadata: { name: 'a', worse: 2 } },
        { status: STATUS_OF[level] ?? 201 },
      ),
    ],
  },
  {
    name: `create with a key twice and fieldValidation=${level}`,
    steps: [
      create(
        `${core('configmaps')}?fieldValidation=${level}`,
        '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"a":"1","a":"2"}}',
        { status: STATUS_OF[level] ?? 201 },
      ),
    ],
  },
])

export const createCases: CaseGroup = {
  name: 'create',
  cases: [...METADATA, ...createdKinds, ...refusedObjects, ...STRICTNESS],
}
