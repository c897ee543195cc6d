/** Bodies in YAML with duplicate keys. */
import type { Case, CaseGroup, Step } from '../case.ts'
import { APPLY_PATCH, core, create, custom, get, named, patch, update } from '../steps.ts'

const maps = core('configmaps')
const map = core('configmaps', 'a')
const widgets = custom('widgets')
const YAML = { headers: { 'content-type': 'application/yaml' } }
const KIND = 'apiVersion: v1\nkind: ConfigMap\n'
const METADATA = 'metadata: {name: a}\n'
const WIDGET = 'apiVersion: {group}/v1\nkind: Widget\nmetadata: {name: a}\n'

const one = (name: string, ...steps: readonly Step[]): Case => ({ name: `YAML ${name}`, steps })

/** Rejected with strict validation, otherwise warned about or accepted; nothing is stored. */
const doubled = (name: string, rest: string): Case => {
  const body = KIND + METADATA + rest
  return one(
    `with ${name}`,
    create(`${maps}?fieldValidation=Strict`, body, { ...YAML, status: 400 }),
    create(`${maps}?dryRun=All&fieldValidation=Warn`, body, YAML),
    create(`${maps}?dryRun=All&fieldValidation=Ignore`, body, YAML),
    patch(APPLY_PATCH, `${map}?fieldManager=one&fieldValidation=Strict`, body, { status: 400 }),
    patch(APPLY_PATCH, `${map}?fieldManager=one&dryRun=All`, body, { status: 201 }),
    patch(APPLY_PATCH, `${map}?fieldManager=one&dryRun=All&fieldValidation=Ignore`, body, { status: 201 }),
    get(map, { status: 404 }),
  )
}

/** The same for a custom resource with a field that accepts anything. */
const doubledWithin = (name: string, free: string): Case => {
  const body = `${WIDGET}spec:\n  size: 1\n  free:\n${free.replaceAll(/^(?=.)/gm, '    ')}`
  return one(
    `with ${name}`,
    create(`${widgets}?fieldValidation=Strict`, body, { ...YAML, status: 400 }),
    create(`${widgets}?dryRun=All`, body, YAML),
    patch(APPLY_PATCH, `${widgets}/a?fieldManager=one&fieldValidation=Strict`, body, { status: 400 }),
    patch(APPLY_PATCH, `${widgets}/a?fieldManager=one&dryRun=All`, body, { status: 201 }),
    get(`${widgets}/a`, { status: 404 }),
  )
}

const BASES = 'one: &one {a: "1", b: "2"}\ntwo: &two {a: "3", c: "4"}\n'

/** JSON that is sent as YAML but is not valid YAML. */
const json = (data: string): string => `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":${data}}`
const notYaml = (name: string, data: string): Case =>
  one(
    `that is JSON ${name}`,
    create(maps, json(data), { ...YAML, status: 400 }),
    patch(APPLY_PATCH, `${map}?fieldManager=one`, json(data), { status: 400 }),
    get(map, { status: 404 }),
  )

const JSON_ONLY: readonly Case[] = [
  notYaml('with a character that YAML has not', '{"a":"\u007f"}'),
  notYaml('with another of those', '{"a":"b\u0090"}'),
  notYaml('with a key that is too long', `{"${'k'.repeat(1100)}":"a"}`),
  notYaml('with a key that is too long, and a gap', `{"${'k'.repeat(1100)}" \t:"a"}`),
  one(
    'that is JSON with a long value, and all else that is both',
    create(maps, json(`{"a":"${'v'.repeat(3000)}\u0085w\u2028 x","b":"a:b\\":c"}`), YAML),
    patch(APPLY_PATCH, `${map}?fieldManager=one&force=true`, json(`{"a":"${'w:'.repeat(3000)}"}`)),
  ),
]

