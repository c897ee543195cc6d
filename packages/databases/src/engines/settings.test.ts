import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Engine } from './engine.ts'
import { readSettings } from './settings.ts'
import { hostileText, readMariadbFile, readPostgresqlFile, readRedisFile } from './settings.testing.ts'
import { ENGINES, layoutOf } from './table.ts'

const readers = {
  postgresql: readPostgresqlFile,
  mariadb: readMariadbFile,
  redis: readRedisFile,
  valkey: readRedisFile,
} as const

function render(engine: Engine, settings: Readonly<Record<string, unknown>>): string | undefined {
  const read = readSettings(settings, engine.format)
  const layout = layoutOf(engine, engine.defaultMajor)
  if ('refused' in read || !layout) return undefined
  const context = { layout, settings: read.settings, memoryLimit: 2 ** 29, secretName: 's', primaryHost: 'p' }
  return engine.renderSettings(context)
}

const value = fc.oneof(hostileText, fc.boolean(), fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }))

test.each(Object.values(ENGINES))('no value of a setting of $title becomes another directive', (engine) => {
  const read = readers[engine.name]
  const base = read(render(engine, {}) ?? '')
  fc.assert(
    fc.property(value, (setting) => {
      const text = render(engine, { cluster: setting })
      if (text === undefined) return
      const found = read(text)
      const truth = engine.name === 'postgresql' ? 'on' : engine.name === 'mariadb' ? 'ON' : 'yes'
      const falsehood = engine.name === 'postgresql' ? 'off' : engine.name === 'mariadb' ? 'OFF' : 'no'
      const expected = typeof setting === 'boolean' ? (setting ? truth : falsehood) : String(setting)
      const added = found.filter(([name]) => name === 'cluster')
      expect(added).toEqual([['cluster', expected]])
      expect(found.filter(([name]) => name !== 'cluster')).toEqual(base)
    }),
    { numRuns: 2_000 },
  )
})

test.each(Object.values(ENGINES))('no name of a setting of $title becomes another directive', (engine) => {
  const read = readers[engine.name]
  fc.assert(
    fc.property(hostileText, (name) => {
      const text = render(engine, { [name]: 'x' })
      if (text === undefined) return
      expect(read(text)).toContainEqual([engine.format.normalize(name), 'x'])
      expect(name).toMatch(/^[\w.-]+$/)
    }),
    { numRuns: 1_000 },
  )
})

test('a value that does not fit into one line of MariaDB is refused', () => {
  const isWhole = (length: number, letter: string): boolean => {
    const text = render(ENGINES.mariadb, { cluster: letter.repeat(length) })
    return text === undefined || readMariadbFile(text).some(([, value]) => value === letter.repeat(length))
  }
  const lengths = Array.from({ length: 5_000 }, (_, length) => length + 1)
  for (const letter of ['a', '"', 'ä']) expect(lengths.find((length) => !isWhole(length, letter))).toBeUndefined()
  expect(render(ENGINES.mariadb, { cluster: 'a'.repeat(3_900) })).toContain('aaa')
})

test('hostile texts without control characters are accepted, so the properties are not empty', () => {
  for (const engine of Object.values(ENGINES)) {
    expect(render(engine, { cluster: `a'b"c\\d#e;f=g $(id) \\'` })).toContain('cluster')
  }
})

test.each([
  ['postgresql', 'port'],
  ['postgresql', 'Data_Directory'],
  ['postgresql', 'include_if_exists'],
  ['postgresql', 'archive_command'],
  ['postgresql', 'ssl_key_file'],
  ['postgresql', 'primary_conninfo'],
  ['mariadb', 'datadir'],
  ['mariadb', 'DataDir'],
  ['mariadb', 'datad'],
  ['mariadb', 'loose-datadir'],
  ['mariadb', 'bind-address'],
  ['mariadb', 'skip-networking'],
  ['mariadb', 'skip_grant'],
  ['mariadb', 'loose_skip_grant_tables'],
  ['mariadb', 'plugin-load-add'],
  ['mariadb', 'init_file'],
  ['redis', 'requirepass'],
  ['redis', 'REQUIREPASS'],
  ['redis', 'dir'],
  ['redis', 'include'],
  ['redis', 'loadmodule'],
  ['redis', 'replicaof'],
  ['redis', 'sentinel'],
  ['valkey', 'primaryauth'],
] as const)('%s refuses the setting %s with a reason', (name, setting) => {
  const read = readSettings({ [setting]: 'x' }, ENGINES[name].format)
  expect(read).toEqual({ refused: expect.stringMatching(`^Setting "${setting}" is refused: .+\\.$`) })
})

test.each([
  ['postgresql', { shared_preload_libraries: 'pg_stat_statements, auto_explain' }],
  ['postgresql', { 'pg_stat_statements.max': 5000, max_connections: 200 }],
  ['mariadb', { max_connections: 200, 'innodb-buffer-pool-size': '256M', skip_name_resolve: true, log_bin: true }],
  ['redis', { save: '900 1 300 10', 'maxmemory-policy': 'allkeys-lru' }],
] as const)('%s accepts the settings %j', (name, settings) => {
  expect(readSettings(settings, ENGINES[name].format)).toHaveProperty('settings')
})

test('a preloaded library is a module name, not a path', () => {
  const format = ENGINES.postgresql.format
  expect(readSettings({ shared_preload_libraries: '/tmp/evil' }, format)).toHaveProperty('refused')
})

test('directives of Redis with several arguments get them one by one', () => {
  expect(readRedisFile(render(ENGINES.redis, { save: '900 1 300 10' }) ?? '')).toContainEqual([
    'save',
    '900',
    '1',
    '300',
    '10',
  ])
  expect(readRedisFile(render(ENGINES.redis, { save: '' }) ?? '')).toContainEqual(['save', ''])
})

test('two spellings of one name are refused', () => {
  const read = readSettings({ max_connections: 1, 'Max-Connections': 2 }, ENGINES.mariadb.format)
  expect(read).toEqual({ refused: 'Setting "Max-Connections" is given twice.' })
})

test('a refusal never contains the value', () => {
  for (const value of ['s3cret\n', { deep: 's3cret' }, ['s3cret'], 's3cret'.repeat(1000)]) {
    const read = readSettings({ work_mem: value }, ENGINES.postgresql.format)
    expect(JSON.stringify(read)).toContain('refused')
    expect(JSON.stringify(read)).not.toContain('s3cret')
  }
})

test('null removes a setting, and settings that are not an object are refused', () => {
  expect(readSettings({ work_mem: null }, ENGINES.postgresql.format)).toEqual({ settings: new Map() })
  expect(readSettings('work_mem', ENGINES.postgresql.format)).toHaveProperty('refused')
  expect(readSettings(undefined, ENGINES.postgresql.format)).toEqual({ settings: new Map() })
})

test('the order of settings does not depend on the row', () => {
  expect(render(ENGINES.postgresql, { b: 1, a: 2 })).toBe(render(ENGINES.postgresql, { a: 2, b: 1 }))
})
