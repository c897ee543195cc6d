/** Random templates and values. */
import fc from 'fast-check'

import type { TemplateCase } from './cases.ts'

const KEYS = ['a', 'b', 'c', 'list', 'map', '__proto__', 'constructor', 'toString']

const scalar = fc.oneof(
  fc.constantFrom(
    '',
    'x',
    'hello world',
    'äöü',
    '😀',
    '123',
    'true',
    'null',
    'a: b',
    ' lead',
    "it's",
    '-',
    'a\nb\n',
    '0x1F',
  ),
  fc.integer({ min: -1000, max: 2_000_000 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
  fc.string({ maxLength: 8 }),
)

const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 4 }),
    fc
      .uniqueArray(fc.tuple(fc.constantFrom(...KEYS), tie('value')), { maxLength: 4, selector: ([key]) => key })
      .map(Object.fromEntries),
  ),
}))

/** Functions of one argument of any type; none depends on time, randomness or the order of a map. */
const FUNCTIONS = [
  'quote',
  'squote',
  'toString',
  'toJson',
  'toYaml',
  'toYamlPretty',
  'toPrettyJson',
  'toRawJson',
  'empty',
  'kindOf',
  'typeOf',
  'int',
  'int64',
  'float64',
  'add1',
  'floor',
  'len',
  'not',
  'first',
  'last',
  'rest',
  'initial',
  'reverse',
  'uniq',
  'compact',
  'sortAlpha',
  'toStrings',
  'upper',
  'title',
  'trim',
  'b64enc',
  'sha256sum',
  'snakecase',
  'camelcase',
  'fromYaml',
  'fromJson',
  'html',
  'js',
  'urlquery',
  'print',
  'default "d"',
  'join ","',
  'printf "%v|%#v|%s|%d"',
  'printf "%08.3f"',
  'printf "%q"',
  'indent 2',
  'nindent 4',
  'trunc 3',
  'replace "a" "ä"',
  'ternary 1 2',
  'has "x"',
  'append (list 1)',
  'dict "k"',
  'eq "x"',
  'lt 3',
  'index (list 1 2 3)',
]

const field = fc
  .array(fc.constantFrom(...KEYS), { minLength: 1, maxLength: 3 })
  .map((path) => `.Values.${path.join('.')}`)
const operand = fc.oneof(
  field,
  fc.constantFrom(
    '.',
    '$',
    '1',
    '2.5',
    '"text"',
    '`raw`',
    'true',
    'nil',
    "'c'",
    '$v',
    '(list 1 "a" nil)',
    '(dict "a" 1)',
  ),
)
const pipeline = fc
  .tuple(operand, fc.array(fc.constantFrom(...FUNCTIONS), { maxLength: 3 }))
  .map(([first, functions]) => [first === '.' || first === '$' ? '.Values' : first, ...functions].join(' | '))

const trim = fc.constantFrom(['{{', '}}'], ['{{-', '}}'], ['{{', '-}}'], ['{{-', '-}}'])
const action = fc.tuple(trim, pipeline).map(([[open, close], inner]) => `${open} ${inner} ${close}`)

const { template } = fc.letrec<{ template: string; block: string }>((tie) => ({
  template: fc
    .array(fc.oneof(fc.constantFrom('text', ' \n ', 'ä: '), action, tie('block')), { maxLength: 5 })
    .map((parts) => parts.join('')),
  block: fc.oneof(
    { depthSize: 'small' },
    action,
    fc
      .tuple(pipeline, tie('template'), tie('template'))
      .map(([test, yes, no]) => `{{ if ${test} }}${yes}{{ else }}${no}{{ end }}`),
    fc.tuple(pipeline, tie('template')).map(([test, body]) => `{{ with ${test} }}${body}{{ end }}`),
    fc
      .tuple(pipeline, tie('template'))
      .map(([over, body]) => `{{ range $i, $v := ${over} }}${body}{{ $i }}{{ else }}none{{ end }}`),
    fc
      .tuple(pipeline, tie('template'))
      .map(([data, body]) => `{{ define "t" }}${body}{{ end }}{{ template "t" ${data} }}`),
  ),
}))

/** A template that may fail, with values that may not fit it. */
export const randomCase: fc.Arbitrary<TemplateCase> = fc
  .tuple(
    template,
    fc.uniqueArray(fc.tuple(fc.constantFrom(...KEYS), value), { maxLength: 5, selector: ([key]) => key }),
  )
  .map(([text, entries]) => ({
    template: `{{ $v := .Values }}${text}`,
    values: JSON.stringify(Object.fromEntries(entries)),
  }))
