import { isJsonObject } from '@tenure/kube/model'
import type { KubeObject, ManagedFieldsEntry } from '@tenure/kube'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { StatusError } from '../errors.ts'
import { isEmptyObject, isList } from '../patch/json.ts'
import { compare } from './merge/compare.ts'
import type { Schema } from '../schema/types.ts'
import { fieldManagement, ownsField } from './field-management.ts'
import { fieldSetOf } from './fields/field-set.ts'
import { difference, isEmpty } from './fields/fields.ts'
import { structureOf } from './fields/structure.ts'
import { thing } from './testing/arbitrary.ts'
import { resolve, schemaFor, THING } from './testing/recordings.ts'
import { unlessOnlyTimesDiffer } from './managers/timestamps.ts'

const NOW = '2026-01-01T00:00:00Z'
const LATER = '2026-01-01T00:00:05Z'
const STRUCTURE = structureOf(THING, resolve)

interface Options {
  readonly now?: string
  readonly force?: boolean
}

function apply(manager: string, live: KubeObject | undefined, applied: KubeObject, options: Options = {}): KubeObject {
  const { now = NOW, force = false } = options
  return fieldManagement.apply({
    manager,
    apiVersion: applied.apiVersion ?? '',
    subresource: '',
    schema: schemaFor(applied.apiVersion ?? '', applied.kind ?? ''),
    resolve,
    now,
    live,
    applied,
    force,
  })
}

/** The object as it is stored. */
const stored = (object: KubeObject): KubeObject => ({ ...object, metadata: { ...object.metadata, uid: 'u' } })

const configMap = (data: unknown, metadata = {}): KubeObject =>
  ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'o', ...metadata }, data }) as KubeObject

const entryOf = (object: KubeObject, manager: string): ManagedFieldsEntry | undefined =>
  object.metadata?.managedFields?.find((entry) => entry.manager === manager)

function attempt(run: () => KubeObject): readonly [KubeObject | undefined, StatusError | undefined] {
  try {
    return [run(), undefined]
  } catch (error) {
    if (error instanceof StatusError) return [undefined, error]
    throw error
  }
}

const essence = ({ metadata, ...rest }: KubeObject): unknown => {
  const { managedFields: _, ...others } = metadata ?? {}
  return { ...rest, metadata: others }
}

describe('fieldManagement.apply', () => {
  test('applying the same object again returns the identical live object', () => {
    fc.assert(
      fc.property(thing, thing, thing, (base, first, second) => {
        const live = stored(apply('base', undefined, base))
        const one = apply('m', live, first, { force: true })
        const two = stored(apply('n', one, second, { force: true }))
        const again = apply('n', two, structuredClone(second), { now: LATER })
        expect(again).toBe(two)
      }),
    )
  })

  test('an applied object is stored, and a manager that applies nothing loses all its fields', () => {
    fc.assert(
      fc.property(thing, thing, (a, b) => {
        const live = stored(apply('a', undefined, a))
        const both = apply('b', live, b, { force: true })
        // All fields that b applied are there.
        expect(apply('b', both, b)).toBe(both)
        // Fields that only b applied are removed with it.
        const bare = { apiVersion: b.apiVersion, kind: b.kind, metadata: { name: 'o' } } as KubeObject
        const without = apply('b', both, bare)
        expect(entryOf(without, 'b')).toBeUndefined()
        const left = fieldSetOf(substance(essence(without)), STRUCTURE)
        const before = fieldSetOf(substance(essence(live)), STRUCTURE)
        expect(isEmpty(difference(left, before))).toBe(true)
      }),
    )
  })

  test('two managers that agree do not conflict, in either order', () => {
    fc.assert(
      fc.property(thing, (object) => {
        const live = stored(apply('a', undefined, object))
        const both = apply('b', live, structuredClone(object))
        expect(essence(both)).toEqual(essence(live))
        expect(entryOf(both, 'b')?.fieldsV1).toEqual(entryOf(both, 'a')?.fieldsV1)
      }),
    )
  })

  test('an apply either conflicts or leaves the fields of other managers unchanged', () => {
    fc.assert(
      fc.property(thing, thing, (a, b) => {
        const live = stored(apply('a', undefined, a))
        const [result, error] = attempt(() => apply('b', live, b))
        expect(error?.code ?? 409).toBe(409)
        // Applying a again finds its fields unchanged, possibly in another order.
        const again = result && apply('a', result, a)
        const changes = compare(essence(result ?? a), essence(again ?? a), STRUCTURE)
        expect([changes.written, changes.removed].every(isEmpty)).toBe(true)
      }),
    )
  })

  test('a conflict error lists every conflict by owner', () => {
    const one = stored(apply('one', undefined, configMap({ a: '1', b: '1' })))
    const two = apply('two', one, configMap({ c: '1' }, { finalizers: ['x.y/z'] }))
    expect(() => apply('three', two, configMap({ a: '2', b: '2', c: '2' }))).toThrow(
      expect.objectContaining({
        code: 409,
        message: [
          'Apply failed with 3 conflicts: conflicts with "one":',
          '- .data.a',
          '- .data.b',
          'conflicts with "two":',
          '- .data.c',
        ].join('\n'),
        details: {
          causes: [
            { reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.data.a' },
            { reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.data.b' },
            { reason: 'FieldManagerConflict', message: 'conflict with "two"', field: '.data.c' },
          ],
        },
      }),
    )
  })

  test.each([
    [{ ...configMap({}), apiVersion: 'v2' }, 'invalid object type: /v2, Kind=ConfigMap'],
    [{ ...configMap({}), kind: 'Secret' }, 'invalid object type: /v1, Kind=Secret'],
    [{ metadata: { name: 'o' } }, 'invalid object type: /, Kind='],
    [configMap({}, { managedFields: [] }), 'metadata.managedFields must be nil'],
  ])('an apply of %j is refused', (applied, message) => {
    const request = { manager: 'm', apiVersion: 'v1', subresource: '', resolve, now: NOW, force: true } as const
    const schema = schemaFor('v1', 'ConfigMap')
    expect(() => fieldManagement.apply({ ...request, schema, live: configMap({}), applied })).toThrow(
      expect.objectContaining({ code: 400, reason: 'BadRequest', message }),
    )
  })

  test('__proto__ and constructor are ordinary keys', () => {
    const data = JSON.parse('{"__proto__":"1","constructor":"2"}') as unknown
    const live = stored(apply('a', undefined, configMap(data)))
    const both = apply('b', live, configMap(JSON.parse('{"__proto__":"1"}')))
    expect(JSON.stringify(entryOf(both, 'b')?.fieldsV1)).toBe('{"f:data":{"f:__proto__":{}}}')
    const less = apply('a', both, configMap({ toString: '3' }))
    expect(JSON.stringify((less as { readonly data?: unknown }).data)).toBe('{"__proto__":"1","toString":"3"}')
    expect(() => apply('c', less, configMap(JSON.parse('{"__proto__":"9"}')))).toThrow('.data.__proto__')
  })
})

const pointSchema = (mapType: 'atomic' | 'granular'): Schema => ({
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        point: { type: 'object', mapType, properties: { x: { type: 'integer' }, y: { type: 'integer' } } },
      },
    },
  },
})

