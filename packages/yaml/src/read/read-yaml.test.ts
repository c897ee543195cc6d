import fc from 'fast-check'
import { expect, test } from 'vitest'
import { YamlTooLargeError } from './document.ts'
import { readYaml } from './read-yaml.ts'

const bomb = (levels: number): string =>
  Array.from({ length: levels }, (_, level) => {
    const of = level === 0 ? 'x' : `*a${level - 1}`
    return `a${level}: &a${level} [${Array.from({ length: 9 }, () => of).join(',')}]\n`
  }).join('')

test('aliases are expanded', () => {
  expect(readYaml('a: &one {b: [1]}\nc: *one\nd: {<<: *one, e: 2}\n').value).toEqual({
    a: { b: [1] },
    c: { b: [1] },
    d: { b: [1], e: 2 },
  })
})

test('an anchor may be used many times', () => {
  const uses = Array.from({ length: 300 }, (_, index) => `k${index}: *one\n`).join('')
  const { value } = readYaml(`one: &one {a: 1, b: 2, c: 3}\n${uses}`)
  expect((value as Record<string, unknown>)['k299']).toEqual({ a: 1, b: 2, c: 3 })
})

test('nested aliases are refused before they are expanded', () => {
  expect(() => readYaml(bomb(9))).toThrow('yaml: document contains excessive aliasing')
  expect(() => readYaml(bomb(40))).toThrow('yaml: document contains excessive aliasing')
})

test('an anchor that contains itself is refused', () => {
  expect(() => readYaml('a: &a [*a, *a]\n')).toThrow('contains itself')
  expect(() => readYaml('a: &a {b: {c: *a}}\n')).toThrow('contains itself')
})

test('a key that would change a prototype is an ordinary key', () => {
  const { value } = readYaml('__proto__: {polluted: yes}\n')
  expect(Object.keys(value as object)).toEqual(['__proto__'])
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
})

const warnings = (text: string): readonly string[] => readYaml(text).duplicateKeys?.warnings ?? []

test('the last of duplicate keys wins and is reported with the line of its value', () => {
  const { value, duplicateKeys } = readYaml('a: 1\nb: {c: 1, c: 2}\na:\n  3\n')
  expect(value).toEqual({ a: 3, b: { c: 2 } })
  expect(duplicateKeys).toEqual({
    error: 'yaml: unmarshal errors:\n  line 2: key "c" already set in map\n  line 4: key "a" already set in map',
    warnings: ['line 2: key "c" already set in map', 'line 4: key "a" already set in map'],
  })
  expect(readYaml('a: 1\nb: 2\n').duplicateKeys).toBeUndefined()
})

test('keys are compared by value, not by spelling', () => {
  expect(warnings('1: a\n0x1: b\n')).toEqual(['line 2: key 1 already set in map'])
  expect(warnings('yes: a\nOn: b\n')).toEqual(['line 2: key true already set in map'])
  expect(warnings('"a": a\na: b\n')).toEqual(['line 2: key "a" already set in map'])
  expect(warnings('1: a\n"1": b\n')).toEqual([])
  expect(warnings('.nan: a\n.nan: b\n')).toEqual([])
})

test('merged keys count as if they were written in place', () => {
  const bases = 'one: &one {a: 1}\ntwo: &two {a: 2, b: 3}\n'
  expect(readYaml(`${bases}x: {<<: [*one, *two]}\n`).value).toHaveProperty('x', { a: 1, b: 3 })
  expect(readYaml(`${bases}x: {a: 4, <<: *one}\n`).value).toHaveProperty('x', { a: 1 })
  expect(warnings(`${bases}x: {a: 4, <<: *one}\n`)).toEqual(['line 1: key "a" already set in map'])
  expect(() => readYaml('<<: 3\n')).toThrow('map merge requires map or sequence of maps as the value')
})

test('a missing value has the line of its colon or, in braces, of the next token', () => {
  expect(warnings('a:\na:\n\n\nb: 1\n')).toEqual(['line 2: key "a" already set in map'])
  expect(warnings('{a: 1, a:\n\n}')).toEqual(['line 3: key "a" already set in map'])
  expect(warnings('a: 1\na: |\n  b\n')).toEqual(['line 2: key "a" already set in map'])
})

test('only the first document is read', () => {
  expect(readYaml('# why\n---\na: 1\n---\n{\n').value).toEqual({ a: 1 })
  expect(readYaml('a: 1\n...\n{\n').value).toEqual({ a: 1 })
  expect(readYaml('a: |\n  ---\n').value).toEqual({ a: '---\n' })
})