const DOUBLED: readonly Case[] = [
  doubled('a doubled key', 'data: {a: b}\ndata: {c: d}\n'),
  doubled('doubled keys at two levels', 'data: {a: b, a: c}\ndata: {c: d, e: f, c: g}\n'),
  doubled('a key three times', 'data:\n  a: b\n  a: c\n  a: d\n'),
  doubled('a doubled key in other quotes', 'data:\n  a: b\n  "a": c\n  \'a\': d\n  "\\x61": e\n'),
  doubled('doubled keys on one line', 'data: {a: b, a: c, a: d}\n'),
  doubled('a doubled key that says nothing', 'data:\n  a:\n  a:\n  b: c\n'),
  doubled('a doubled key at the end', 'data: {}\ndata:'),
  doubled('a doubled key, its value below', 'data:\n  a: b\n  # why\n  a: # not\n\n    c\n'),
  doubled('doubled keys of blocks', 'data:\n  a: |\n    b\n  a: >-\n\n    c\n  a: "d\n    e"\n'),
  doubled('a doubled key with an anchor', 'data: {}\ndata: &data\n  a: b\n'),
  doubled('a doubled key with a tag', 'data: {}\ndata: !!map\n  a: b\n'),
  doubled('doubled explicit keys', 'data:\n  ? a\n  : b\n  ? a\n  : c\n  ? d\n  ? d\n'),
  doubled('numbers that are the same key', 'data:\n  1: a\n  0x1: b\n  01: c\n  1.5: d\n  1.50: e\n'),
  doubled('words that are the same key', 'data:\n  yes: a\n  true: b\n  On: c\n  no: d\n  off: e\n'),
  doubled('a number as text, twice', 'data:\n  !!str 1: a\n  "1": b\n'),
  doubled('doubled keys in Windows lines', 'data:\r\n  a: b\r\n  a: c\r\n'),
  doubled('a doubled __proto__', 'data: {__proto__: a, __proto__: b, constructor: c, constructor: d}\n'),
  doubledWithin('a doubled key in a list', 'list:\n- a: 1\n  a: 2\n- b: 1\n'),
  doubledWithin(
    'doubled keys in flows',
    'x: [{a: 1, a: 2}, {b: 1,\n  b: 2}]\ny: {\n    c, c,\n    d: ,\n    d:\n  }\n',
  ),
  doubledWithin('a key that a merge brought', `${BASES}x:\n  <<: *one\n  a: b\n`),
  doubledWithin('a key that a merge brings again', `${BASES}x:\n  a: b\n  <<: *one\n`),
  doubledWithin('merges of the same key', `${BASES}x:\n  <<: [*one, *two]\n`),
  doubledWithin('two merges', `${BASES}x:\n  <<: *one\n  <<: *two\n`),
  doubledWithin('a doubled key behind an alias', 'x: &x {a: 1, a: 2}\ny: *x\nz: {<<: *x}\n'),
  doubledWithin('an alias as doubled key', 'x: {&key a: 1, *key : 2}\n'),
  doubledWithin('doubled keys of all letters', 'é☃: 1\né☃: 2\n"a\\"b\\n\\u0001": 1\n"a\\"b\\n\\u0001": 2\n'),
  doubledWithin('doubled odd numbers', '1e30: 1\n1e30: 2\n.inf: 3\n.Inf: 4\n1000000.0: 5\n1e6: 6\n'),
]