describe('fieldManagement.update', () => {
  const context = { manager: 'u', apiVersion: 'v1', subresource: '', resolve, now: NOW } as const
  const schema = schemaFor('v1', 'ConfigMap')

  test('ownership moves to the manager that writes a field', () => {
    const live = stored(apply('m', undefined, configMap({ a: '1', b: '1' })))
    const next = { ...live, data: { a: '2', b: '1' } } as KubeObject
    const after = fieldManagement.update({ ...context, schema, live, next })
    expect(after.metadata?.managedFields?.map((entry) => [entry.manager, entry.operation, entry.fieldsV1])).toEqual([
      ['m', 'Apply', { 'f:data': { 'f:b': {} } }],
      ['u', 'Update', { 'f:data': { 'f:a': {} } }],
    ])
  })

  test('ownership is kept when a write changes nothing', () => {
    const live = stored(apply('m', undefined, configMap({ a: '1' })))
    const { managedFields: _, ...metadata } = live.metadata ?? {}
    const after = fieldManagement.update({ ...context, schema, live, next: { ...live, metadata }, now: LATER })
    expect(after.metadata?.managedFields).toBe(live.metadata?.managedFields)
  })

  test('ownership in versions that are no longer served is dropped', () => {
    const live = stored(apply('m', undefined, configMap({ a: '1' })))
    const next = { ...live, data: { a: '1', b: '1' } } as KubeObject
    const after = fieldManagement.update({ ...context, schema, live, next, isServed: () => false })
    expect(after.metadata?.managedFields?.map(({ manager }) => manager)).toEqual(['u'])
  })

  test('ownership of parts becomes ownership of the whole when the schema makes it atomic', () => {
    const applied = { apiVersion: 'x/v1', kind: 'X', metadata: { name: 'o' }, spec: { point: { x: 1 } } } as KubeObject
    const request = { ...context, apiVersion: 'x/v1', force: false, applied }
    const live = stored(fieldManagement.apply({ ...request, schema: pointSchema('granular'), live: undefined }))
    expect(entryOf(live, 'u')?.fieldsV1).toEqual({ 'f:spec': { 'f:point': { 'f:x': {} } } })
    const other = { ...request, manager: 'other', schema: pointSchema('atomic'), live }
    const after = fieldManagement.apply(other)
    expect(entryOf(after, 'u')?.fieldsV1).toEqual({ 'f:spec': { 'f:point': {} } })
  })

  test('ownsField answers for a single field', () => {
    const live = apply('m', undefined, configMap({ a: '1' }))
    const entry = entryOf(live, 'm') ?? {}
    expect([['data', 'a'], ['data'], ['data', 'b']].map((path) => ownsField(entry, path))).toEqual([true, false, false])
  })
})

describe('unlessOnlyTimesDiffer', () => {
  test('a write that would change only times is skipped', () => {
    const live = stored(apply('m', undefined, configMap({ a: '1' })))
    const touched = live.metadata?.managedFields?.map((entry) => ({ ...entry, time: LATER })) ?? []
    const next: KubeObject = { ...live, metadata: { ...live.metadata, managedFields: touched } }
    expect(unlessOnlyTimesDiffer(live, next)).toBe(live)
    const other = { ...next, data: { a: '2' } } as KubeObject
    expect(unlessOnlyTimesDiffer(live, other)).toBe(other)
  })
})

/** Without nulls and empty values: kube-apiserver, too, leaves a null where an apply removed the last member. */
function substance(value: unknown): unknown {
  if (isList(value)) return value.map(substance)
  if (!isJsonObject(value)) return value
  const members = Object.entries(value).map(([key, member]) => [key, substance(member)] as const)
  return Object.fromEntries(members.filter(([, member]) => !isNothing(member)))
}

function isNothing(value: unknown): boolean {
  return value === null || (isList(value) ? value.length === 0 : isJsonObject(value) && isEmptyObject(value))
}
