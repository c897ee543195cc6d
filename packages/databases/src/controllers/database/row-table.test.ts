import { expect, test } from 'vitest'
import { testRow } from './controller.testing.ts'
import { RowTable } from './row-table.ts'

const names = { name: 'orders', namespace: 'nest-team-1' }

function tableOf(...rows: Parameters<RowTable['set']>[0][]): RowTable {
  const table = new RowTable({ namespacePrefix: 'nest-team-', watchAllNamespaces: false })
  for (const row of rows) table.set(row)
  return table
}

test('rows are found by the name of their database, also after it changed', () => {
  const table = tableOf(testRow({ id: '1' }), testRow({ id: '2', name: 'other' }))
  expect(table.idsOf(names.namespace, 'orders')).toEqual(['1'])
  table.set(testRow({ id: '1', name: 'renamed' }))
  expect(table.idsOf(names.namespace, 'orders')).toEqual([])
  expect(table.idsIn(names.namespace).toSorted()).toEqual(['1', '2'])
  table.delete('2')
  expect(table.idsIn(names.namespace)).toEqual(['1'])
  expect(table.idsIn('nest-team')).toEqual([])
})

test('a row is also found where its database runs', () => {
  const row = testRow({ id: '1', namespace: 'nest-team-2' })
  const table = tableOf(row, testRow({ id: '2' }))
  table.setDisplaced('1', names)
  expect(table.idsOf(names.namespace, 'orders')).toEqual(['2', '1'])
  expect(table.namesakes(row)).toEqual(['2'])
  table.set(testRow({ id: '1' }))
  table.setDisplaced('1', undefined)
  expect(table.idsOf(names.namespace, 'orders')).toEqual(['2', '1'])
  expect(table.idsOf('nest-team-2', 'orders')).toEqual([])
  table.delete('1')
  expect(table.idsOf(names.namespace, 'orders')).toEqual(['2'])
})

test('the row with the lowest id has a name first, by number and not by text', () => {
  const [second, tenth] = [testRow({ id: '2' }), testRow({ id: '10' })]
  const table = tableOf(tenth, second)
  expect(table.rival(second, names, undefined)).toBeUndefined()
  expect(table.rival(tenth, names, undefined)).toBe('2')
})

test('a row that owns the objects keeps its name, and rows that are not managed want none', () => {
  const [second, tenth] = [testRow({ id: '2' }), testRow({ id: '10' })]
  const table = tableOf(second, tenth, testRow({ id: '1', lifecycleMode: 'monitor_only' }))
  expect(table.rival(tenth, names, '10')).toBeUndefined()
  expect(table.rival(second, names, '10')).toBe('10')
})

test('a namespace outside the prefix is refused, unless all are allowed', () => {
  const row = testRow({ namespace: 'kube-system' })
  expect(tableOf().names(row)).toEqual({
    refused: 'Namespace kube-system does not begin with nest-team-, and WATCH_ALL_NAMESPACES is not set.',
  })
  const open = new RowTable({ namespacePrefix: 'nest-team-', watchAllNamespaces: true })
  expect(open.names(row)).toEqual({ name: 'orders', namespace: 'kube-system' })
})
