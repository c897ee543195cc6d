import { expect, test } from 'vitest'
import { readYaml } from './yaml-text.ts'

const bomb = (levels: number): string =>
  Array.from({ length: levels }, (_, level) => {
    const of = level === 0 ? 'x' : `*a${level - 1}`
    return `a${level}: &a${level} [${Array.from({ length: 9 }, () => of).join(',')}]\n`
  }).join('')

test('aliases are written out', () => {
  expect(readYaml('a: &one {b: [1]}\nc: *one\nd: {<<: *one, e: 2}\n').value).toEqual({
    a: { b: [1] },
    c: { b: [1] },
    d: { b: [1], e: 2 },
  })
})

test('the same anchor may be used often', () => {
  const uses = Array.from({ length: 300 }, (_, index) => `k${index}: *one\n`).join('')
  const { value } = readYaml(`one: &one {a: 1, b: 2, c: 3}\n${uses}`)
  expect((value as Record<string, unknown>)['k299']).toEqual({ a: 1, b: 2, c: 3 })
})

test('aliases of aliases of aliases are refused before they are written out', () => {
  expect(() => readYaml(bomb(9))).toThrow('yaml: document contains excessive aliasing')
  expect(() => readYaml(bomb(40))).toThrow('yaml: document contains excessive aliasing')
})

test('an anchor that contains itself is refused', () => {
  expect(() => readYaml('a: &a [*a, *a]\n')).toThrow('contains itself')
  expect(() => readYaml('a: &a {b: {c: *a}}\n')).toThrow('contains itself')
})

test('a key that would change a prototype is a key', () => {
  const { value } = readYaml('__proto__: {polluted: yes}\n')
  expect(Object.keys(value as object)).toEqual(['__proto__'])
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
})
