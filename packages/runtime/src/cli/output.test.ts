import { expect, test } from 'vitest'
import { outputFormatOf, outputMeaning, type RowOutput, rowsText, rowText } from './output.ts'

interface Thing {
  readonly name: string
  readonly size: number | undefined
}

const output: RowOutput<Thing> = {
  columns: [
    { heading: 'NAME', of: ({ name }) => name },
    { heading: 'SIZE', isWide: true, of: ({ size }) => String(size ?? '-') },
  ],
  nameOf: ({ name }) => `thing/${name}`,
}
const rows: readonly Thing[] = [
  { name: 'a', size: 1 },
  { name: 'long', size: undefined },
]

test('rows are printed in every format', () => {
  expect(rowsText('table', rows, output)).toBe('NAME\na\nlong')
  expect(rowsText('wide', rows, output)).toBe('NAME  SIZE\na     1\nlong  -')
  expect(rowsText('name', rows, output)).toBe('thing/a\nthing/long')
  expect(JSON.parse(rowsText('json', rows, output))).toEqual({ items: [{ name: 'a', size: 1 }, { name: 'long' }] })
  expect(rowsText('yaml', rows, output)).toBe('items:\n- name: a\n  size: 1\n- name: long')
})

test('programs get one row without a list, and the value that the command shows', () => {
  const shown = { ...output, toValue: ({ name }: Thing) => ({ id: name }) }
  expect(rowText('yaml', { name: 'a', size: 1 }, shown)).toBe('id: a')
  expect(rowText('name', { name: 'a', size: 1 }, shown)).toBe('thing/a')
  expect(JSON.parse(rowsText('json', rows, shown))).toEqual({ items: [{ id: 'a' }, { id: 'long' }] })
})

const fail = (message: string): Error => new Error(message)

test('another format is refused with those that exist', () => {
  expect(outputFormatOf(undefined, fail)).toBe('table')
  expect(outputFormatOf('yaml', fail)).toBe('yaml')
  expect(() => outputFormatOf('xml', fail)).toThrow(
    '"xml" is not an output format: use table, wide, json, yaml or name.',
  )
  expect(() => outputFormatOf('wide', fail, ['table', 'json'])).toThrow('use table or json.')
  expect(outputMeaning(['table', 'json'])).toBe('Output format: table or json. Default table.')
})
