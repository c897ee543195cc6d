import { expect, test } from 'vitest'

import { findAll, parseJsonPath } from './json-path.ts'

const object = {
  metadata: { name: 'a', annotations: { 'example.com/x.y': 'dotted' } },
  spec: { size: 3, list: [{ name: 'a', size: 1 }, { name: 'b', size: 2 }, { name: 'c' }] },
  status: {
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'Stale', status: 'False' },
    ],
  },
}

test.each<[string, readonly unknown[]]>([
  ['.metadata.name', ['a']],
  ['.spec.size', [3]],
  ['.none.at.all', []],
  ['.spec.list[0].name', ['a']],
  ['.spec.list[-1].name', ['c']],
  ['.spec.list[1:3].name', ['b', 'c']],
  ['.spec.list[*].size', [1, 2]],
  ['.spec.list[9].name', []],
  [String.raw`.metadata.annotations.example\.com/x\.y`, ['dotted']],
  [".metadata.annotations['example.com/x.y']", ['dotted']],
  ['.status.conditions[?(@.type=="Ready")].status', ['True']],
  [".status.conditions[?(@.type=='Ready')].status", ['True']],
  ['.status.conditions[?(@.type != "Ready")].status', ['False']],
  ['.spec.list[?(@.size>1)].name', ['b']],
  ['.spec.list[?(@.size)].name', ['a', 'b']],
  ['.metadata.__proto__', []],
  ['.metadata.constructor.name', []],
])('the path %s finds its values', (text, expected) => {
  const path = parseJsonPath(text)
  expect(path).toBeDefined()
  expect(findAll(path ?? [], object)).toEqual(expected)
})

test.each(['spec', '.a[', '.a[?(@.b==)]', '.a[x]', '..', `.${'a'.repeat(5000)}`])('%s is rejected', (text) => {
  expect(parseJsonPath(text)).toBeUndefined()
})
