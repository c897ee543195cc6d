import { expect, test } from 'vitest'
import { readDocument } from './document.ts'
import type { YamlNode } from './document.ts'

/** A tree in short form: `{a: [b, c]}`. */
function shortForm(node: YamlNode | undefined): string {
  switch (node?.kind) {
    case 'scalar':
      return node.text
    case 'sequence':
      return `[${node.items.map(shortForm).join(', ')}]`
    case 'mapping':
      return `{${node.entries.map(([key, value]) => `${shortForm(key)}: ${shortForm(value)}`).join(', ')}}`
    case 'alias':
      return `*${node.name}`
    default:
      return '(nothing)'
  }
}

test.each([
  ['# a\n', '(nothing)'],
  ['a:\n- b\n- c: d\n  e: f\n', '{a: [b, {c: d, e: f}]}'],
  ['- - a\n  - b\n-\n- c\n', '[[a, b], , c]'],
  ['a: {\nb: c,\n"d":e, f\n}\n', '{a: {b: c, d: e, f: }}'],
  ['[a: b, ? c : d, [],]', '[{a: b}, {c: d}, []]'],
  ['? a\n: b\n? c\n', '{a: b, c: }'],
  ['a: b\n  c\n\n  d\ne: f\n', '{a: b c\nd, e: f}'],
  ['a: |\n  b\n   c\n\nd: >-\n  e\n  f\n\n   g\n', '{a: b\n c\n, d: e f\n\n g}'],
  ['a: "b\\\n  c\n\n  d"\n', '{a: bc\nd}'],
  ['a: &x b\nc: *x\n', '{a: b, c: *x}'],
  ['a:\r\n  b: c\r\nd: e\r', '{a: {b: c}, d: e}'],
])('%j is parsed', (text, tree) => {
  expect(shortForm(readDocument(text))).toBe(tree)
})

test.each([
  ['a:\n\tb: c\n', 'yaml: line 2: found character that cannot start any token'],
  ['a: b\n\t\n', 'yaml: line 2: found a tab character that violates indentation'],
  ['a: b: c\n', 'yaml: mapping values are not allowed in this context'],
  ['\na: b: c\n', 'yaml: line 2: mapping values are not allowed in this context'],
  ['a:\n  b: c\n d: e\n', 'yaml: line 2: did not find expected key'],
  ['a: [b\n', "yaml: line 1: did not find expected ',' or ']'"],
  ['\na: {b: c\n\n', "yaml: line 3: did not find expected ',' or '}'"],
  ['- a\nb\n', "yaml: line 3: could not find expected ':'"],
  [`x: 1\n${'k'.repeat(1100)}: v\n`, "yaml: line 2: could not find expected ':'"],
  ['a: "b', 'yaml: found unexpected end of stream'],
  ['%YAML 1.2\n---\na\n', 'yaml: found incompatible YAML document'],
  ['a: |x\n', 'yaml: did not find expected comment or line break'],
])('%j is refused', (text, why) => {
  expect(() => readDocument(text)).toThrow(why)
})

test('a document that is nested too deeply is refused', () => {
  expect(() => readDocument('['.repeat(100_000))).toThrow('exceeded max depth')
  expect(() => readDocument('- '.repeat(100_000))).toThrow('exceeded max depth')
})
