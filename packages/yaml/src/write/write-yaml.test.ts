import { describe, expect, test } from 'vitest'

import { writeYaml } from './write-yaml.ts'
import type { YamlValue } from './write-yaml.ts'

// The expected texts are those that Helm's toYaml and toYamlPretty print, which use the libraries of Kubernetes.

const FOX = 'the quick brown fox jumps over the lazy dog and then it runs back to where it came from'
const pretty = (value: YamlValue): string => writeYaml(value, { style: 'pretty' })
const lines = (...parts: readonly string[]): string => parts.map((part) => `${part}\n`).join('')

/** The styles of strings in a list, without the indicators of the list. */
const styles = (texts: readonly string[]): readonly string[] =>
  writeYaml(texts)
    .trimEnd()
    .split('\n')
    .map((line) => line.slice(2))

describe('folding', () => {
  test('a plain string breaks at the first space after column 80', () => {
    const first = 'the quick brown fox jumps over the lazy dog and then it runs back to where it came'
    expect(writeYaml({ a: FOX })).toBe(lines(`a: ${first}`, '  from'))
    expect(writeYaml([FOX])).toBe(lines(`- ${first}`, '  from'))
  })

  test('a quoted string breaks in the same way', () => {
    const first = 'the quick brown fox jumps over the lazy dog and then it runs back to where it'
    expect(writeYaml({ a: `${FOX}: yes` })).toBe(lines(`a: '${first}`, "  came from: yes'"))
    expect(writeYaml({ a: `${FOX}\t!` })).toBe(lines(`a: "${first}`, String.raw`  came from\t!"`))
  })

  test('a line does not break between two spaces', () => {
    expect(writeYaml({ a: `${FOX.replace(' over', '  over')}  two spaces at the end of the line` })).toBe(
      lines(
        'a: the quick brown fox jumps  over the lazy dog and then it runs back to where it',
        '  came from  two spaces at the end of the line',
      ),
    )
  })

  test('a word without spaces does not break', () => {
    expect(writeYaml({ a: 'x'.repeat(100) })).toBe(lines(`a: ${'x'.repeat(100)}`))
  })

  test('the pretty style does not break lines', () => {
    expect(pretty({ a: FOX })).toBe(lines(`a: ${FOX}`))
    expect(pretty({ a: `${FOX}: yes` })).toBe(lines(`a: '${FOX}: yes'`))
  })
})

describe('quoting', () => {
  test('a string that would be read as another type has double quotes', () => {
    const texts = ['yes', 'no', 'on', 'y', '~', 'null', '', '1', '1.5', '0x1f', '1_000', '1e3', '.inf', '2001-01-01']
    const more = ['true', '012', '1:30']
    expect(styles([...texts, ...more])).toEqual([...texts, ...more].map((text) => `"${text}"`))
  })

  test('a string with an indicator where it counts has single quotes', () => {
    const texts = ['- a', 'a: b', 'a #b', '#a', '"a"', '{a', '[a', '*a', '&a', '!a', '|', '> a', '%a', '@a', '`a']
    const more = ['a ', ' a', '? a', '---', '...']
    expect(styles([...texts, ...more])).toEqual([...texts, ...more].map((text) => `'${text}'`))
    expect(styles(["'a'"])).toEqual(["'''a'''"])
  })

  test('a string with an indicator where it does not count is plain', () => {
    const texts = ['-a', 'a:b', 'a#b', 'a, b', '?a', ':a', '=', '<<', String.raw`a\b`, 'ä漢']
    expect(styles(texts)).toEqual(texts)
  })

  test('characters that are not printable are escaped', () => {
    expect(styles(['a\tb', '\u0007', '😀'])).toEqual([String.raw`"a\tb"`, String.raw`"\a"`, String.raw`"\U0001F600"`])
    expect(styles(['\uFEFFx\n\u00A0'])).toEqual([String.raw`"\uFEFF\x78\n\_"`])
  })
})

describe('keys', () => {
  const keys = ['', '1', '2', '10', 'B', 'a', 'a-1', 'a_1', 'a1', 'a2', 'a10', 'b', 'ä']

  test('keys are sorted, with the numbers in them as numbers and letters last', () => {
    const shown = keys.map((key) => (/^\d*$/.test(key) ? `"${key}": 0` : `${key}: 0`))
    const map = Object.fromEntries(keys.toReversed().map((key) => [key, 0]))
    expect(writeYaml(map)).toBe(lines(...shown))
    expect(pretty(map)).toBe(lines(...shown))
  })

  test('keys whose order is a circle have the same order in equal maps', () => {
    const texts = [
      ['a2', 'a10', 'a1b'],
      ['a10', 'a1b', 'a2'],
      ['a1b', 'a10', 'a2'],
    ].map((order) => writeYaml(Object.fromEntries(order.map((key) => [key, 0]))))
    expect(new Set(texts).size).toBe(1)
  })

  test('a key of more than 128 bytes or several lines is written after a question mark', () => {
    expect(writeYaml({ ['x'.repeat(128)]: 1 })).toBe(lines(`${'x'.repeat(128)}: 1`))
    expect(writeYaml({ ['x'.repeat(129)]: 1 })).toBe(lines(`? ${'x'.repeat(129)}`, ': 1'))
    expect(writeYaml({ 'a\nb': 1 })).toBe(lines('? |-', '  a', '  b', ': 1'))
  })
})

