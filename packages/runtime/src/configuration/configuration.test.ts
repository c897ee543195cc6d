import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, expectTypeOf, test } from 'vitest'
import type { JsonObject } from '@tenure/kube/model'
import type { Table } from './option.ts'
import type { ConfigurationSources } from './read.ts'
import { describeValues, readConfiguration } from './read.ts'
import { helpText, referenceMarkdown } from './reference.ts'
import { defineConfiguration } from './table.ts'

const configuration = defineConfiguration({
  program: 'websites',
  summary: 'Manages websites.',
  configEnvironment: ['WEBSITES_CONFIG', 'CONFIG'],
  options: {
    healthAddress: {
      type: 'address',
      flag: 'health-probe-bind-address',
      default: ':8081',
      meaning: 'Address of the probes.',
    },
    leaseDuration: {
      type: 'duration',
      file: 'leaderElection.leaseDuration',
      default: '15s',
      min: '1s',
      max: '1h',
      meaning: 'How long a lease lasts.',
    },
    leaderElect: { type: 'boolean', default: true, meaning: 'Elect a leader.' },
    workers: { type: 'integer', default: 4, min: 1, max: 64, meaning: 'Concurrent reconciles.' },
    logFormat: { type: 'string', choices: ['json', 'text'], default: 'json', meaning: 'How logs | look.' },
    namespaces: { type: 'list', default: [], meaning: 'Which namespaces. Default all.' },
    databaseUrl: { type: 'string', secret: true, flag: false, environment: 'DATABASE_URL', meaning: 'The database.' },
    port: { type: 'integer', secret: true, meaning: 'A secret port.' },
  },
})

const define = (options: Table) => defineConfiguration({ program: 'p', summary: 's', options })

async function load(sources: Partial<ConfigurationSources> = {}) {
  const loaded = await readConfiguration(configuration, { argv: [], environment: {}, ...sources })
  if (loaded.kind !== 'values') throw new Error('printed help')
  return loaded
}
const withFile = (content: string, argv: readonly string[] = ['--config', 'c.yaml']) =>
  load({ argv, readText: () => Promise.resolve(content) })

