import { expect, test } from 'vitest'
import { readDatabaseConfig } from '../../config/read-config.ts'
import { databaseObjects } from '../../objects/database-objects.ts'
import { TEST_NAMES, testRow } from './controller.testing.ts'
import { fieldChanges } from './field-changes.ts'

function objectsFor(config: object) {
  const read = readDatabaseConfig(testRow({ config: config as Readonly<Record<string, unknown>> }))
  if ('refused' in read) throw new Error(read.refused)
  return databaseObjects({ ...TEST_NAMES, resourceId: '7', config: read.config, credentials: {} })
}

function changesBetween(before: object | undefined, after: object) {
  const [live, desired] = [before && objectsFor(before), objectsFor(after)]
  return fieldChanges({
    config: { engine: 'redis' },
    live: live?.statefulSet,
    desired: desired.statefulSet,
    liveConfigMap: live?.configMap,
    configMap: desired.configMap,
  })
}

test('a new database has everything that it is made of, from nothing', () => {
  const changes = changesBetween(undefined, { version: '7.4' })
  expect(changes.every(({ from }) => from === undefined)).toBe(true)
  expect(changes).toContainEqual({ field: 'image', from: undefined, to: 'redis:7.4-alpine' })
  expect(changes).toContainEqual({ field: 'storage_size', from: undefined, to: '1Gi' })
})

test('a change names its field, from what to what, and nothing else', () => {
  expect(changesBetween({ replicas: 1 }, { replicas: 1 })).toEqual([])
  expect(changesBetween({ replicas: 1 }, { replicas: 3 })).toEqual([{ field: 'replicas', from: 1, to: 3 }])
  expect(changesBetween({ memory_limit: '1Gi' }, { memory_limit: '2Gi' })).toContainEqual({
    field: 'memory_limit',
    from: '1Gi',
    to: '2Gi',
  })
})

test('settings are shown by the lines that go and that come', () => {
  const changes = changesBetween({ settings: { timeout: 10 } }, { settings: { timeout: 20, databases: 4 } })
  const settings = changes.find(({ field }) => field === 'settings')
  expect(settings?.from).toEqual([expect.stringContaining('10')])
  expect(settings?.to).toHaveLength(2)
})
