import { expect, test } from 'vitest'
import { databaseNames, MAX_NAME_LENGTH } from './names.ts'

const row = { name: 'shop', resourceName: undefined, namespace: undefined, teamId: '7' }

test('objects are named after the row, in the namespace of its team', () => {
  expect(databaseNames(row, 'nest-team-')).toEqual({ name: 'shop', namespace: 'nest-team-7' })
})

test('a stated namespace and a name that was written back win', () => {
  const names = databaseNames({ ...row, namespace: 'prod', resourceName: 'old-shop' }, 'nest-team-')
  expect(names).toEqual({ name: 'old-shop', namespace: 'prod' })
})

test.each(['', 'Shop', 'my_db', '1st', '-a', 'a-', 'a.b', 'a b', 'a\n', 'a'.repeat(64)])(
  'the name %j is refused',
  (name) => {
    expect(databaseNames({ ...row, name }, 'nest-team-')).toEqual({ refused: expect.stringMatching(/^Name .+\.$/) })
  },
)

test('the longest name leaves room for the hash of a revision in a label', () => {
  expect(databaseNames({ ...row, name: 'a'.repeat(MAX_NAME_LENGTH) }, '')).toHaveProperty('name')
  expect(databaseNames({ ...row, name: 'a'.repeat(MAX_NAME_LENGTH + 1) }, '')).toHaveProperty('refused')
  expect(`${'a'.repeat(MAX_NAME_LENGTH)}-0123456789`).toHaveLength(63)
})

test('a bad namespace and a missing team are refused', () => {
  expect(databaseNames({ ...row, namespace: 'Prod' }, '')).toEqual({
    refused: expect.stringContaining('Namespace "Prod"'),
  })
  expect(databaseNames(row, 'Nest_')).toHaveProperty('refused')
  expect(databaseNames({ ...row, teamId: undefined }, 'nest-team-')).toHaveProperty('refused')
})
