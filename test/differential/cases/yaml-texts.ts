/** Bodies in YAML: valid and invalid texts. */
import type { Case, CaseGroup, Step } from '../case.ts'
import { APPLY_PATCH, core, create, custom, get, patch } from '../steps.ts'

const maps = core('configmaps')
const map = core('configmaps', 'a')
const widgets = custom('widgets')
const YAML = { headers: { 'content-type': 'application/yaml' } }
const METADATA = 'metadata: {name: a}\n'
const WIDGET = 'apiVersion: {group}/v1\nkind: Widget\nmetadata: {name: a}\n'

const one = (name: string, ...steps: readonly Step[]): Case => ({ name: `YAML ${name}`, steps })

/** Several texts, each for a create and an apply; nothing is stored. */
const refused = (name: string, ...texts: readonly string[]): Case =>
  one(
    name,
    ...texts.flatMap((text) => [
      create(maps, text, { ...YAML, status: 400 }),
      patch(APPLY_PATCH, `${map}?fieldManager=one`, text, { status: 400 }),
    ]),
    get(map, { status: 404 }),
  )

/** The content of a field of a custom resource that accepts anything. */
const read = (name: string, ...texts: readonly string[]): Case =>
  one(
    `reads ${name}`,
    ...texts.flatMap((text) => {
      const body = `${WIDGET}spec:\n  size: 1\n  free:\n    value: ${text}\n`
      return [
        create(`${widgets}?dryRun=All`, body, YAML),
        patch(APPLY_PATCH, `${widgets}/a?fieldManager=one&dryRun=All`, body, { status: 201 }),
      ]
    }),
  )

const bomb = (levels: number): string =>
  Array.from({ length: levels }, (_, level) => {
    const of = level === 0 ? 'x' : `*a${level - 1}`
    return `a${level}: &a${level} [${Array.from({ length: 9 }, () => of).join(',')}]\n`
  }).join('')
const deep = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`

const READ: readonly Case[] = [
  read('whole numbers', '0777', '0o777', '0x1F', '0b101', '-0x10', '+12', '08', '1_000', '_1', '190:20:30', '-0', '0x'),
  read(
    'broken numbers',
    '1e3',
    '1.',
    '.5',
    '+.5',
    '.5_0',
    '._5',
    '1e400',
    '1e-400',
    '09.5',
    '1.0',
    '1e21',
    '1.2.3',
    '1e',
  ),
  read('large numbers', '9007199254740992', '123456789012345678901234567890', '0xFFFFFFFFFFFFFFFFFF', '1_'),
  read('words', 'yes', 'No', 'ON', 'off', 'y', 'N', 'tRue', 'TRUE', 'Null', '~', 'nUll', 'inf', '.', '<<', '='),
  read('dates', '2001-01-01', '2001-12-14t21:59:43.10-05:00', '2001-12-14 21:59:43', '!!timestamp 2001-01-01'),
  read('tags', '!!str 1', '!!int "3"', '!!float 3', '!!bool "yes"', '!!null ""', '!!binary aGk=', '!mine a', '! 3'),
  read('tagged collections', '!!set {a, b}', '!!omap [a: 1]', '!!pairs [a: 1, a: 2]', '!mine {a: b}', '!<of:mine> [a]'),
  read(
    'quotes',
    '"\\x41\\u00e9\\U0001F600\\e\\N\\_"',
    '"a \\\n      b"',
    "'it''s'",
    '"a\n\n      b"',
    '"\\\'"',
    '"b"#c',
  ),
  read(
    'blocks',
    '|\n      a\n       b\n\n      c\n',
    '>-\n      a\n      b\n\n       c\n      d',
    '|+\n      a\n\n',
    '|2\n        a',
  ),
  read('flows', '{\na: b\n}', '[a,\n{b: c},\n]', '{\ta:\tb\t}', '[a: 1, b]', '{a, b: }', '{"a":b}', '{a:b}', '[a,]'),
  read('keys of all types', '{1: a, 1.5: b, true: c, 0x10: d, 1e30: e, .inf: f, 2001-01-01: g, -3: h, "": i}'),
  read('keys of every object', '{__proto__: {a: 1}, constructor: {prototype: {b: 1}}, toString: 3, hasOwnProperty: 4}'),
  read('aliases', '{a: &a [1], b: *a}', '{a: &a {b: c}, d: {<<: *a, e: f}}', '{a: &a , b: *a }', '{<<: {a: b}, c: d}'),
  read('depth', deep(90), deep(110), deep(400)),
  one(
    'of which only the first document counts',
    ...[
      `${METADATA}---\nmetadata: {name: b}\n`,
      `${METADATA}---\n{{{\n`,
      `# why\n---\n# what\n${METADATA}...\nmore\n`,
      `%YAML 1.1\n---\n${METADATA}`,
      `%TAG !y! tag:yaml.org,2002:\n---\nmetadata: {name: !y!str a}\n`,
      '--- {metadata: {name: a}}\n',
      ` metadata:\n  name: a\nmore: {}\n`,
      `\uFEFF${METADATA}`,
    ].map((text) => create(`${maps}?dryRun=All`, text, YAML)),
  ),
  one(
    'that says nothing',
    ...['', '# a\n', '---\n---\na: b\n', 'null', '~', '{}'].map((text) => create(maps, text, { ...YAML, status: 422 })),
    ...['text', '3', 'yes', '[a]', '- a\n', '"a"', '2001-01-01'].map((text) =>
      create(maps, text, { ...YAML, status: 400 }),
    ),
    ...['', '{}', 'null', 'text', '3', '[a]', 'a: b', 'apiVersion: 1\n', 'kind: 2\n'].map((text) =>
      patch(APPLY_PATCH, `${map}?fieldManager=one`, text, { status: 400 }),
    ),
  ),
]