const TOLD: readonly Case[] = [
  one(
    'with a doubled key and unknown fields',
    create(`${maps}?fieldValidation=Strict`, `${METADATA}zoo: 1\ndata: {a: b}\nape: 2\ndata: {c: d}\n`, {
      ...YAML,
      status: 400,
    }),
    create(`${maps}?dryRun=All`, `${METADATA}zoo: 1\ndata: {a: b}\nape: 2\ndata: {c: d}\n`, YAML),
    create(`${widgets}?fieldValidation=Strict`, `${WIDGET}spec: {size: 1, zoo: 1, size: 2, ape: 2}\n`, {
      ...YAML,
      status: 400,
    }),
    create(`${widgets}?dryRun=All`, `${WIDGET}spec: {size: 1, zoo: 1, size: 2, ape: 2}\n`, YAML),
  ),
  one(
    'with a doubled key and a wrong type',
    create(`${maps}?fieldValidation=Strict`, `${METADATA}data: {a: b}\ndata: {c: 4}\n`, { ...YAML, status: 400 }),
    patch(APPLY_PATCH, `${map}?fieldManager=one&fieldValidation=Strict`, `${KIND}${METADATA}data: 3\ndata: {c: 4}\n`, {
      status: 500,
    }),
  ),
  one(
    'with a doubled name',
    create(`${maps}?fieldValidation=Strict`, `${METADATA}metadata: {name: b}\n`, { ...YAML, status: 400 }),
    patch(APPLY_PATCH, `${map}?fieldManager=one&fieldValidation=Strict`, `${KIND}${METADATA}metadata: {name: b}\n`, {
      status: 400,
    }),
    patch(APPLY_PATCH, `${map}?fieldManager=one`, `${KIND}${METADATA}metadata: {name: b}\n`, { status: 400 }),
  ),
  one(
    'that is JSON with a doubled key',
    create(`${maps}?fieldValidation=Strict`, '{"metadata":{"name":"a"},\n"data":{"a":"b"},"data":{"c":"d"},"zoo":1}', {
      ...YAML,
      status: 400,
    }),
    create(`${maps}?dryRun=All`, '{"metadata":{"name":"a"},\n"data":{"a":"b"},"data":{"c":"d"}}', YAML),
    patch(
      APPLY_PATCH,
      `${map}?fieldManager=one&fieldValidation=Strict`,
      '{"apiVersion":"v1","kind":"ConfigMap",\n"metadata":{"name":"a"},"data":{"a":"b"},\n"data":{"c":"d"}}',
      { status: 400 },
    ),
  ),
  one(
    'with a doubled key to update',
    create(maps, `${METADATA}data: {a: b}\n`, YAML),
    update(`${map}?fieldValidation=Strict`, `${METADATA}data: {a: c}\ndata: {a: d}\n`, { ...YAML, status: 400 }),
    update(map, `${METADATA}data: {a: c}\ndata: {a: d}\n`, YAML),
    patch(APPLY_PATCH, `${map}?fieldManager=one&force=true`, `${KIND}${METADATA}data: {a: e}\ndata: {a: f}\n`),
    // Nothing changes, and the warning is repeated.
    patch(APPLY_PATCH, `${map}?fieldManager=one&force=true`, `${KIND}${METADATA}data: {a: e}\ndata: {a: f}\n`),
    // A conflict is reported without the warning.
    patch(APPLY_PATCH, `${map}?fieldManager=two&fieldValidation=Strict`, `${KIND}${METADATA}data: {a: e, a: g}\n`, {
      status: 409,
    }),
    get(map),
  ),
  one(
    'with a doubled key to scale',
    create(
      named('apps/v1', 'deployments'),
      'metadata: {name: a}\nspec:\n  replicas: 0\n  selector: {matchLabels: {a: b}}\n  template:\n    metadata: {labels: {a: b}}\n    spec: {containers: [{name: a, image: a}]}\n',
      { ...YAML, pick: ['kind'] },
    ),
    update(
      `${named('apps/v1', 'deployments', 'a')}/scale?fieldValidation=Strict`,
      'metadata: {name: a, namespace: "{ns}"}\nspec: {replicas: 0}\nspec: {replicas: 0}\n',
      { ...YAML, status: 400 },
    ),
    update(
      `${named('apps/v1', 'deployments', 'a')}/scale`,
      'metadata: {name: a, namespace: "{ns}"}\nspec: {replicas: 0}\nspec: {replicas: 0}\n',
      { ...YAML, pick: ['spec'] },
    ),
  ),
  one(
    'with more warnings than there is room for',
    create(`${maps}?dryRun=All`, `${METADATA}data:\n${'  k: v\n'.repeat(200)}`, YAML),
    create(`${maps}?dryRun=All`, `${METADATA}x:\n${`  ${'k'.repeat(300)}: v\n`.repeat(40)}`, YAML),
  ),
  one(
    'in which one name is two keys',
    // The real server chooses between the two at random.
    create(`${maps}?dryRun=All&fieldValidation=Strict`, `${METADATA}data: {1: a, "1": a}\n`, YAML),
    patch(APPLY_PATCH, `${map}?fieldManager=one&fieldValidation=Strict`, `${KIND}${METADATA}data: {1: a, "1": a}\n`, {
      status: 201,
    }),
  ),
]

export const yamlCases: CaseGroup = { name: 'YAML', cases: [...JSON_ONLY, ...DOUBLED, ...TOLD] }
