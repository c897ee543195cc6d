import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readValues } from './values.ts'

let directory: string

beforeAll(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'tenure-values-'))
})

afterAll(() => rmSync(directory, { recursive: true }))

function file(text: string): string {
  const name = path.join(directory, 'values.yaml')
  writeFileSync(name, text)
  return name
}

test('without options there are no values', async () => {
  expect(await readValues({})).toBeUndefined()
})

test('values have the types that Helm infers', async () => {
  const set = ['a=1', 'b=true', 'c=null', 'd=1.0', 'e=007', 'f=', 'g=x=y', 'h=-2', 'i=99999999999999999999', 'j=a,b']
  expect(await readValues({ set, setString: ['k=1'] })).toEqual({
    a: 1,
    b: true,
    c: null,
    d: '1.0',
    e: '007',
    f: '',
    g: 'x=y',
    h: -2,
    i: '99999999999999999999',
    j: 'a,b',
    k: '1',
  })
})

test('dots nest, and a backslash keeps a dot in the key', async () => {
  expect(await readValues({ set: ['a.b=1', 'a.c=2', String.raw`d\.e.f=3`, 'a.b.x=4'] })).toEqual({
    a: { b: { x: 4 }, c: 2 },
    'd.e': { f: 3 },
  })
})

test('the file comes first, and the flags win', async () => {
  const values = file('browser:\n  version: 119\n  locale: de\n')
  expect(await readValues({ values, set: ['browser.version=120'] })).toEqual({
    browser: { version: 120, locale: 'de' },
  })
  expect(await readValues({ values: file('{"a": [1]}') })).toEqual({ a: [1] })
  expect(await readValues({ values: file('') })).toEqual({})
})

test.each(['a', '=1', '.a=1', 'a..b=1', '__proto__.x=1', 'a.__proto__=1'])('--set %s is refused', async (pair) => {
  await expect(readValues({ set: [pair] })).rejects.toMatchObject({ code: 'TENURE_CLAIM_ARGUMENT' })
})

test('a file that is missing, malformed or not an object is refused by name', async () => {
  await expect(readValues({ values: '/missing.yaml' })).rejects.toThrow(/^--values \/missing.yaml cannot be read/)
  await expect(readValues({ values: file('a: [') })).rejects.toThrow(/cannot be read/)
  await expect(readValues({ values: file('[1]') })).rejects.toThrow(/must hold an object, not \[1\]/)
})