test.each([
  ['017', 15],
  ['0o17', 15],
  ['0b101', 5],
  ['08', 8],
  ['1_000', 1000],
  ['1e3', 1000],
  ['1e400', '1e400'],
  ['190:20:30', '190:20:30'],
  ['2001-01-01', '2001-01-01'],
  ['0xFFFFFFFFFFFFFFFFFF', '0xFFFFFFFFFFFFFFFFFF'],
  ['y', true],
  ['Off', false],
  ['tRue', 'tRue'],
  ['~', null],
  ['!!str 1', '1'],
  ['!!int "3"', 3],
  ['!!float 3', 3],
  ['!!binary aGk=', 'hi'],
  ['!mine text', 'text'],
])('%s is read as %j', (text, value) => {
  expect(readYaml(`a: ${text}\n`).value).toEqual({ a: value })
})

test.each([
  ['!!int x', 'cannot decode !!str `x` as a !!int'],
  ['!!timestamp 2001-13-01', 'as a !!timestamp'],
  ['!!binary "?"', '!!binary value contains invalid base64 data'],
  ['.inf', 'json: unsupported value: +Inf'],
  ['*none', "unknown anchor 'none' referenced"],
  ['{~: b}', 'unsupported map key of type: %!s(<nil>), key: <nil>, value: "b"'],
  ['{[a]: b}', 'yaml: invalid map key: []interface {}{"a"}'],
  ['"\u0000"', 'yaml: control characters are not allowed'],
])('%s is refused', (text, why) => {
  expect(() => readYaml(`a: ${text}\n`)).toThrow(why)
})

test('numeric keys become names', () => {
  const { value } = readYaml('{1.50: a, 1e30: b, .inf: c, 0x10: d, 1e6: e}\n')
  expect(value).toEqual({ '1.5': 'a', '1e+30': 'b', '.inf': 'c', '16': 'd', '1e+06': 'e' })
})

test('the number and the length of reported duplicate keys are bounded', () => {
  const many = warnings('a: 1\n'.repeat(50_000))
  expect(many.length).toBe(1_000)
  expect(many[999]).toBe('line 1001: key "a" already set in map')
  const long = 'long'.repeat(100_000)
  const aliases = readYaml(`a: &a ${long}\nb:\n${'  *a : 1\n'.repeat(5)}`).duplicateKeys
  expect(aliases?.warnings.length).toBe(4)
  expect(aliases?.error.length).toBeLessThan(20_000)
})

test('aliases of a long text are refused before their expansion exceeds a request body', () => {
  const text = `a: &a 1${'0'.repeat(400_000)}x\nb:\n`
  expect(readYaml(text + '  - *a\n'.repeat(5)).value).toMatchObject({ b: { length: 5 } })
  for (const use of ['  - *a\n', '  *a : 1\n']) {
    expect(() => readYaml(text + use.repeat(100_000))).toThrow('yaml: document contains excessive aliasing')
  }
})

test('a long list costs the same at any depth of flow collections', () => {
  const depth = 400
  const list = `${'['.repeat(depth)}${'a,'.repeat(200_000)}a${']'.repeat(depth)}`
  let { value } = readYaml(list)
  for (let level = 1; level < depth; level++) value = (value as readonly unknown[])[0]
  expect((value as readonly unknown[]).length).toBe(200_001)
})

test('a number with a million digits is a float or a text', () => {
  expect(readYaml(`[${'7'.repeat(1_000_000)}, 0x${'f'.repeat(1_000_000)}, 0x${'0'.repeat(100)}1]`).value).toEqual([
    '7'.repeat(1_000_000),
    `0x${'f'.repeat(1_000_000)}`,
    1,
  ])
})

test.each([
  ['a flow list of numbers', `[${'1,'.repeat(600)}]`],
  ['a flow list of empty lists', `[${'[],'.repeat(600)}]`],
  ['absent values', '-\n'.repeat(600)],
  ['keys', Array.from({ length: 300 }, (_, index) => `${index}:\n`).join('')],
  ['a flow mapping of keys', `{${Array.from({ length: 300 }, (_, index) => index).join(',')}}`],
  ['text', `a: ${'b'.repeat(1_500)}`],
  ['quoted text', `"${'1'.repeat(1_500)}"`],
])('a text whose JSON is larger than allowed is refused: %s', (_, text) => {
  expect(() => readYaml(text, { maxJsonBytes: 1_000 })).toThrow(YamlTooLargeError)
  expect(readYaml(text)).toHaveProperty('value')
})

test('a text whose JSON is not larger than allowed is read', () => {
  expect(readYaml('{"":[]}', { maxJsonBytes: 8 }).value).toEqual({ '': [] })
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: fc.constantFrom('a', '1', '-', '~', ' ', '"', 'é') }), (value) => {
      const json = JSON.stringify(value)
      // The separator after the document counts.
      expect(readYaml(json, { maxJsonBytes: Buffer.byteLength(json) + 1 })).toHaveProperty('value')
    }),
  )
})