const REFUSED: readonly Case[] = [
  refused('with tabs', 'metadata:\n\tname: a\n', 'metadata:\n  name: a\n\t\n', 'a: |\n\tb\n', '\ta: b\n'),
  refused('out of line', 'a:\n  b: c\n d: e\n', 'a:\n    b: c\n  d: e\n', 'a: b: c\n', 'a: b\n  c: d\n', 'a: - b\n'),
  refused(
    'that ends too early',
    'a: [b\n',
    'a: {b\n',
    'a: "b\n',
    "a: 'b\n",
    'a: "\n---\nb"\n',
    'a: &\n',
    'a: [b}\n',
    '{a: b',
  ),
  refused(
    'with signs that mean nothing',
    'a: @b\n',
    'a: `b\n',
    'a: %b\n',
    'a: {b: ?c}\n',
    'a: b}\nc: }\n',
    '...\na: b\n',
  ),
  refused(
    'with keys that are none',
    'da\n ta: {}\n',
    `${'k'.repeat(1100)}: v\n`,
    `a: {${'k'.repeat(1100)}: v}\n`,
    'a: {: b}\n',
  ),
  refused('with keys that JSON has not', '~: b\n', '{a: b}: c\n', '[a]: b\n', '18446744073709551615: a\n'),
  refused(
    'with bad aliases',
    'a: *b\n',
    'a: &a {b: *a}\n',
    '&a\nb: *a\n',
    'a: &b *b\n',
    'a: &b.c d\n',
    'a: &a\n  <<: *a\n',
  ),
  refused('with bad merges', '<<: 3\n', '<<: [3]\n', '<<:\n', 'a: &a [b]\nc: {<<: *a}\n'),
  refused(
    'with bad tags',
    'a: !!int b\n',
    'a: !!null b\n',
    'a: !!timestamp b\n',
    'a: !!binary "?"\n',
    'a: !b!c d\n',
    'a: !<b c\n',
  ),
  refused(
    'with bad escapes',
    'a: "\\q"\n',
    'a: "\\/"\n',
    'a: "\\ud83d\\ude00"\n',
    'a: "\\x4"\n',
    '{"a":"\\ud83d\\ude00"}',
    '{"a":"\\/"}',
  ),
  refused(
    'with bad directives',
    '%YAML 1.2\n---\na: b\n',
    '%FOO\n---\na: b\n',
    '%YAML 1.1\na: b\n',
    '%TAG !a! b\n%TAG !a! b\n---\nc\n',
  ),
  refused(
    'with control characters',
    'a: "\u0000"\n',
    '# \u0007\n',
    'a: \u007F\n',
    'a: \u009F\n',
    'a: \uFFFE\n',
    'a: b\n---\n\u0000',
  ),
  refused('that no JSON can say', 'a: .inf\n', 'a: -.INF\n', 'a: .nan\n'),
  refused('that would be larger than memory', bomb(9), bomb(40)),
]

export const yamlTextCases: CaseGroup = { name: 'YAML texts', cases: [...READ, ...REFUSED] }
