import { expect, test } from 'vitest'
import { ENGINES, engineOf, layoutOf } from './table.ts'
import { majorOf, versionChange } from './version.ts'

const DIGEST = `sha256:${'0'.repeat(64)}`

test.each([
  ['postgresql', 'postgres:16-alpine', '16'],
  ['postgresql', 'postgres:16.4', '16'],
  ['postgresql', '17.2', '17'],
  ['postgresql', `registry.example:5000/team/postgres:15.8-bookworm@${DIGEST}`, '15'],
  ['postgresql', 'postgres', undefined],
  ['postgresql', 'postgres:latest', undefined],
  ['postgresql', 'postgres:18beta1', undefined],
  ['postgresql', `postgres@${DIGEST}`, undefined],
  ['postgresql', '14-registry/postgres:16', '16'],
  ['mariadb', 'mariadb:11.8.3-noble', '11.8'],
  ['mariadb', 'mariadb:10.11', '10.11'],
  ['mariadb', 'mariadb:12', '12.x'],
  ['mariadb', 'mariadb:12.1', '12.1'],
  ['mariadb', 'mariadb:11-jammy', '11.x'],
  ['mariadb', 'mariadb:lts', undefined],
  ['mariadb', 'mariadb:11.8rc1', undefined],
  ['redis', 'redis:7.4.2-alpine', '7'],
  ['valkey', 'valkey/valkey:8-alpine', '8'],
] as const)('the major version of %s %s is %s', (engine, image, major) => {
  expect(majorOf(ENGINES[engine], image)).toBe(major)
})

test.each([
  ['postgresql', 'postgres:16-alpine', 'postgres:16-alpine', 'same'],
  ['postgresql', 'postgres:16.3-alpine', 'postgres:16.4-alpine', 'minor'],
  ['postgresql', 'postgres:16-alpine', 'mirror.example/postgres:16.4-alpine3.20', 'minor'],
  ['mariadb', 'mariadb:11.8.2', 'mariadb:11.8.3', 'minor'],
  ['redis', 'redis:7-alpine', 'redis:7.4', 'minor'],
] as const)('%s changes from %s to %s: %s', (engine, from, to, change) => {
  expect(versionChange(ENGINES[engine], from, to)).toBe(change)
})

test.each([
  ['postgresql', 'postgres:16-alpine', 'postgres:17-alpine', 'data of PostgreSQL 16'],
  ['postgresql', 'postgres:16-alpine', 'postgres:15-alpine', 'data of PostgreSQL 16'],
  ['postgresql', 'postgres:16-alpine', 'postgres:latest', 'postgres:latest cannot be told'],
  ['postgresql', 'postgres:latest', 'postgres:16', 'postgres:latest cannot be told'],
  ['postgresql', 'postgres:16-alpine', 'postgres:16', 'sort texts differently'],
  ['mariadb', 'mariadb:11.4', 'mariadb:11.8', 'data of MariaDB 11.4'],
  ['mariadb', 'mariadb:11.8', 'mariadb:12', 'data of MariaDB 11.8'],
  ['valkey', 'valkey/valkey:7-alpine', 'valkey/valkey:8-alpine', 'data of Valkey 7'],
] as const)('%s does not change from %s to %s unless the owner takes the risk', (engine, from, to, reason) => {
  expect(versionChange(ENGINES[engine], from, to)).toEqual({ refused: expect.stringContaining(reason) })
  expect(versionChange(ENGINES[engine], from, to, { isMajorAllowed: true })).toBe('major')
})

test('a stated version replaces one that the image does not tell', () => {
  const [from, to] = [`postgres@${DIGEST}`, `postgres@${DIGEST.replaceAll('0', '1')}`]
  expect(versionChange(ENGINES.postgresql, from, to)).toHaveProperty('refused')
  expect(versionChange(ENGINES.postgresql, from, to, { majors: { from: '16', to: '16' } })).toBe('minor')
  expect(versionChange(ENGINES.postgresql, from, to, { majors: { from: '16', to: '17' } })).toHaveProperty('refused')
  expect(versionChange(ENGINES.postgresql, 'postgres:16', 'postgres:17', { majors: { to: '16' } })).toHaveProperty(
    'refused',
  )
})

test('a type has an alias with db in front', () => {
  expect(engineOf('postgresql')?.name).toBe('postgresql')
  expect(engineOf('db-valkey')?.name).toBe('valkey')
  expect(engineOf('db-db-redis')).toBeUndefined()
  expect(engineOf('constructor')).toBeUndefined()
  expect(engineOf('')).toBeUndefined()
})

test('the table has every supported major version and no other', () => {
  const versions = Object.values(ENGINES).map(({ name, layouts }) => [name, [...layouts.keys()]])
  expect(Object.fromEntries(versions)).toEqual({
    postgresql: ['14', '15', '16', '17', '18'],
    mariadb: ['10.11', '11.4', '11.8', '12'],
    redis: ['7', '8'],
    valkey: ['7', '8'],
  })
  expect(layoutOf(ENGINES.mariadb, '12.1')?.image).toBe('mariadb:12')
  expect(layoutOf(ENGINES.mariadb, '12.x')?.image).toBe('mariadb:12')
  expect(layoutOf(ENGINES.mariadb, '11.x')?.image).toBe('mariadb:11.8')
  for (const major of ['11.5', '10.6', '13.0', '1.1']) expect(layoutOf(ENGINES.mariadb, major)).toBeUndefined()
  for (const major of ['13', '19', '1', '']) expect(layoutOf(ENGINES.postgresql, major)).toBeUndefined()
})
