/** Responses in YAML, compared byte by byte. */
import type { Case, CaseGroup, JsonObject, Step } from '../case.ts'
import { configMap, deployment, podTemplate, widget } from '../objects.ts'
import { core, create, custom, get, named } from '../steps.ts'

const YAML = { headers: { accept: 'application/yaml' } }
const maps = core('configmaps')
const widgets = custom('widgets')

const one = (name: string, ...steps: readonly Step[]): Case => ({ name: `YAML response ${name}`, steps })

/** The texts are the values of a ConfigMap, which is read alone and in a list. */
const texts = (name: string, ...values: readonly string[]): Case => {
  const data = Object.fromEntries(values.map((value, index) => [`k${index}`, value]))
  return one(
    `with ${name}`,
    create(maps, configMap('a', data), YAML),
    get(`${maps}/a`, YAML),
    get(`${maps}?labelSelector=!none&fieldSelector=metadata.name=a`, YAML),
  )
}

/** The value is free content of a custom resource. */
const free = (name: string, value: JsonObject): Case =>
  one(
    `with ${name}`,
    create(widgets, widget('a', { size: 3, free: value }), YAML),
    get(`${widgets}/a`, YAML),
    get(widgets, YAML),
  )

/** Numbers that JavaScript cannot hold are sent as text. */
const freeText = (name: string, value: string): Case => {
  const body = `{"apiVersion":"{group}/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"size":3,"free":{"v":${value}}}}`
  return one(`with ${name}`, create(widgets, body, YAML), get(`${widgets}/a`, YAML))
}

const FOX = 'the quick brown fox jumps over the lazy dog and then it runs back to where it came from'

const TEXTS: readonly Case[] = [
  texts('several lines', 'a\nb', 'a\nb\n', 'a\nb\n\n', '\na', '\n', '\n\n', 'a\n\n\nb\n', 'a\n b\n', 'a \nb', 'a\nb '),
  texts('leading spaces', ' a', '  a\nb\n', ' ', '  ', '\ta', 'a ', ' a ', '   a\n', '\n a\n'),
  texts(
    'words of other types',
    'yes',
    'No',
    'on',
    'OFF',
    'y',
    'n',
    'true',
    'False',
    'null',
    'Null',
    '~',
    '',
    '<<',
    '=',
  ),
  texts(
    'numbers',
    '0755',
    '0o17',
    '1',
    '-1',
    '+1',
    '1.5',
    '1e3',
    '.5',
    '1_000',
    '0x1F',
    '0b1',
    '190:20:30',
    '.inf',
    '.NaN',
  ),
  texts('dates', '2001-01-01', '2001-12-14t21:59:43.10-05:00', '2001-12-14 21:59:43', '12:30', '1:30:00'),
  texts('letters of all scripts', 'äöü', '漢字', 'עברית', '😀', 'a😀b', 'e\u0301', '\u200B', '\u00A0a', 'ﬀ', '\uFFFD'),
  texts('unusual breaks', 'a\rb', 'a\r\nb\r\n', 'a\u2028b', 'a\u2029b\nc', '\u2028', 'a\u2028\u2028b c'),
  texts('next lines', 'a\u0085b', 'a \u0085 b', 'a\u0085\u0085b', 'a\u0085\u0085\u0085b'),
  texts('marks of byte order', '\uFEFF', '\uFEFFa b', '\uFEFFa\n"b"\t\\', 'a\uFEFFb'),
  texts('control characters', '\u0000', 'a\u0001b', '\u0007\b\u000B\f\u001B', 'a\u001Fb\nc'),
  texts(
    'long lines',
    FOX,
    `${FOX} ${FOX} ${FOX}`,
    `${FOX}: ${FOX}`,
    `'${FOX}' ${FOX}`,
    `${FOX}\t${FOX}`,
    'x'.repeat(300),
  ),
  texts(
    'long lines with gaps',
    FOX.replaceAll(' ', '  '),
    `${FOX}  ${FOX}`,
    `${'x'.repeat(79)} ${'y'.repeat(79)} z`,
    `${'x'.repeat(90)}\t   y z`,
    `# ${'ä '.repeat(60)}`,
    `${FOX}\n${FOX} ${FOX}\n`,
    `${'"'.repeat(50)} \t ${'"'.repeat(50)}`,
  ),
  texts('tabs', 'a\tb', '\t', 'a\n\tb\n', 'a\t\n', 'key:\tvalue', 'a\t#b'),
  texts('quotes', "'", '"', `'a'`, '"a"', `it's`, `a"b`, `'"`, '\\', 'a\\n', `"a'\n`, '`a`'),
  texts('indicators', '- a', '-', '-a', '? a', ':', ': a', 'a:', 'a: b', 'a:b', 'a #b', '#a', 'a#b', '&a', '*a', '!a'),
  texts(
    'more indicators',
    '|',
    '>',
    '%a',
    '@a',
    '[a',
    ']',
    '{a}',
    '}',
    ',',
    'a, b',
    '---',
    '--- a',
    '...',
    '-- a',
    '!!a',
  ),
  one(
    'with characters that YAML has not',
    create(maps, configMap('a', { a: 'a\u007Fb' })),
    get(`${maps}/a`, { ...YAML, status: 500 }),
    get(maps, { ...YAML, status: 500 }),
    create(maps, configMap('b', { a: 'a\u0090b' }), { ...YAML, status: 500 }),
    create(maps, configMap('c', { a: '\uFFFEb' }), { ...YAML, status: 500 }),
    get(`${maps}/b`),
  ),
]

