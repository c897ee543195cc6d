import { expect, test } from 'vitest'
import { TEST_NAMES, testRow } from './controller.testing.ts'
import { displacedNames, moveReason } from './placement.ts'

const old = { name: 'orders', namespace: 'nest-team-9' }
const credentials = { secret_name: 'orders-credentials', secret_namespace: 'nest-team-9' }
const known = testRow({ resourceName: 'orders', credentials })

test('a database is found where the operator reported it', () => {
  expect(displacedNames(known, TEST_NAMES, [old])).toEqual(old)
  expect(displacedNames(known, undefined, [old])).toEqual(old)
  const adopted = testRow({ resourceName: 'orders', connectionInfo: { host: 'legacy.nest-team-9.svc' } })
  expect(displacedNames(adopted, TEST_NAMES, [old])).toEqual(old)
})

test('a database where the row says is not displaced, whatever copies of it exist', () => {
  expect(displacedNames(known, TEST_NAMES, [old, TEST_NAMES])).toBeUndefined()
  expect(displacedNames(known, TEST_NAMES, [])).toBeUndefined()
})

test('the database of another platform with a row of that id is not of the row', () => {
  expect(displacedNames(known, TEST_NAMES, [{ ...old, namespace: 'elsewhere' }])).toBeUndefined()
  expect(displacedNames(testRow(), TEST_NAMES, [old])).toBeUndefined()
})

test('the database of a lost row with that id is not of the row that got it', () => {
  const lost = { name: 'lost', namespace: TEST_NAMES.namespace }
  const connectionInfo = { service_name: 'orders' }
  const own = { secret_name: 'orders-credentials', secret_namespace: TEST_NAMES.namespace }
  const successor = testRow({ resourceName: 'orders', connectionInfo, credentials: own })
  expect(displacedNames(successor, TEST_NAMES, [lost])).toBeUndefined()
  expect(
    displacedNames({ ...successor, resourceName: 'renamed' }, { ...TEST_NAMES, name: 'renamed' }, [TEST_NAMES]),
  ).toBe(TEST_NAMES)
  const deleted = testRow({ observedGeneration: '1', deletedAt: '2026-01-01T00:00:00.000Z' })
  expect(displacedNames(deleted, TEST_NAMES, [lost])).toBeUndefined()
  expect(displacedNames(deleted, TEST_NAMES, [old])).toEqual(old)
})

test('before the first report a name that the row still has is enough', () => {
  const begun = testRow({ resourceName: 'orders' })
  expect(displacedNames(begun, TEST_NAMES, [old])).toEqual(old)
  expect(displacedNames(begun, TEST_NAMES, [{ ...old, name: 'other' }])).toBeUndefined()
})

test('the reason names what to set back', () => {
  expect(moveReason({ ...TEST_NAMES, name: 'shop' }, TEST_NAMES)).toContain('Set k8s_resource_name back to shop, or')
})
