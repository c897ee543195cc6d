import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { PageRow } from '../data/rows.ts'
import { LiveTable } from '../data/live-table.ts'
import { TableQuery, type RowSelection } from './table-query.ts'

interface Row extends PageRow {
  readonly at?: number
}

const byName: RowSelection<Row> = { text: '', sort: 'name', key: ({ name }) => name, isDescending: false }
const byTime: RowSelection<Row> = { text: '', sort: 'at', key: ({ at }) => at, isDescending: false }

function tableOf(rows: readonly Row[]): LiveTable<Row> {
  const table = new LiveTable<Row>()
  table.addPage(rows)
  return table
}

const idsOf = (rows: readonly Row[]): string => rows.map(({ id }) => id).join('')

test('rows are sorted without regard to case, in both directions', () => {
  const query = new TableQuery(
    tableOf([
      { id: '1', name: 'b' },
      { id: '2', name: 'A' },
      { id: '3', name: 'c' },
    ]),
  )
  expect(idsOf(query.select(byName))).toBe('213')
  expect(idsOf(query.select({ ...byName, isDescending: true }))).toBe('312')
})

test('rows without a value come last in both directions', () => {
  const query = new TableQuery(
    tableOf([
      { id: '1', name: 'a' },
      { id: '2', name: 'b', at: 2 },
      { id: '3', name: 'c', at: 1 },
    ]),
  )
  expect(idsOf(query.select(byTime))).toBe('321')
  expect(idsOf(query.select({ ...byTime, isDescending: true }))).toBe('231')
})

test('a filter finds all of its words in any text of a row', () => {
  const query = new TableQuery(
    tableOf([
      { id: '1', name: 'Web-Shop', namespace: 'prod' },
      { id: '2', name: 'web', namespace: 'test' },
    ]),
  )
  expect(idsOf(query.select({ ...byName, text: 'WEB prod' }))).toBe('1')
  expect(idsOf(query.select({ ...byName, text: ' web ' }))).toBe('21')
  expect(idsOf(query.select({ ...byName, text: 'b-shopprod' }))).toBe('')
  expect(idsOf(query.select({ ...byName, where: ({ namespace }) => namespace === 'test' }))).toBe('2')
})

test('after any changes a query gives what a new query gives', () => {
  const change = fc.record({
    id: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    at: fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined }),
    isDeleted: fc.boolean(),
    isDescending: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
      const table = new LiveTable<Row>()
      const query = new TableQuery(table)
      for (const { id, at, isDeleted, isDescending } of changes) {
        if (isDeleted) table.delete(id)
        else table.set({ id, name: id, ...(at !== undefined && { at }) })
        const selection = { ...byTime, isDescending }
        expect(query.select(selection)).toEqual(new TableQuery(table).select(selection))
      }
    }),
  )
})

test('many different texts are sorted as few are', () => {
  const rows = Array.from({ length: 1_500 }, (_, index) => ({
    id: `${index}`,
    name: `n${(index * 7) % 1_500}`.padStart(6),
  }))
  const selected = new TableQuery(tableOf(rows)).select(byName).map(({ name }) => name)
  expect(selected).toEqual(rows.map(({ name }) => name).toSorted())
})

describe('30,000 rows', () => {
  const rows = Array.from({ length: 30_000 }, (_, index) => ({
    id: `default/configmap-${index}`,
    name: `configmap-${(index * 7_919) % 30_000}`,
    namespace: `team-${index % 40}`,
    at: (index * 104_729) % 1_000_000,
  }))

  test('sorting compares little after one change', () => {
    const table = tableOf(rows)
    const query = new TableQuery(table)
    expect(query.select(byTime)).toHaveLength(30_000)
    table.set({ id: 'default/configmap-1', name: 'changed', at: 5 })
    const selected = query.select(byTime)
    expect(selected.findIndex(({ name }) => name === 'changed')).toBeLessThan(10)
  })
})