const OBJECTS: readonly Case[] = [
  one(
    'with keys in order',
    create(
      maps,
      configMap('a', {
        b: '',
        B: '',
        a1: '',
        a10: '',
        a2: '',
        a: '',
        'a-1': '',
        a_1: '',
        'a.1': '',
        '1': '',
        '10': '',
        '2': '',
        '01': '',
      }),
      YAML,
    ),
    get(`${maps}/a`, YAML),
  ),
  one(
    'with long keys and odd keys',
    create(
      maps,
      configMap(
        'a',
        { ['k'.repeat(128)]: 'a', ['k'.repeat(129)]: 'b', yes: '1', '0755': '2', null: '3', '1.5': '4', '-': '5' },
        {
          annotations: {
            'example.com/yes': 'no',
            'a.example.com/b': `{"a":"b"}\n`,
            true: 'x',
            [`${'d'.repeat(60)}.${'e'.repeat(60)}.com/${'k'.repeat(60)}`]: FOX,
          },
        },
      ),
      YAML,
    ),
    get(`${maps}/a`, YAML),
  ),
  one(
    'of a Deployment',
    create(`${named('apps/v1', 'deployments')}?dryRun=All`, deployment('a', { replicas: 3, strategy: {} }), YAML),
    create(
      `${named('apps/v1', 'deployments')}?dryRun=All&fieldManager=one`,
      deployment('b', {
        template: {
          metadata: { labels: { app: 'b' }, annotations: { 'example.com/text': 'a\nb\n' } },
          spec: {
            containers: [
              {
                name: 'web',
                image: 'example.test/web:1',
                command: ['sh', '-c', `set -e\n${FOX}\n`],
                args: ['--yes', '-', '', FOX],
                env: [{ name: 'A', value: '0755' }, { name: 'B', value: 'yes' }, { name: 'C' }],
                ports: [{ containerPort: 80 }],
                resources: { limits: { cpu: '0.5', memory: '1e3' } },
                volumeMounts: [{ name: 'v', mountPath: '/v' }],
              },
            ],
            volumes: [{ name: 'v', emptyDir: {} }],
          },
        },
      }),
      YAML,
    ),
    get(named('apps/v1', 'deployments'), YAML),
  ),
  one(
    'of a kind that no controller reconciles',
    create(core('podtemplates'), podTemplate('a', { containers: [{ name: 'a', image: 'a' }] }), YAML),
    get(core('podtemplates', 'a'), YAML),
    get(core('podtemplates'), YAML),
    get(`${core('podtemplates')}?limit=1`, YAML),
  ),
  one('of an empty list', get(maps.replace('configmaps', 'podtemplates'), YAML), get(widgets, YAML)),
  free('every type', {
    list: [1, 'a', true, [], {}, [1, [2, [3]]], [{ a: 1, b: [{ c: 2 }] }], { d: { e: { f: [] } } }],
    empty: {},
    text: `${FOX}\n`,
    deep: { a: { b: { c: { d: FOX } } }, l: [[[[FOX]]]] },
  }),
  free('keys of every kind', {
    '': 1,
    ' a': 2,
    'a b': 3,
    'a: b': 4,
    '- a': 5,
    'a\nb': 6,
    'a\nb\n': [1],
    'a\tb': { c: 1 },
    ä: 7,
    '😀': 8,
    ['k'.repeat(130)]: [1, { a: 2 }],
    [FOX]: FOX,
    yes: 9,
    '1': 10,
    '{': 11,
    'a\u2028b': 12,
    __proto__: 13,
    constructor: 14,
  }),
  one(
    'with keys that YAML has not',
    create(widgets, widget('a', { size: 3, free: { 'a\u0085b': 1 } }), { ...YAML, status: 500 }),
    create(widgets, widget('b', { size: 3, free: { ['k'.repeat(1023)]: 1 } }), { ...YAML, status: 500 }),
    create(widgets, widget('c', { size: 3, free: { ['k'.repeat(900)]: 1 } }), YAML),
  ),
  freeText(
    'numbers of a custom resource',
    '[0,-0,1,-1,1.0,1.5,100000,1000000,12345678,1e6,1e20,1e21,1e-7,0.0001,0.1,123456789.5,-2.5e-10,1e308,5e-324]',
  ),
  freeText(
    'large numbers',
    '[9007199254740991,-9007199254740991,9223372036854775808,18446744073709551615,18446744073709551616,1e18,1e19]',
  ),
]

const ERRORS: readonly Case[] = [
  one(
    'of errors',
    get(`${maps}/none`, { ...YAML, status: 404 }),
    create(maps, configMap('No'), { ...YAML, status: 422 }),
    create(maps, { kind: 'Secret', apiVersion: 'v1' }, { ...YAML, status: 400 }),
    create(maps, '{', { ...YAML, status: 400 }),
    create(widgets, widget('a', { size: 1000 }), { ...YAML, status: 422 }),
    create(widgets, widget('a', { size: 3, code: 'A B\nC' }), { ...YAML, status: 422 }),
    get('/api/v1/nothing', { ...YAML, status: 404 }),
    get(`${maps}?continue=odd`, { ...YAML, status: 400 }),
    { method: 'DELETE', path: `${maps}/none`, ...YAML, status: 404 },
  ),
  one('of the deleted', create(maps, configMap('a'), YAML), { method: 'DELETE', path: `${maps}/a`, ...YAML }),
  one('of discovery', get('/apis/apps', YAML), get('/apis/coordination.k8s.io/v1', YAML)),
]

export const yamlResponseCases: CaseGroup = { name: 'YAML responses', cases: [...TEXTS, ...OBJECTS, ...ERRORS] }
