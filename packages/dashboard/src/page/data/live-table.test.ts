import { expect, test } from 'vitest'
import type { PageRow } from './rows.ts'
import { LiveTable } from './live-table.ts'

const row = (id: string, name = id): PageRow => ({ id, name })
const names = (table: LiveTable<PageRow>): readonly string[] => [...table.entries()].map((entry) => entry.row.name)

test('a second list removes what it does not contain, and only at its end', () => {
  const table = new LiveTable<PageRow>()
  table.beginList()
  table.addPage([row('a'), row('b')])
  table.endList()
  table.beginList()
  table.addPage([row('b', 'B')])
  expect(names(table)).toEqual(['a', 'B'])
  table.endList()
  expect(names(table)).toEqual(['B'])
})

test('what the stream changed during a list wins over the pages of the list', () => {
  const table = new LiveTable<PageRow>()
  table.beginList()
  table.set(row('a', 'new'))
  table.delete('b')
  table.addPage([row('a', 'old'), row('b'), row('c')])
  table.endList()
  expect(names(table)).toEqual(['new', 'c'])
  table.beginList()
  table.addPage([row('a', 'listed')])
  table.endList()
  expect(names(table)).toEqual(['listed'])
})

test('the version tells whether something changed', () => {
  const table = new LiveTable<PageRow>()
  const { version } = table
  table.delete('unknown')
  expect(table.version).toBe(version)
  table.set(row('a'))
  expect(table.version).toBeGreaterThan(version)
})
