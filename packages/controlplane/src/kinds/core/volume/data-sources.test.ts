import { expect, test } from 'vitest'
import { validateDataSources, withDataSources } from './data-sources.ts'

const claim = { kind: 'PersistentVolumeClaim', name: 'a' }

test('each field is copied to the other', () => {
  expect(withDataSources({ dataSource: claim })).toEqual({ dataSource: claim, dataSourceRef: claim })
  const other = { apiGroup: 'example.com', kind: 'Backup', name: 'a' }
  expect(withDataSources({ dataSourceRef: other })).toEqual({ dataSource: other, dataSourceRef: other })
})

test('an invalid source is dropped', () => {
  expect(withDataSources({ dataSource: { kind: 'Foo', name: 'a' } })).toEqual({})
  expect(withDataSources({ dataSourceRef: { ...claim, namespace: 'b' } })).toEqual({})
})

test('two different sources are rejected', () => {
  const found = validateDataSources({ dataSource: claim, dataSourceRef: { ...claim, name: 'b' } }, 'spec')
  expect(found).toEqual([expect.objectContaining({ message: 'Invalid value: {}: must match dataSourceRef' })])
})
