import type { JsonObject } from '@tenure/kube/model'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hostileText } from '../engines/settings.testing.ts'
import { CONFIG_KEYS, type DatabaseConfig } from './database-config.ts'
import { readDatabaseConfig } from './read-config.ts'

function read(
  config: JsonObject,
  type = 'postgresql',
): { readonly config: DatabaseConfig; readonly warnings: readonly string[] } {
  const result = readDatabaseConfig({ type, config })
  if ('refused' in result) throw new Error(result.refused)
  return result
}

function refusal(config: JsonObject, type = 'postgresql'): string {
  const result = readDatabaseConfig({ type, config })
  if ('refused' in result) return result.refused
  throw new Error('The config was accepted')
}

test('an empty config gets the defaults of its engine', () => {
  expect(read({})).toEqual({
    config: {
      engine: 'postgresql',
      major: '16',
      image: 'postgres:16-alpine',
      replicas: 1,
      storageSize: '1Gi',
      storageClass: undefined,
      requests: { cpu: '100m', memory: '256Mi' },
      limits: { memory: '1Gi' },
      settings: new Map(),
      allowMajorUpgrade: false,
      migrate: false,
      deleteData: false,
      given: new Set(),
    },
    warnings: [],
  })
  expect(read({}, 'mariadb').config.image).toBe('mariadb:11.8')
  expect(read({}, 'db-redis').config.image).toBe('redis:7-alpine')
  expect(read({}, 'valkey').config.image).toBe('valkey/valkey:8-alpine')
})

test('every key is read', () => {
  const { config, warnings } = read(
    {
      replicas: 3,
      version: '8.1',
      storage_size: '10Gi',
      storage_class: 'fast',
      cpu_request: '250m',
      cpu_limit: 2,
      memory_request: '1Gi',
      memory_limit: '2Gi',
      settings: { 'maxmemory-policy': 'allkeys-lru' },
      allow_major_upgrade: true,
      migrate: 'true',
      delete_data: 'false',
    },
    'valkey',
  )
  expect(warnings).toEqual([])
  expect(config).toMatchObject({
    replicas: 3,
    major: '8',
    image: 'valkey/valkey:8.1-alpine',
    storageSize: '10Gi',
    storageClass: 'fast',
    requests: { cpu: '250m', memory: '1Gi' },
    limits: { cpu: '2', memory: '2Gi' },
    settings: new Map([['maxmemory-policy', 'allkeys-lru']]),
    allowMajorUpgrade: true,
    migrate: true,
    deleteData: false,
  })
  expect([...config.given].toSorted()).toEqual(CONFIG_KEYS.filter((key) => key !== 'image').toSorted())
})

test("the platform's spellings are read, and the plain key wins", () => {
  expect(read({ postgresql_version: 17, postgresql_storage_size: '5Gi' }).config).toMatchObject({
    image: 'postgres:17-alpine',
    storageSize: '5Gi',
  })
  expect(read({ postgresql_version: 17, version: 15 }).config.major).toBe('15')
  expect(read({ version: 15, postgresql_version: 17 }).config.major).toBe('15')
  expect(read({ version: '', postgresql_version: 17 }).config.major).toBe('17')
  expect(read({ redis_version: 8 }).warnings).toEqual(['Unknown config key "redis_version" is ignored.'])
})

test('null and the empty text count as not given', () => {
  const { config } = read({ replicas: null, image: '', version: null, settings: null, storage_size: '' })
  expect(config.given).toEqual(new Set())
})

test('an unknown key is a warning', () => {
  expect(read({ colour: 'red', 'x"y': 1 }).warnings).toEqual([
    'Unknown config key "colour" is ignored.',
    String.raw`Unknown config key "x\"y" is ignored.`,
  ])
})

test('an image of another repository is a warning', () => {
  expect(read({ image: 'bitnami/postgresql:16' }).warnings).toHaveLength(1)
  expect(read({ image: 'mirror.example/library/postgres:16' }).warnings).toEqual([])
})

