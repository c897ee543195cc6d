import { seededRandom } from '@tenure/kube/testing'
import { expect, test } from 'vitest'
import { ENGINES } from '../engines/table.ts'
import { connectionSecretData, credentialsOf, newPassword, secretDataOf } from './credentials.ts'

test('an existing password is never replaced, and missing keys are added', () => {
  const existing = { username: 'owner', password: 'kept', note: 'of another program' }
  const credentials = credentialsOf(ENGINES.mariadb, existing, seededRandom())
  expect(credentials).toEqual({
    username: 'owner',
    database: 'app',
    password: 'kept',
    root_password: expect.stringMatching(/^\w{32}$/),
  })
  expect(credentialsOf(ENGINES.mariadb, credentials, seededRandom(2))).toEqual(credentials)
})

test('passwords differ, and use every letter of their alphabet', () => {
  const random = seededRandom()
  const passwords = Array.from({ length: 500 }, () => newPassword(random))
  expect(new Set(passwords).size).toBe(500)
  expect(new Set(passwords.join('')).size).toBe(62)
})

test.each([
  [
    'postgresql',
    'postgresql://app:p%40ss@shop.n.svc:5432/app',
    'jdbc:postgresql://shop.n.svc:5432/app?user=app&password=p%40ss',
  ],
  ['mariadb', 'mysql://app:p%40ss@shop.n.svc:3306/app', 'jdbc:mariadb://shop.n.svc:3306/app?user=app&password=p%40ss'],
  ['redis', 'redis://default:p%40ss@shop.n.svc:6379/0', undefined],
  ['valkey', 'redis://default:p%40ss@shop.n.svc:6379/0', undefined],
] as const)('the Secret of %s has URIs with encoded parts', (name, uri, jdbc) => {
  const engine = ENGINES[name]
  const credentials = credentialsOf(engine, { password: 'p@ss' }, seededRandom())
  const data = connectionSecretData(engine, { name: 'shop', namespace: 'n' }, credentials)
  expect(data['uri']).toBe(uri)
  expect(data['jdbc_uri']).toBe(jdbc)
})

test('a Secret is decoded', () => {
  expect(secretDataOf({ data: { password: 'w6Q=' } })).toEqual({ password: 'ä' })
  expect(secretDataOf({})).toEqual({})
  expect(secretDataOf(undefined)).toBeUndefined()
})
