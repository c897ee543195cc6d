import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Stored } from '@tenure/kube'
import type { ConfigMap } from '@tenure/kube/kinds'
import { seededRandom, VirtualClock } from '@tenure/kube/testing'
import { type Informers, type Logger, silentLogger } from '@tenure/runtime'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { PoolInputs } from '../../pool-settings.ts'
import { LiveTemplate } from './live-template.ts'

const TEMPLATE = 'apiVersion: v1\nkind: Pod\nmetadata: {name: "{{ .Release.Name }}-{{ .Values.a }}"}\n'
const POLL = { timeout: 20_000, interval: 5 }

let directory: string
let clock: VirtualClock
let configMap: Stored<ConfigMap> | undefined
let notify: () => void

beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'tenure-template-'))
  clock = new VirtualClock(0)
  configMap = undefined
})
afterEach(() => rmSync(directory, { recursive: true }))

const file = (name: string, text?: string): string => {
  const target = path.join(directory, name)
  if (text !== undefined) writeFileSync(target, text)
  return target
}

/** One ConfigMap, which a test sets. */
const informers = {
  informer: () => ({
    cache: { get: () => configMap },
    subscribe: (handler: () => void) => {
      notify = handler
      return () => undefined
    },
  }),
} as unknown as Informers

function open(inputs: Partial<PoolInputs> = {}) {
  const lines: string[] = []
  const log: Logger = { ...silentLogger, warn: (message) => void lines.push(message) }
  const source = new LiveTemplate(
    { informers, clock, random: seededRandom(1), log },
    {
      pool: 'p',
      namespace: 'default',
      inputs: {
        templatePath: file('t.yaml'),
        valuesPath: file('v.yaml'),
        valuesConfigMap: undefined,
        valuesSchemaPath: undefined,
        ...inputs,
      },
    },
  )
  return { source, lines }
}

const nameIn = (source: LiveTemplate): string =>
  source.current().render({ id: 'x' }).resources[0]?.manifest.metadata.name ?? ''

describe('files', () => {
  test('a change is noticed, and a broken template is reported until it is fixed', async () => {
    file('t.yaml', TEMPLATE)
    file('v.yaml', 'a: 1')
    const { source } = open()
    expect(nameIn(source)).toBe('claim-x-1')
    expect(source.current()).toBe(source.current())
    const changed = vi.fn()
    source.onChange(changed)
    await source.start()
    const { revision } = source.current()
    const next = async (count: number): Promise<void> => {
      await vi.waitFor(async () => {
        await clock.advance(1_000)
        expect(changed).toHaveBeenCalledTimes(count)
      }, POLL)
    }
    file('v.yaml', 'a: 22')
    await next(1)
    expect(nameIn(source)).toBe('claim-x-22')
    expect(source.current().revision).not.toBe(revision)
    file('t.yaml', '{{ if')
    await next(2)
    expect(() => source.current()).toThrow('unclosed action')
    // As Kubernetes replaces mounted files.
    file('new.yaml', TEMPLATE)
    renameSync(file('new.yaml'), file('t.yaml'))
    await next(3)
    expect(nameIn(source)).toBe('claim-x-22')
    await source.stop()
  })

  test('a file that is gone is reported once, and its last content stays in use', async () => {
    file('t.yaml', TEMPLATE)
    file('v.yaml', 'a: 1')
    const { source, lines } = open()
    await source.start()
    rmSync(file('v.yaml'))
    await vi.waitFor(async () => {
      await clock.advance(1_000)
      expect(lines.length).toBeGreaterThan(0)
    }, POLL)
    for (let check = 0; check < 5; check++) await clock.advance(1_000)
    expect(lines).toEqual(['file cannot be read, keeping its last content'])
    expect(nameIn(source)).toBe('claim-x-1')
    await source.stop()
  })

  test('a file that does not exist at the start is named', () => {
    file('t.yaml', TEMPLATE)
    expect(() => open()).toThrow(`The values file ${file('v.yaml')} cannot be read`)
    expect(() => open({ templatePath: '/none' })).toThrow('The template /none cannot be read')
  })

  test('without the default files, the template of this package is used', () => {
    const { source } = open({
      templatePath: 'config/template/resources.yaml',
      valuesPath: 'config/template/values.yaml',
    })
    const { resources, returnValues } = source.current().render({ id: 'x' })
    expect(resources.map(({ manifest }) => manifest.kind)).toEqual(['Pod', 'Service'])
    expect(returnValues).toEqual({ fqdn: 'claim-x.default.svc.cluster.local' })
  })
})

test('values come from a ConfigMap, and say what is missing', async () => {
  file('t.yaml', TEMPLATE)
  const { source } = open({ valuesConfigMap: { name: 'values', key: 'k' } })
  const changed = vi.fn()
  source.onChange(changed)
  await source.start()
  expect(() => source.current()).toThrow('the ConfigMap values with the values does not exist')
  expect(source.owner).toBeUndefined()
  const metadata = { name: 'values', namespace: 'default', uid: 'u', resourceVersion: '1', creationTimestamp: '' }
  configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { other: '' } }
  notify()
  expect(() => source.current()).toThrow('has no key k')
  configMap = { ...configMap, data: { k: 'a: 3' } }
  notify()
  expect(nameIn(source)).toBe('claim-x-3')
  expect(source.owner).toEqual({ name: 'values', uid: 'u' })
  expect(changed).toHaveBeenCalledTimes(2)
  await source.stop()
})

const withSchema = (schema: unknown): LiveTemplate => {
  file('t.yaml', TEMPLATE)
  file('v.yaml', 'a: 1')
  return open({ valuesSchemaPath: file('s.json', typeof schema === 'string' ? schema : JSON.stringify(schema)) }).source
}

describe('the JSON Schema of values', () => {
  test('the first problem is reported with its path', () => {
    const source = withSchema({
      type: 'object',
      required: ['user'],
      additionalProperties: false,
      properties: {
        user: { type: 'string', pattern: '^[a-z]+$' },
        ports: { type: 'array', items: { type: 'integer' } },
      },
    })
    expect(source.checkValues({ user: 'ada', ports: [1] })).toBeUndefined()
    expect(source.checkValues({})).toBe("values must have required property 'user'")
    expect(source.checkValues({ user: 'Ada' })).toBe('values.user must match pattern "^[a-z]+$"')
    expect(source.checkValues({ user: 'a', ports: [1, 'x'] })).toBe('values.ports[1] must be integer')
    expect(source.checkValues({ user: 'a', x: 1 })).toBe('values must NOT have additional properties')
  })

  test('a pattern that would hang other engines is checked in linear time', () => {
    const source = withSchema('properties: {a: {type: string, pattern: "^(a+)+$"}}')
    expect(source.checkValues({ a: `${'a'.repeat(50_000)}!` })).toContain('must match pattern')
  })

  test('a schema that cannot be used ends the start', () => {
    expect(() => withSchema('[1]')).toThrow(/The JSON Schema .*s\.json cannot be used: it is not a mapping/)
    expect(() => withSchema({ type: 'nonsense' })).toThrow(/The JSON Schema .*s\.json cannot be used/)
    expect(() => withSchema({ properties: { a: { pattern: '(' } } })).toThrow(/cannot be used/)
  })
})