describe('readConfiguration', () => {
  test('defaults have the types of their options', async () => {
    const { values, sources } = await load()
    expect(values).toEqual({
      healthAddress: ':8081',
      leaseDuration: 15_000,
      leaderElect: true,
      workers: 4,
      logFormat: 'json',
      namespaces: [],
      databaseUrl: undefined,
      port: undefined,
    })
    expect(sources.leaseDuration).toBe('default')
    expectTypeOf(values.leaseDuration).toEqualTypeOf<number>()
    expectTypeOf(values.logFormat).toEqualTypeOf<'json' | 'text'>()
    expectTypeOf(values.namespaces).toEqualTypeOf<readonly string[]>()
    expectTypeOf(values.databaseUrl).toEqualTypeOf<string | undefined>()
    expectTypeOf(values.leaderElect).toEqualTypeOf<boolean>()
  })

  test('flags override the environment, the file and the defaults, in that order', async () => {
    const { values, sources } = await load({
      argv: ['--config=c.yaml', '--workers', '8'],
      environment: { WORKERS: '6', LEASE_DURATION: '30s', LOG_FORMAT: '' },
      readText: () => Promise.resolve('workers: 2\nleaderElection: { leaseDuration: 20s }\nlogFormat: text\n'),
    })
    expect(values).toMatchObject({ workers: 8, leaseDuration: 30_000, logFormat: 'text', healthAddress: ':8081' })
    expect(sources).toMatchObject({
      workers: '--workers',
      leaseDuration: 'LEASE_DURATION',
      logFormat: 'logFormat in c.yaml',
      healthAddress: 'default',
    })
  })

  test.each([
    [['--workers=8'], { workers: 8 }],
    [['-workers', '8'], { workers: 8 }],
    [['--workers', '8', '--workers', '9'], { workers: 9 }],
    [['--leader-elect=false'], { leaderElect: false }],
    [['--no-leader-elect'], { leaderElect: false }],
    [['--leader-elect', '--workers', '2'], { leaderElect: true, workers: 2 }],
    [['--namespaces', 'a, b', '--namespaces=c'], { namespaces: ['a', 'b', 'c'] }],
    [['--namespaces='], { namespaces: [] }],
    [['--health-probe-bind-address', '0'], { healthAddress: '0' }],
    [['--lease-duration', '1m30s'], { leaseDuration: 90_000 }],
  ])('%j is parsed', async (argv, expected) => {
    expect((await load({ argv })).values).toMatchObject(expected)
  })

  test.each([
    [['--workers', 'many'], '--workers: "many" is not a whole number'],
    [['--workers', '1.5'], '--workers: "1.5" is not a whole number'],
    [['--workers', '99999999999999999999'], 'is not a whole number'],
    [['--workers', '0'], '--workers: it must be at least 1'],
    [['--workers', '65'], '--workers: it must be at most 64'],
    [['--lease-duration', '1h30'], '--lease-duration: "1h30" has no unit after 30'],
    [['--lease-duration', '10ms'], '--lease-duration: it must be at least 1s'],
    [['--lease-duration', '2h'], '--lease-duration: it must be at most 1h'],
    [['--leader-elect=maybe'], '--leader-elect: "maybe" is not true or false'],
    [['--log-format', 'xml'], '--log-format: "xml" is not one of json, text'],
    [['--health-probe-bind-address', 'x'], '--health-probe-bind-address: "x" is not a listen address'],
    [['--workers'], '--workers needs a value'],
    [['--wrokers', '3'], '--wrokers is unknown; did you mean --workers?'],
    [['--leaseduration=3s'], 'did you mean --lease-duration?'],
    [['--zzz'], '--zzz is unknown; see --help'],
    [['--no-workers'], '--no-workers is unknown; did you mean --workers?'],
    [['--database-url', 'x'], '--database-url is unknown'],
    [['stray'], 'stray is not an option'],
  ])('%j is rejected with the name of the flag', async (argv, message) => {
    await expect(load({ argv })).rejects.toMatchObject({
      code: 'TENURE_CONFIGURATION_INVALID',
      message: expect.stringContaining(message),
    })
  })

  test('all problems are reported at once with their sources', async () => {
    const error = await load({
      argv: ['--workers', 'x'],
      environment: { LEASE_DURATION: 'y' },
    }).catch((thrown: unknown) => thrown as Error)
    expect(error).toMatchObject({
      message: expect.stringMatching(/2 settings are invalid:\n {2}- LEASE_DURATION: "y".*\n {2}- --workers: "x"/),
    })
  })

  test('positional arguments are returned on request', async () => {
    const { rest, values } = await load({ argv: ['start', '--workers', '2', '--', '--workers'], allowRest: true })
    expect([rest, values.workers]).toEqual([['start', '--workers'], 2])
  })

  test('YAML and JSON files may have nested keys and typed values', async () => {
    const yaml =
      'leaderElect: false\nworkers: 3\nnamespaces: [a, b]\nleaderElection:\n  leaseDuration: 20s\nhealthAddress: 0\n'
    const expected = {
      leaderElect: false,
      workers: 3,
      namespaces: ['a', 'b'],
      leaseDuration: 20_000,
      healthAddress: '0',
    }
    expect((await withFile(yaml)).values).toMatchObject(expected)
    const json = '{"leaderElect":"no","workers":"3","namespaces":"a,b","leaderElection":{"leaseDuration":"20s"}}'
    const { healthAddress: _, ...rest } = expected
    expect((await withFile(json, ['--config', 'c.json'])).values).toMatchObject(rest)
    expect((await withFile('')).values.workers).toBe(4)
    expect((await withFile('workers:\n')).values.workers).toBe(4)
  })

  test.each([
    ['wrokers: 3', 'wrokers in c.yaml is unknown; did you mean workers?'],
    ['leaderElection: { leaseDurtaion: 3s }', 'did you mean leaderElection.leaseDuration?'],
    ['workers: [1]', 'workers in c.yaml: [1] is not a whole number'],
    ['workers: 1.5', 'workers in c.yaml: "1.5" is not a whole number'],
    ['logFormat: 7', 'logFormat in c.yaml: 7 is not a string; put it in quotes'],
    ['leaderElection: { leaseDuration: 15 }', '15 is not a duration such as 1h30m'],
    ['namespaces: [1]', '1 in the list is not a string'],
    ['- a', 'c.yaml must be a mapping'],
  ])('the file %j is rejected', async (content, message) => {
    await expect(withFile(content)).rejects.toThrow(message)
  })

  test('an unreadable or malformed file is reported', async () => {
    await expect(withFile('a: [')).rejects.toMatchObject({ code: 'TENURE_CONFIGURATION_FILE' })
    await expect(withFile('{', ['--config', 'c.json'])).rejects.toThrow('c.json is not JSON')
    await expect(load({ argv: ['--config', '/does/not/exist.yaml'] })).rejects.toThrow('cannot be read: ENOENT')
  })

  test('the file named by the environment is read from disk', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'configuration-'))
    const path = join(directory, 'c.yaml')
    await writeFile(path, 'workers: 7\n')
    const { values } = await load({ environment: { WEBSITES_CONFIG: path, CONFIG: '/does/not/exist.yaml' } })
    const { values: second } = await load({ environment: { WEBSITES_CONFIG: '', CONFIG: path } })
    await rm(directory, { recursive: true })
    expect([values.workers, second.workers]).toEqual([7, 7])
  })

  test('a structure comes from the file alone, as it is written there', async () => {
    const structured = defineConfiguration({
      program: 'p',
      summary: 's',
      options: { pools: { type: 'structure', flag: false, environment: false, default: {}, meaning: 'The pools.' } },
    })
    const read = async (content: string, more: Partial<ConfigurationSources> = {}) => {
      const readText = () => Promise.resolve(content)
      const loaded = await readConfiguration(structured, {
        argv: ['--config=c.yaml'],
        environment: {},
        readText,
        ...more,
      })
      return loaded.kind === 'values' ? loaded.values.pools : undefined
    }
    expectTypeOf(read).returns.resolves.toEqualTypeOf<JsonObject | undefined>()
    expect(await read('pools: { chrome: { count: 2, min: [1] } }')).toEqual({ chrome: { count: 2, min: [1] } })
    expect(await read('', { environment: { POOLS: '{}' } })).toEqual({})
    await expect(read('pools: [a]')).rejects.toThrow('pools in c.yaml: ["a"] is not a mapping')
    await expect(read('pools: a')).rejects.toThrow('pools in c.yaml: "a" is not a mapping')
    await expect(read('pools: 0')).rejects.toThrow('pools in c.yaml: 0 is not a mapping')
    await expect(read('', { argv: ['--pools={}'] })).rejects.toThrow('--pools is unknown')
    expect(helpText(structured)).toMatch(/\n {2}pools: {…} +The pools. \(only in the file; default {}\)\n/)
    expect(referenceMarkdown(structured)).toContain('| – | – | `pools` | structure | `{}` | The pools. |')
  })

  test('secrets never appear in errors or descriptions', async () => {
    const error = await load({ argv: ['--port', 'hunter2'] }).catch((thrown: unknown) => thrown as Error)
    expect(error).toMatchObject({
      message: expect.stringContaining('--port: its value (hidden) is not a whole number'),
    })
    const { values } = await load({ environment: { DATABASE_URL: 'postgres://hunter2' } })
    expect(values.databaseUrl).toBe('postgres://hunter2')
    expect(JSON.stringify(describeValues(configuration, values))).not.toContain('hunter2')
    expect(describeValues(configuration, values)).toMatchObject({ databaseUrl: '<hidden>', workers: 4 })
  })

  test('a missing required setting is an error', async () => {
    const strict = defineConfiguration({
      program: 'p',
      summary: 's',
      options: { name: { type: 'string', required: true, meaning: 'Its name.' } },
    })
    await expect(readConfiguration(strict, { argv: [], environment: {} })).rejects.toThrow(
      '--name is required: Its name.',
    )
    const loaded = await readConfiguration(strict, { argv: ['--name', 'x'], environment: {} })
    expect(loaded).toMatchObject({ values: { name: 'x' } })
  })
})