test.each([
  [{ replicas: -1 }, 'Config key "replicas" is -1: it must be an integer from 0 to 100.'],
  [{ replicas: 1.5 }, 'Config key "replicas" is 1.5: it must be an integer from 0 to 100.'],
  [{ replicas: '0x1' }, 'Config key "replicas" is "0x1": it must be an integer from 0 to 100.'],
  [
    { replicas: 2 },
    'Config key "replicas" is 2: PostgreSQL is not replicated, so a second pod would be a second database.',
  ],
  [
    { image: 'Not An Image' },
    'Config key "image" is "Not An Image": it must be an image reference such as postgres:16-alpine.',
  ],
  [
    { image: 'postgres:latest' },
    'Config key "image" is "postgres:latest": the PostgreSQL version cannot be told from it; set version too.',
  ],
  [
    { image: 'postgres:13' },
    'Config key "image" is "postgres:13": supported versions of PostgreSQL are 14, 15, 16, 17, 18.',
  ],
  [{ version: 19 }, 'Config key "version" is "19": supported versions of PostgreSQL are 14, 15, 16, 17, 18.'],
  [{ version: 'latest' }, 'Config key "version" is "latest": it must be a version such as 16.'],
  [{ version: '16 ; rm' }, 'Config key "version" is "16 ; rm": it must be a version such as 16.'],
  [{ image: 'postgres:16', version: 17 }, 'Config key "image" is "postgres:16": it contradicts version 17.'],
  [
    { storage_size: '10 GB' },
    'Config key "storage_size" is "10 GB": it must be a quantity such as 500m, 512Mi or 10Gi.',
  ],
  [{ storage_size: '-1Gi' }, 'Config key "storage_size" is "-1Gi": it must be more than 0.'],
  [{ storage_size: 0 }, 'Config key "storage_size" is 0: it must be more than 0.'],
  [{ storage_size: {} }, 'Config key "storage_size" is {}: it must be a text.'],
  [{ storage_class: 'Fast!' }, 'Config key "storage_class" is "Fast!": it must be the name of a StorageClass.'],
  [
    { memory_request: '2Gi', memory_limit: '1Gi' },
    'Config key "memory_request" is "2Gi": it is more than memory_limit 1Gi.',
  ],
  [{ migrate: 'yes' }, 'Config key "migrate" is "yes": it must be true or false.'],
  [{ settings: [] }, 'Config key "settings" must be an object of engine parameters.'],
  [{ settings: { port: 1 } }, 'Setting "port" is refused: the operator sets it.'],
])('the config %j is refused with the key and the reason', (config, reason) => {
  expect(refusal(config)).toBe(reason)
})

test('another type is unsupported', () => {
  expect(refusal({}, 'mongodb')).toBe('unsupported resource type: mongodb')
})

test('a digest with a stated version is accepted', () => {
  const image = `postgres@sha256:${'a'.repeat(64)}`
  expect(read({ image, version: 16 }).config).toMatchObject({ image, major: '16' })
  expect(refusal({ image })).toContain('set version too')
})

test('numbers as text are read', () => {
  expect(read({ replicas: ' 0 ' }).config.replicas).toBe(0)
  expect(read({ cpu_limit: '2' }).config.limits.cpu).toBe('2')
})

test('a limit below the default request lowers it, and a request above the default limit raises that', () => {
  expect(read({ memory_limit: '128Mi' }).config.requests.memory).toBe('128Mi')
  expect(read({ memory_request: '4Gi' }).config.limits.memory).toBe('4Gi')
  expect(read({ cpu_limit: '50m' }).config.requests.cpu).toBe('50m')
})

test('no config makes the reader throw, and a refusal has one line', () => {
  const scalar = fc.oneof(
    hostileText,
    fc.integer(),
    fc.double(),
    fc.boolean(),
    fc.constant(null),
    fc.object({ maxDepth: 2 }),
  )
  const key = fc.oneof(fc.constantFrom(...CONFIG_KEYS, 'postgresql_version', '__proto__'), fc.string())
  fc.assert(
    fc.property(
      fc.dictionary(key, scalar),
      fc.constantFrom('postgresql', 'mariadb', 'redis', 'valkey'),
      (config, type) => {
        const result = readDatabaseConfig({ type, config })
        const texts = 'refused' in result ? [result.refused] : result.warnings
        for (const text of texts) expect(text).toMatch(/^[^\n\r\0]*$/)
      },
    ),
    { numRuns: 3_000 },
  )
})
