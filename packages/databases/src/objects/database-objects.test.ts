import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { asJsonObject, labelValue } from '@tenure/kube/model'
import { expect, test } from 'vitest'
import { ENGINES } from '../engines/table.ts'
import { secretDataOf } from './credentials.ts'
import { databaseObjects } from './database-objects.ts'
import { configFor, objectsFor } from './objects.testing.ts'

const recorded = (name: string): string => path.join(import.meta.dirname, 'testdata', `${name}.json`)

const versions = Object.values(ENGINES).flatMap(({ name, layouts }) =>
  [...layouts.keys()].map((major) => [name, major] as const),
)

// After a change that is meant, TENURE_RECORD=1 writes the files again; review their difference and format them.
test.each(versions)('the objects of %s %s are those on record', (engine, major) => {
  const { namespace: _, ...objects } = objectsFor(engine, { version: major })
  const file = recorded(`${engine}-${major}`)
  if (process.env['TENURE_RECORD'] === '1') writeFileSync(file, `${JSON.stringify(objects, undefined, 2)}\n`)
  const { podDisruptionBudget, ...expected } = asJsonObject(JSON.parse(readFileSync(file, 'utf8')))
  expect(podDisruptionBudget).toBeUndefined()
  expect(objects).toEqual({ ...expected, podDisruptionBudget: undefined })
})

test.each(versions)('no password of %s %s is outside its Secret', (engine, major) => {
  const { secret, ...others } = objectsFor(engine, { version: major })
  const data = secretDataOf(secret) ?? {}
  const passwords = ENGINES[engine].passwordKeys.map((key) => data[key] ?? '')
  for (const password of passwords) {
    expect(password).toMatch(/^[A-Za-z0-9]{32}$/)
    expect(JSON.stringify(others)).not.toContain(password)
    expect(JSON.stringify(others)).not.toContain(Buffer.from(password).toString('base64'))
  }
  expect(new Set(passwords).size).toBe(passwords.length)
})

const userOf = (type: string, image: string): unknown => {
  const context = objectsFor(type, { image }).statefulSet.spec?.template.spec?.securityContext
  return [context?.runAsUser, context?.runAsGroup, context?.fsGroup]
}

test('the user ids follow the image', () => {
  expect(userOf('postgresql', 'postgres:16-alpine')).toEqual([70, 70, 70])
  expect(userOf('postgresql', 'postgres:16.4-alpine3.20')).toEqual([70, 70, 70])
  expect(userOf('postgresql', 'postgres:16-bookworm')).toEqual([999, 999, 999])
  expect(userOf('postgresql', 'alpine.example/postgres:16')).toEqual([999, 999, 999])
  expect(userOf('mariadb', 'mariadb:11.8')).toEqual([999, 999, 999])
  expect(userOf('redis', 'redis:7-alpine')).toEqual([999, 1000, 1000])
  expect(userOf('redis', 'redis:7')).toEqual([999, 999, 999])
  expect(userOf('valkey', 'valkey/valkey:8-alpine')).toEqual([999, 1000, 1000])
})

const containerOf = (version: number) =>
  objectsFor('postgresql', { version }).statefulSet.spec?.template.spec?.containers[0]

test('PostgreSQL 18 is mounted above its versioned data directory', () => {
  const pgdata = (version: number) => containerOf(version)?.env?.find(({ name }) => name === 'PGDATA')?.value
  expect(containerOf(17)?.volumeMounts?.[0]?.mountPath).toBe('/var/lib/postgresql/data')
  expect(pgdata(17)).toBe('/var/lib/postgresql/data/pgdata')
  expect(containerOf(18)?.volumeMounts?.[0]?.mountPath).toBe('/var/lib/postgresql')
  expect(pgdata(18)).toBe('/var/lib/postgresql/18/docker')
})

const templateOf = (values: object) => objectsFor('redis', { ...values }).statefulSet.spec?.template

test('a change of settings changes the pod template, and a change of replicas does not', () => {
  expect(templateOf({ settings: { timeout: 10 } })).not.toEqual(templateOf({}))
  expect(templateOf({ replicas: 3 })).toEqual(templateOf({}))
})

test('one database of several pods has a budget, and its clients reach the primary only', () => {
  const { podDisruptionBudget, clientService, headlessService } = objectsFor('redis', { replicas: 3 })
  expect(podDisruptionBudget?.spec).toEqual({ maxUnavailable: 1, selector: { matchLabels: { app: 'shop' } } })
  expect(clientService.spec?.selector).toEqual({ app: 'shop', 'statefulset.kubernetes.io/pod-name': 'shop-0' })
  expect(headlessService.spec?.selector).toEqual({ app: 'shop' })
  expect(objectsFor('redis').podDisruptionBudget).toBeUndefined()
})

const fileOf = (values: object) => objectsFor('redis', { ...values }).configMap.data?.['redis.conf']

test('the memory for data of Redis leaves a quarter of the limit', () => {
  expect(fileOf({ memory_limit: '1Gi' })).toContain(`maxmemory ${0.75 * 2 ** 30}\n`)
  expect(fileOf({ settings: { maxmemory: '100mb' } })).not.toContain(`maxmemory ${0.75 * 2 ** 29}`)
})

const claimOf = (values: object) => objectsFor('redis', { ...values }).statefulSet.spec?.volumeClaimTemplates?.[0]?.spec

test('the storage class is set only if the row names one', () => {
  expect(claimOf({})).not.toHaveProperty('storageClassName')
  expect(claimOf({ storage_class: 'fast', storage_size: '5Gi' })).toMatchObject({
    storageClassName: 'fast',
    resources: { requests: { storage: '5Gi' } },
  })
})

test('hostile credentials of an existing Secret stay inside the URIs and the file of Redis', () => {
  const password = `a'b"c\\d@e/f?g#h%i j&k=l:m`
  const config = configFor('redis')
  const objects = databaseObjects({
    name: 'shop',
    namespace: 'n',
    resourceId: '1',
    config,
    credentials: { username: 'u@x', password },
  })
  const data = secretDataOf(objects.secret) ?? {}
  const uri = new URL(data['uri'] ?? '')
  expect(decodeURIComponent(uri.password)).toBe(password)
  expect(decodeURIComponent(uri.username)).toBe('u@x')
  expect([uri.hostname, uri.port, uri.pathname]).toEqual(['shop.n.svc', '6379', '/0'])
  expect(data['auth.conf']?.split('\n')).toHaveLength(3)
})

test('every label has a valid value', () => {
  const labels = objectsFor('postgresql').statefulSet.metadata?.labels ?? {}
  expect(labels).toEqual({ app: 'shop', 'managed-by': 'nest-controller', 'resource-id': '42' })
  for (const value of Object.values(labels)) expect(labelValue(value)).toEqual([])
})