describe('defineConfiguration', () => {
  test('help is printed from the table', async () => {
    const help = await readConfiguration(configuration, { argv: ['--wrong', '-h'], environment: {} })
    expect(help.kind).toBe('help')
    const text = helpText(configuration, 80)
    expect(help.kind === 'help' && help.text).toBe(helpText(configuration))
    expect(text).toContain('Usage: websites [options]')
    expect(text).toMatch(/--lease-duration <duration> +How long a lease lasts. \(default 15s;\n +LEASE_DURATION\)/)
    expect(text).toContain('--[no-]leader-elect')
    expect(text).toContain('--log-format <json|text>')
    expect(text).toContain('  DATABASE_URL')
    expect(text).toMatch(/Settings file, YAML or JSON.\s+\(WEBSITES_CONFIG or\s+CONFIG\)/)
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
  })

  test('the reference is printed from the table', () => {
    const lines = referenceMarkdown(configuration).split('\n')
    expect(lines).toHaveLength(2 + 8 + 1)
    expect(lines[3]).toBe(
      '| `--lease-duration` | `LEASE_DURATION` | `leaderElection.leaseDuration` | duration | `15s` | How long a lease lasts. At least 1s. At most 1h. |',
    )
    expect(lines[6]).toContain('How logs \\| look. One of `json`, `text`.')
    expect(lines[8]).toBe('| – | `DATABASE_URL` | `databaseUrl` | string | – | The database. Secret. |')
  })

  test('an invalid table throws', () => {
    const text = { type: 'string', meaning: 'm' } as const
    expect(() => define({ a: { ...text, flag: 'x' }, b: { ...text, flag: 'x' } })).toThrow('flag x twice')
    expect(() => define({ config: text })).toThrow('flag config twice')
    expect(() => define({ a: { ...text, environment: 'B' }, b: text })).toThrow('environment variable B twice')
    expect(() => define({ a: { type: 'duration', default: '15', meaning: 'm' } })).toThrow(
      'The default of a in the table of p is invalid',
    )
  })
})
