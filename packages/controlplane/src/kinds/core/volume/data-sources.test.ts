import { expect, test } from 'vitest'
import { validateDataSources, withDataSources } from './data-sources.ts'

const claim = { kind: 'PersistentVolumeClaim', name: 'a' }

test('both fields say what one of them said', () => {
  expect(withDataSources({ dataSource: claim })).toEqual({ dataSource: claim, dataSourceRef: claim })
  const other = { apiGroup: 'example.com', kind: 'Backup', name: 'a' }
  expect(withDataSources({ dataSourceRef: other })).toEqual({ dataSource: other, dataSourceRef: other })
})

test('what can not be a source is dropped', () => {
  expect(withDataSources({ dataSource: { kind: 'Foo', name: 'a' } })).toEqual({})
  expect(withDataSources({ dataSourceRef: { ...claim, namespace: 'b' } })).toEqual({})
})

test('two sources are one too many', () => {
  const found = validateDataSources({ dataSource: claim, dataSourceRef: { ...claim, name: 'b' } }, 'spec')
  expect(found).toEqual([expect.objectContaining({ message: 'Invalid value: {}: must match dataSourceRef' })])
})