describe('strings of several lines', () => {
  test.each([
    ['x\n', lines('a: |', '  x')],
    ['x\ny', lines('a: |-', '  x', '  y')],
    ['x\n\n', lines('a: |+', '  x', '')],
    ['\nx\n', lines('a: |2', '', '  x')],
    ['  x\ny\n', lines('a: |2', '    x', '  y')],
    ['\n', lines('a: |2+', '')],
  ])('the literal style expresses the breaks and the spaces of %j', (text, expected) => {
    expect(writeYaml({ a: text })).toBe(expected)
    expect(pretty({ a: text })).toBe(expected)
  })

  test('the literal style keeps unusual breaks and indents the lines after them', () => {
    expect(writeYaml({ a: 'x\u2028y\n' })).toBe('a: |\n  x\u2028  y\n')
    expect(writeYaml({ a: 'x\ny\u2028', b: 1 })).toBe('a: |\n  x\n  y\u2028b: 1\n')
    expect(writeYaml({ a: { b: 'x\u2028y' } })).toBe("a:\n  b: 'x\u2028    y'\n")
  })

  test('a space before a break needs double quotes', () => {
    expect(writeYaml({ a: 'x \ny' })).toBe(lines(String.raw`a: "x \ny"`))
  })

  test('a tab needs double quotes except in the pretty style', () => {
    expect(writeYaml({ a: 'x\n\ty\n' })).toBe(lines(String.raw`a: "x\n\ty\n"`))
    expect(pretty({ a: 'x\n\ty\n' })).toBe(lines('a: |', '  x', '  \ty'))
  })

  test('the literal style is indented in lists, and its empty lines are empty', () => {
    expect(writeYaml(['x\ny\n', { b: 'z\n\n w\n' }])).toBe(lines('- |', '  x', '  y', '- b: |', '    z', '', '     w'))
  })
})

describe('collections and numbers', () => {
  const empty = { a: null, b: {}, c: [], d: '', e: [null, {}, [], ''] }

  test('null, empty maps, empty lists and empty strings have one spelling each', () => {
    const first = ['a: null', 'b: {}', 'c: []', 'd: ""', 'e:']
    expect(writeYaml(empty)).toBe(lines(...first, '- null', '- {}', '- []', '- ""'))
    expect(pretty(empty)).toBe(lines(...first, '  - null', '  - {}', '  - []', '  - ""'))
  })

  test('a value alone is a document', () => {
    expect([null, 'x', []].map((value) => writeYaml(value))).toEqual(['null\n', 'x\n', '[]\n'])
  })

  test('lists in maps are indented only in the pretty style', () => {
    const nested = { a: [{ b: [1, [2, 3]], c: { d: [] } }] }
    expect(writeYaml(nested)).toBe(lines('a:', '- b:', '  - 1', '  - - 2', '    - 3', '  c:', '    d: []'))
    expect(pretty(nested)).toBe(
      lines('a:', '  - b:', '      - 1', '      - - 2', '        - 3', '    c:', '      d: []'),
    )
  })

  test('numbers are printed as Go prints them', () => {
    const numbers = [1, -1, 1.5, 1e21, 123_456_789, 1_000_000.5, 1e-7, 0.0001]
    const shown = ['- 1', '- -1', '- 1.5', '- 1e+21', '- 123456789', '- 1.0000005e+06', '- 1e-07', '- 0.0001']
    expect(writeYaml(numbers)).toBe(lines(...shown))
    expect(pretty(numbers)).toBe(lines(...shown.with(4, '- 1.23456789e+08')))
  })

  test('a whole float has the shortest digits that name it', () => {
    expect(writeYaml([2 ** 63, -(2 ** 53), 2 ** 64])).toBe(
      lines('- 9223372036854776000', '- -9007199254740992', '- 1.8446744073709552e+19'),
    )
  })

  test('a value that is nested too deep is refused', () => {
    let deep: YamlValue = 1
    for (let level = 0; level < 1100; level++) deep = [deep]
    expect(() => writeYaml(deep)).toThrow('exceeded max depth')
  })
})
